"""noise.toml: text that has words and neither asks nor answers anything."""

import msgspec

from index.languages.tables.kinds import Pattern, Words


class Noise(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Patterns of greetings and fillers are over folded text."""

    greetings: Pattern
    fillers: Pattern  # what stands beside a greeting and means no more
    keys: Words  # how words begin that are keys struck in a row
    article_headings: Pattern  # how the heading of an article of a law or contract begins
    last_letters: str  # letters that end a sentence even without a full stop, for a character class
