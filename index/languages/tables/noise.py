"""noise.toml: texts that contain words but neither asks nor answers anything."""

import msgspec

from index.languages.tables.kinds import Pattern, Words


class Noise(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Patterns of greetings, thanks, abilities, tasks, instructions and fillers match folded text."""

    greetings: Pattern
    thanks: Pattern
    abilities: Pattern  # a whole question about what the program can do
    tasks: Pattern  # what asks for a new text, which needs a model
    instructions: Pattern  # a sentence that asks its reader to do something
    fillers: Pattern  # words that add nothing, next to a greeting or alone
    keys: Words  # beginnings of words typed along a row of keys
    article_headings: Pattern  # the beginning of an article heading in a law or contract
    last_letters: str  # letters that end a sentence even without a full stop, for a character class
