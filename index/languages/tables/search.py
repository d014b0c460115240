"""search.toml: what the search needs to know about questions and numbered articles."""

import msgspec

from index.languages.tables.kinds import Pattern, Text, Words


class Articles(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How articles, sections and chapters are numbered: every spelling of `Article 15` becomes the same word."""

    #: In lower case, with the groups `kind` and `number`, and `part` where a number has a second one.
    pattern: Pattern
    #: The common spelling, of {kind} and {number}, and what a {part} adds to it.
    written: Text
    written_part: str
    #: The kind that represents others of the same meaning, in any language that is searched together: its other names.
    kinds: dict[str, Words]


class Search(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of search.toml."""

    #: Words that only mark a sentence as a question: whole words, and those found inside a run of characters.
    question_words: Pattern
    question_pieces: Pattern
    copies: Pattern  # in the path of a copy: a folder of downloads or backups, a word for a copy
    articles: Articles
