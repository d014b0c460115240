"""The passages that a search may use, because a filter lets them through or the caller may see them."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.model import Entry

#: How many groups of callers a snapshot remembers, how many filters each of them, and each of its search engines.
REMEMBERED = 32


@dataclass(frozen=True, eq=False, slots=True)
class Allowed:
    """`numbers` of passages, ascending. Compared by identity, so that search engines can remember what they made of it."""

    documents: int
    numbers: NDArray[np.int64]


def allowed_of(entries: Iterable[Entry]) -> Allowed:
    """The passages of these documents."""
    ranges = sorted((entry.first, entry.first + entry.count) for entry in entries)
    numbers = [np.arange(first, end, dtype=np.int64) for first, end in ranges]
    return Allowed(len(ranges), np.concatenate(numbers) if numbers else np.zeros(0, dtype=np.int64))
