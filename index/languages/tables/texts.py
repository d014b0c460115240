"""What a person reads, with a field for each text: check.toml, phrases.toml and source.toml."""

import msgspec

from index.languages.tables.kinds import Text


class Check(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """check.toml: the texts of the page that shows a checked text beside the documents."""

    title: Text  # names {name}, the file that was checked
    text: Text  # what the side with the checked text is called
    documents: Text  # what the side with the documents' words is called
    page: Text  # names {page}
    verified: Text  # the verdicts
    contradicted: Text
    unverified: Text
    not_covered: Text


class Refusals(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Reasons why the documents do not answer."""

    no_number: Text  # a number is asked for, and there is none


class DirectReplies(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Replies to messages that are not questions about the documents."""

    greeting: Text
    unclear: Text
    out_of_scope: Text


class AnswerHeadings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Headings of a report."""

    conclusion: Text
    arguments: Text


class QuotationMarks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The marks around a quotation, with the spaces that belong to them."""

    opening: Text
    closing: Text


class SourceLines(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How documents are named as the sources of what is above."""

    title: Text  # names {title}
    line: Text  # names {titles}


class Hints(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Guidance for an exercise."""

    rule: Text  # before a quoted rule
    read: Text  # names {title}, {n}
    part: Text  # names {heading}
    values: Text  # the next step after a rule
    find: Text  # the next step after a place to read


class Phrases(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """phrases.toml: the extractive engine's own words; all its other text is quotation."""

    refusals: Refusals
    replies: DirectReplies
    headings: AnswerHeadings
    quotation_marks: QuotationMarks
    sources: SourceLines
    hints: Hints


class SourcePage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """source.toml: links, headings and states of the page that shows a source. `{page}` and `{pages}` are numbers."""

    cited: Text  # link to the cited place
    earlier: Text  # link to the text before this
    later: Text
    page: Text  # which page of how many is shown
    previous_page: Text
    next_page: Text
    picture: Text  # what the picture of a page shows
    larger: Text  # link to the picture in more detail
    page_text: Text  # heading over the text of the page
    not_marked: Text  # the cited words were not found in the picture
    no_picture: Text  # there can be no picture of the page
    original: Text  # link to the file itself
    published: Text  # link to where the document is published
    columns: Text  # what a table is called that a reader of screens meets
    missing: Text  # heading: there is no such document
    missing_why: Text
    key_needed: Text  # heading: the service asks for a key
    open: Text  # button
    key_refused: Text  # the key is wrong or may not open sources
    away: Text  # heading: no answer from the index
    script_needed: Text  # to a browser that runs no scripts, where a key is needed
