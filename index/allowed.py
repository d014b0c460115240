"""The passages that a filter lets through, worked out once per filter and snapshot."""

import functools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.filters import Filter, predicate
from index.model import Entry

#: How many filters a snapshot, and each of its search engines, remembers.
REMEMBERED = 32


@dataclass(frozen=True, eq=False, slots=True)
class Allowed:
    """`numbers` of passages, ascending. Compared by identity, so that search engines can remember what they made of it."""

    documents: int
    numbers: NDArray[np.int64]


class Filtering:
    """The documents of one snapshot by filter; safe for any number of threads."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = tuple(entries)
        self._count = len(self._entries)
        self._remembered = functools.lru_cache(REMEMBERED)(self._find)

    def allowed(self, wanted: Filter | None) -> Allowed | None:
        """The passages to search; None for all."""
        if wanted is None:
            return None
        found = self._remembered(wanted)
        return None if found.documents == self._count else found

    def _find(self, wanted: Filter) -> Allowed:
        passing = list(filter(predicate(wanted), self._entries))
        ranges = sorted((entry.first, entry.first + entry.count) for entry in passing)
        numbers = [np.arange(first, end, dtype=np.int64) for first, end in ranges]
        return Allowed(len(passing), np.concatenate(numbers) if numbers else np.zeros(0, dtype=np.int64))
