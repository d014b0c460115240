"""Character n-grams of a text as numbers, computed on whole arrays: fast enough for every passage of a corpus.

A text becomes an array of character codes in one case, one width and one form of Arabic letters, without diacritics, with one
space around every word.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from index.languages.characters import ARABIC_LETTERS, HAN_HIGH, HANGUL, TATWEEL, WIDE

Codes = NDArray[np.uint32]
Hashes = NDArray[np.uint32]
Flags = NDArray[np.bool_]
Places = NDArray[np.int64]

SPACE = 32
_DROPPED = 0
_P1, _P2, _P3 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)


@cache
def _table() -> Codes:
    """What each character of the basic plane maps to: a letter or digit, a space, or nothing."""
    table = np.full(0x10000, SPACE, dtype=np.uint32)
    for code in range(0x10000):
        character = chr(code)
        if character == TATWEEL or unicodedata.category(character) == "Mn":
            table[code] = _DROPPED
            continue
        first = unicodedata.normalize("NFKC", character).casefold()[:1]
        first = ARABIC_LETTERS.get(first, first)
        if first.isalnum() and ord(first) < 0x10000:
            table[code] = ord(first)
    return table


class Encoded(NamedTuple):
    """The codes of several texts, one after the other: those of text n are `codes[starts[n] : starts[n + 1]]`.

    The rest is for `place`: where the texts began before the characters at `dropped` went, and then the spaces at `merged`.
    """

    codes: Codes
    starts: Places
    raw_starts: Places
    dropped: Places
    merged: Places

    def place(self, texts: Places, characters: Places) -> Places:
        """Where these characters of these texts are in the codes, or what follows them."""
        raw = self.raw_starts[texts] + 1 + characters
        raw -= self.dropped.searchsorted(raw)
        return raw - self.merged.searchsorted(raw)


def encode_all(texts: Sequence[str]) -> Encoded:
    """The texts' codes, all at once; each begins and ends with a space and has no two spaces in a row."""
    raw = np.frombuffer("".join(f" {text} " for text in texts).encode("utf-32-le", "replace"), dtype=np.uint32)
    raw_starts = np.array([0, *accumulate(len(text) + 2 for text in texts)], dtype=np.int64)
    table = _table()
    codes: Codes = table.take(raw, mode="clip")
    if len(raw) and raw.max() > 0xFFFF:
        codes = np.where(raw > 0xFFFF, raw, codes)
    dropped = np.flatnonzero(codes == _DROPPED)
    if len(dropped):
        codes = np.delete(codes, dropped)
    starts = raw_starts - dropped.searchsorted(raw_starts)
    space = codes == SPACE
    again = np.zeros(len(codes), dtype=bool)
    np.logical_and(space[1:], space[:-1], out=again[1:])
    again[starts[:-1]] = False
    merged = np.flatnonzero(again)
    return Encoded(codes[~again], starts - merged.searchsorted(starts), raw_starts, dropped, merged)


def _rolling(codes: Codes, longest: int) -> Iterator[NDArray[np.uint64]]:
    """The 64-bit hashes of the n characters at each position, for n = 1, 2 … up to `longest` or the text's length."""
    wide = codes.astype(np.uint64)
    rolled, added = wide * _P1, wide * _P3
    for n in range(1, min(longest, len(codes)) + 1):
        if n > 1:
            shorter = rolled[:-1]
            rolled = shorter >> np.uint64(29)
            rolled ^= shorter
            rolled *= _P2
            rolled += added[n - 1 :]
        yield rolled


def fixed_grams(codes: Codes, *lengths: int) -> list[Hashes]:
    """For each length n the hash of any n characters at each position; none for a shorter text."""
    hashes = list(_rolling(codes, max(lengths)))
    return [fold(hashes[n - 1]) if n <= len(hashes) else np.zeros(0, dtype=np.uint32) for n in lengths]


def fold(hashes: NDArray[np.uint64]) -> Hashes:
    return (hashes ^ (hashes >> np.uint64(32))).astype(np.uint32)  # the lower half


def is_han(codes: Codes) -> Flags:
    return _within(codes, WIDE) | _within(codes, HAN_HIGH)


def is_hangul(codes: Codes) -> Flags:
    return _within(codes, HANGUL)


def _within(codes: Codes, script: str) -> Flags:
    return (codes >= ord(script[0])) & (codes <= ord(script[-1]))
