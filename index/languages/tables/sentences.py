"""sentences.toml: where a full stop does not end a sentence, and where it does without a space after it."""

import msgspec

from index.languages.tables.kinds import Pattern, Words


class Sentences(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of sentences.toml. Words are in lower case, without their full stop."""

    abbreviations: Words  # never the end of a sentence: a name, a number or an example follows
    before_number: Words  # not the end before a number
    before_capital: Words  # not the end before a capital letter; as written
    maybe_last: Words  # may be the end, depending on the next word: see `starters`
    starters: Words  # words that often begin a sentence
    short_words: Words  # words of one capital letter that are not initials
    enumerators: Words  # letters that number the items of a list
    glued_endings: Words  # endings of a sentence with no space between its full stop and the next sentence
    date: Pattern  # what a date looks like up to its last full stop, when a word of the same sentence follows
