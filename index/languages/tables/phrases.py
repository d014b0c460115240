"""phrases.toml: the extractive engine's own words; all its other text is quotation."""

import msgspec

from index.languages.tables.kinds import Text


class Refusals(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Reasons why the documents do not answer."""

    not_in_evidence: Text
    no_relation: Text  # they mention the subject, but not the requested fact


class NoSuchKind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The same, where nothing of the kind asked for is there."""

    person: Text
    time: Text
    count: Text
    place: Text
    reason: Text


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
    """All of phrases.toml."""

    refusals: Refusals
    no_such_kind: NoSuchKind
    replies: DirectReplies
    headings: AnswerHeadings
    quotation_marks: QuotationMarks
    sources: SourceLines
    hints: Hints
