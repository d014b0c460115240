"""The types of values that tables contain."""

from functools import cache
from typing import Annotated

from msgspec import Meta

#: Text that a person reads; never empty.
Text = Annotated[str, Meta(min_length=1)]
#: Texts that are read by name, in sections.
Texts = dict[str, dict[str, Text]]
#: Words with white space between them, so that a table reads like a text; may be empty. `words_in` splits them.
Words = str
#: Spellings of one thing with "|" between them, spaces inside; may be empty. `variants_in` splits them.
Variants = str
#: A regular expression, written without flags; may be empty where the language has no such thing.
Pattern = str
#: Alternatives of one regular expression, each a Pattern; none where the language has no such thing.
Patterns = tuple[Pattern, ...]


@cache
def words_in(words: Words) -> frozenset[str]:
    return frozenset(words.split())


def variants_in(variants: Variants) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, variants.split("|"))))
