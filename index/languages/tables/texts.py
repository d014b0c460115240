"""What a person reads besides the page: check.toml, notices.toml, phrases.toml and source.toml."""

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


class Reasons(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why there is no answer: one text for each reason, and two that name what is missing."""

    no_results: Text
    low_relevance: Text
    no_evidence: Text
    insufficient: Text
    insufficient_missing: Text  # names {missing}
    model_refused: Text
    model_refused_because: Text  # names {refuse_reason}
    citations_invalid: Text
    grounding_failed: Text
    timeout: Text
    model_unavailable: Text
    model_too_long: Text
    model_rejected: Text
    model_over_quota: Text
    model_malformed: Text


class Declined(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The direct reply to input that is not a question about the documents."""

    out_of_scope: Text
    greeting: Text
    unclear: Text
    policy: Text
    thanks: Text
    abilities: Text  # names {setup}: how a model is connected
    needs_model: Text  # names {setup}


class Replies(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Texts in place of an answer or after it."""

    empty_context: Text
    safe: Text
    safe_sources: Text  # names {ids}
    none_passes: Text  # names {filter}: no document passes it
    closest: Text  # nothing is claimed
    closest_passages: Text  # before the passages that come closest
    closest_languages: Text  # names {languages}: those of the documents that come closest
    no_sum: Text  # for a question that asks for a sum
    no_hint: Text  # for an exercise that the documents do not treat
    cancelled: Text
    withdrawn: Text
    failed: Text
    content_refused: Text  # a model's reason, where it gave none
    overloaded: Text  # more questions than can be done
    conflict: Text
    conflict_outdated: Text  # in its place, where one of the sources is out of date
    conflict_value: Text  # names {value}, {source}
    conflict_value_outdated: Text  # names {value}, {source}


class NoticeLabels(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Headings and lead-ins of an answer's layout, without punctuation."""

    source: Text
    summary: Text
    conclusion: Text
    arguments: Text


class Punctuation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    comma: Text  # between the items of an enumeration, its space included


class Notices(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """notices.toml: the texts in place of an answer, or with one."""

    reasons: Reasons
    declined: Declined
    replies: Replies
    labels: NoticeLabels
    punctuation: Punctuation


class Refusals(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Reasons why the documents do not answer."""

    not_in_evidence: Text
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
