"""Stems: what the inflected forms of a word share. Used by the gate and by the extractive engine alike.

Crude on purpose: a stem is only ever compared with another one made here, and never shown. The script of a word decides how
it is stemmed, not a language label: a Korean question that mentions `Lucene` is stemmed as both.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from index.languages import every
from index.languages.scripts import ARABIC_WRITTEN, HANGUL

#: Scripts whose words only lose their affixes.
_AFFIXES_ONLY = re.compile(f"[{HANGUL}{ARABIC_WRITTEN}]")
_GROUPED_DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+")


class Affix(NamedTuple):
    letters: str
    #: Letters of the word that must remain.
    least: int
    #: Replacement.
    put: str


def affixes(rows: Iterable[str]) -> tuple[Affix, ...]:
    """The affixes in rows as `words.toml` has them, each once, longest first."""
    found: dict[str, Affix] = {}
    for row in rows:
        least, *written = row.split()
        for one in written:
            letters, _, put = one.partition("=")
            found.setdefault(letters, Affix(letters, int(least), put))
    return tuple(sorted(found.values(), key=lambda affix: (-len(affix.letters), affix.letters)))


_HEADS: Final = affixes(every(lambda language: language.words.heads))
_ENDINGS: Final = affixes(every(lambda language: language.words.endings))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """One folded word, or a number, without its affixes; never empty."""
    if word[0].isdigit():
        return word.replace(",", "") if _GROUPED_DIGITS.fullmatch(word) else word
    if _AFFIXES_ONLY.match(word):
        return _without_ending(_without_head(word))
    if len(word) <= 3:
        return word
    word = _without_ending(word)
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    if len(word) > 4 and word[-1] in "ei":
        word = word[:-1]
    return word


def _without_head(word: str) -> str:
    for head in _HEADS:
        if word.startswith(head.letters) and len(word) - len(head.letters) >= head.least:
            return head.put + word[len(head.letters) :]
    return word


def _without_ending(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending.letters) and len(word) - len(ending.letters) >= ending.least:
            return word[: -len(ending.letters)] + ending.put
    return word
