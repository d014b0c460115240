"""sentences.toml: where a sentence does not end although a full stop stands there, and where it does without a space."""

import msgspec

from index.languages.tables.kinds import Pattern, Words


class Sentences(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of sentences.toml. Words are in lower case and without their full stop."""

    abbreviations: Words  # never the end: a name, a number or an example follows
    before_number: Words  # not the end before a number
    before_capital: Words  # not the end before a capital letter; as written
    maybe_last: Words  # may be the end; the word that follows tells, by `starters`
    starters: Words  # what a sentence often begins with
    short_words: Words  # words of one capital letter, which are no initials
    enumerators: Words  # letters that number the items of a list
    glued_endings: Words  # what a sentence ends in when the next one follows its full stop without a space
    date: Pattern  # what a date looks like up to its last full stop, when a word of the same sentence follows
