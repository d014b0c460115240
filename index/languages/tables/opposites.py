"""opposites.toml: words that reverse a question when the text has another word of their group."""

import msgspec

from index.languages.tables.kinds import Pattern, Words


class Opposites(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    groups: tuple[Words, ...]  # folded words of which only one can be true
    superlatives: Pattern  # and ordinals, over a whole folded word
