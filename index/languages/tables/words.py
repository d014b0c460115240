"""words.toml: words of grammar, and how the forms of a word are cut down to what they share."""

import msgspec

from index.languages.tables.kinds import Pattern, Words


class Grammar(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of words.toml.

    An affix stands in a row that begins with the number of letters which must be left; `ies=y` puts y in its place.
    """

    attached: Pattern  # what may be written onto the front of a profile's word
    inflected: Pattern  # and onto its end
    articles: Words  # folded; written onto the front of a word, they are no part of it
    number_words: Pattern  # words that could be the result of a calculation
    function_words: Words  # in a script without spaces they are cut out of a run in this order
    function_stems: Words  # the same after the endings are off
    gate_words: Words  # what the gate leaves out, in its normal form
    heads: tuple[Words, ...]
    endings: tuple[Words, ...]
