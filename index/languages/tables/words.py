"""The words and signs of a language: headings.toml, identity.toml, search.toml, sentences.toml and words.toml."""

import msgspec

from index.languages.characters import Script
from index.languages.tables.kinds import Pattern, Text, Words


class Grammar(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """words.toml: function words, and how inflected words are stemmed.

    An affix is in a row that begins with the number of letters that must remain; `ies=y` replaces it by y.
    """

    attached: Pattern  # what may be attached to the front of a profile's word
    inflected: Pattern  # and to its end
    articles: Words  # folded; when attached to the front of a word, not part of it
    number_words: Pattern  # words that could be the result of a calculation
    function_words: Words  # in scripts without spaces they are cut out of a run in this order
    function_stems: Words  # the same, after endings are removed
    gate_words: Words  # words that the gate ignores, in its normal form
    joins: Pattern  # what only joins a thing to its value, or sentences, in normal form
    heads: tuple[Words, ...]
    endings: tuple[Words, ...]


class Headings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """headings.toml: how documents mark their sections. The first three match the beginning of a line of plain text."""

    part: Pattern
    chapter: Pattern
    section: Pattern
    numbered_line: Pattern  # what begins a line of its own in a PDF: a numbered article
    step: Pattern  # what begins a paragraph that is a step
    style: Words  # what a word processor calls its heading styles, before their level


class Identity(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """identity.toml: the name of a language, its script, and what distinguishes it from others in that script."""

    name: Text  # in English
    own_name: Text  # as its speakers write it
    script: Script
    #: Lower-case words found in most sentences; used where languages share a script. A word of two languages decides nothing.
    function_words: Words
    beginnings: Words  # of words: what remains of an elided article or pronoun
    endings: Words  # of words: what remains of a contracted verb
    analyzer: Text  # Anserini's name for its Lucene analyzer
    encodings: Words  # Python's names for its usual encodings, besides UTF-8 and UTF-16


class Sentences(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """sentences.toml: where a full stop does not end a sentence, and where it does without a space after it.

    Words are in lower case, without their full stop.
    """

    abbreviations: Words  # never the end of a sentence: a name, a number or an example follows
    before_number: Words  # not the end before a number
    before_capital: Words  # not the end before a capital letter; as written
    maybe_last: Words  # may be the end, depending on the next word: see `starters`
    starters: Words  # words that often begin a sentence
    short_words: Words  # words of one capital letter that are not initials
    enumerators: Words  # letters that number the items of a list
    glued_endings: Words  # endings of a sentence with no space between its full stop and the next sentence
    date: Pattern  # what a date looks like up to its last full stop, when a word of the same sentence follows


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
    """search.toml: what the search needs to know about questions and numbered articles."""

    #: Words that only mark a sentence as a question: whole words, and those found inside a run of characters.
    question_words: Pattern
    question_pieces: Pattern
    copies: Pattern  # in the path of a copy: a folder of downloads, backups or archives, a word for a copy
    articles: Articles
