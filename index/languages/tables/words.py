"""words.toml: function words, and how inflected words are stemmed."""

import msgspec

from index.languages.tables.kinds import Pattern, Words


class Grammar(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of words.toml.

    An affix is in a row that begins with the number of letters that must remain; `ies=y` replaces it by y.
    """

    attached: Pattern  # what may be attached to the front of a profile's word
    inflected: Pattern  # and to its end
    articles: Words  # folded; when attached to the front of a word, not part of it
    number_words: Pattern  # words that could be the result of a calculation
    function_words: Words  # in scripts without spaces they are cut out of a run in this order
    function_stems: Words  # the same, after endings are removed
    gate_words: Words  # words that the gate ignores, in its normal form
    heads: tuple[Words, ...]
    endings: tuple[Words, ...]
