"""Near duplicates: a sketch per passage at build time, compared among the hits of a query.

Two passages are near duplicates when their sketches agree almost everywhere and they contain the same numbers: a fee of 30
and a fee of 40 in the same words are two facts.
"""

import re
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from index.ngrams import SPACE, encode, fixed_grams

_MINIMA = 31
#: One digest of the numbers, then the minimum of each of the 31 permutations (MinHash).
SKETCH_WIDTH = 1 + _MINIMA
_SAME_FROM = 27  # of 31 minima: an estimated Jaccard similarity of 0.87 over 5-grams
_NUMBER = re.compile(r"\d+")

_random = np.random.default_rng(20240611)
_FACTORS = _random.integers(1, 2**32, size=(_MINIMA, 1), dtype=np.uint32) | np.uint32(1)
_SHIFTS = _random.integers(0, 2**32, size=(_MINIMA, 1), dtype=np.uint32)


def sketch(text: str) -> NDArray[np.uint32]:
    codes = encode(text)
    letters = codes[codes != SPACE]
    grams = fixed_grams(letters, 5)[0]
    row = np.zeros(SKETCH_WIDTH, dtype=np.uint32)
    row[0] = zlib.crc32(" ".join(sorted(_NUMBER.findall(text))).encode("utf-8", "replace"))
    row[1:] = (grams * _FACTORS ^ _SHIFTS).min(axis=1) if len(grams) else zlib.crc32(letters.tobytes())
    return row


def groups(sketches: NDArray[np.uint32]) -> Sequence[int]:
    """For each row the first row that it duplicates, or itself when it duplicates none before it."""
    if len(sketches) < 2:
        return range(len(sketches))
    same_numbers = sketches[:, None, 0] == sketches[None, :, 0]
    agreeing = (sketches[:, None, 1:] == sketches[None, :, 1:]).sum(axis=2)
    same = same_numbers & (agreeing >= _SAME_FROM)
    return [int(column) for column in same.argmax(axis=1)]
