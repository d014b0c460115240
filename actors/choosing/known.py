"""How nearly a word stands among others, when their endings are set aside."""

from collections.abc import Set
from functools import lru_cache
from typing import Final

from index.languages.scripts import is_han, is_hangul

#: From this similarity on, a word counts as another form of the same word.
KNOWN: Final = 0.6


def known(term: str, bag: Set[str]) -> float:
    """1 if the bag has the term, else the share of the nearest word's common prefix, 0 to 1."""
    if term in bag:
        return 1.0
    least = 2 if is_han(term) or is_hangul(term) else 3
    start = term[:least]
    return max((_alike(term, other) for other in bag if other.startswith(start)), default=0.0)


@lru_cache(maxsize=16384)
def _alike(one: str, other: str) -> float:
    common = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        common += 1
    return common / max(len(one), len(other))
