"""Affixes of a language's tables: what is written onto a word, and how much of the word must be left when it comes off."""

from collections.abc import Iterable
from typing import NamedTuple


class Affix(NamedTuple):
    letters: str
    #: Letters that must be left of the word.
    least: int
    #: What stands in its place.
    put: str


def affixes(rows: Iterable[str]) -> tuple[Affix, ...]:
    """Those of rows as `words.toml` has them, each once, longest first."""
    found: dict[str, Affix] = {}
    for row in rows:
        least, *written = row.split()
        for one in written:
            letters, _, put = one.partition("=")
            found.setdefault(letters, Affix(letters, int(least), put))
    return tuple(sorted(found.values(), key=lambda affix: (-len(affix.letters), affix.letters)))


def without_head(word: str, heads: tuple[Affix, ...]) -> str:
    """The word without the first of `heads` that leaves enough of it."""
    for head in heads:
        if word.startswith(head.letters) and len(word) - len(head.letters) >= head.least:
            return head.put + word[len(head.letters) :]
    return word


def without_ending(word: str, endings: tuple[Affix, ...]) -> str:
    """The word without the first of `endings` that leaves enough of it."""
    for ending in endings:
        if word.endswith(ending.letters) and len(word) - len(ending.letters) >= ending.least:
            return word[: -len(ending.letters)] + ending.put
    return word
