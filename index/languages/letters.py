"""Which characters of a text are of which scripts, looked up on whole arrays; to count them in a stretch is then quick."""

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

#: For each character the number of what it belongs to.
Table = NDArray[np.uint8]
_RANGE = re.compile("(.)-(.)", re.DOTALL)


def table_of(ranges: Iterable[str]) -> Table:
    """The number of the ranges that each character is in: 1 for the first; 0 for none, as for all beyond the table."""
    table = np.zeros(0x30000, dtype=np.uint8)
    for number, letters in enumerate(ranges, 1):
        for first, last in _RANGE.findall(letters):
            table[ord(first) : ord(last) + 1] = number
    return table


def members(text: str, table: Table) -> bytes:
    """What the table has for each character of the text."""
    codes = np.frombuffer(text.encode("utf-32-le", "replace"), dtype=np.uint32)
    return table.take(codes, mode="clip").tobytes()
