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

#: Scripts in which words only lose their affixes.
_AFFIXES_ONLY = re.compile(f"[{HANGUL}{ARABIC_WRITTEN}]")
_GROUPED_DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+")


class Affix(NamedTuple):
    #: Letters of the word that must remain.
    least: int
    #: Replacement.
    put: str


def affixes(rows: Iterable[str]) -> dict[str, Affix]:
    """The affixes in rows as `words.toml` has them, by their letters; of two alike the first counts."""
    results: dict[str, Affix] = {}
    for row in rows:
        least, *written = row.split()
        for one in written:
            letters, _, put = one.partition("=")
            results.setdefault(letters, Affix(int(least), put))
    return results


_HEADS: Final = affixes(every(lambda language: language.words.heads))
_ENDINGS: Final = affixes(every(lambda language: language.words.endings))
# Longest first. A word has one beginning of each length, and looking that up is much faster than trying every affix.
_HEAD_LENGTHS: Final = sorted({*map(len, _HEADS)}, reverse=True)
_ENDING_LENGTHS: Final = sorted({*map(len, _ENDINGS)}, reverse=True)


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
    for length in _HEAD_LENGTHS:
        head = _HEADS.get(word[:length])
        if head is not None and len(word) - length >= head.least:
            return head.put + word[length:]
    return word


def _without_ending(word: str) -> str:
    for length in _ENDING_LENGTHS:
        ending = _ENDINGS.get(word[-length:])
        if ending is not None and len(word) - length >= ending.least:
            return word[:-length] + ending.put
    return word
