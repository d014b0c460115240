"""noise.toml: texts that contain words but neither asks nor answers anything."""

import msgspec

from index.languages.tables.kinds import Pattern, Words


class Noise(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Patterns of greetings and fillers match folded text."""

    greetings: Pattern
    fillers: Pattern  # words next to a greeting that add nothing
    keys: Words  # beginnings of words typed along a row of keys
    article_headings: Pattern  # the beginning of an article heading in a law or contract
    last_letters: str  # letters that end a sentence even without a full stop, for a character class
