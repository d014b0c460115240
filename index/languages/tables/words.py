"""words.toml: words of grammar, and how the forms of a word are cut down to what they share."""

import msgspec

from index.languages.tables.kinds import Pattern, Words


class Cuts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is left out of a text before it is compared, and what is cut off the words that stay.

    An affix stands in a row that begins with the number of letters which must be left; `ies=y` puts y in its place.
    """

    empty: Words  # function words; in a script without spaces they are cut out of a run in this order
    empty_stems: Words  # the same after the endings are off
    heads: tuple[Words, ...]
    particles: tuple[Words, ...]  # cut off before the endings
    endings: tuple[Words, ...]


class Grammar(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of words.toml."""

    attached: Pattern  # what may be written onto the front of a profile's word
    inflected: Pattern  # and onto its end
    articles: Words  # folded; written onto the front of a word, they are no part of it
    number_words: Pattern  # words that could be the result of a calculation
    ranking: Cuts
    gate: Cuts
