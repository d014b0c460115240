"""The part of a snapshot that callers of some groups see or a filter lets through: its documents, and every figure about them.

A figure over documents that a caller does not see would reveal their content: a word is rare until one hidden document holds it.
"""

import functools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.filters import Filter, predicate
from index.languages import UNDETERMINED
from index.model import Entry, Groups, group_name
from index.snapshot.store import PassageStore

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


@dataclass(frozen=True, eq=False, slots=True)
class Visible:
    """What callers in some groups see: every figure is over the documents they see and no others.

    `languages` counts passages; the rarities weigh every gram and phrase (coverage.py).
    """

    documents: int
    languages: Mapping[str, int]
    rarity: NDArray[np.float32]
    phrase_rarity: NDArray[np.float32]


@dataclass(frozen=True, eq=False, slots=True)
class View(Visible):
    """`entries` are the documents seen; `allowed` their passages, None for all of the snapshot's."""

    entries: Collection[Entry]
    allowed: Allowed | None


class Views:
    """The views of one snapshot, each worked out once; safe for any number of threads."""

    def __init__(
        self, entries: Collection[Entry], store: PassageStore, languages: Mapping[str, int], *, for_all: bool = False
    ) -> None:
        """`languages`: how many passages of each there are. `for_all`: no document is for some groups only."""
        self._everything = View(len(entries), languages, *store.rarities, entries, allowed=None)
        self._store = store
        self._for_all = for_all
        self._made = functools.lru_cache(REMEMBERED)(self._make)
        self._passing = functools.lru_cache(REMEMBERED)(_passing)
        self._besides = functools.lru_cache(REMEMBERED)(self._without)

    @functools.cached_property
    def _groups(self) -> dict[str, frozenset[str]]:
        """The documents that are not everybody's; most indexes have none."""
        if self._for_all:
            return {}
        entries = self._everything.entries
        return {entry.source_id: frozenset(named) for entry in entries if (named := entry.groups) is not None}

    @functools.cached_property
    def _named(self) -> frozenset[str]:
        return frozenset[str]().union(*self._groups.values())

    def of(self, groups: Groups) -> View:
        """What a caller in these groups sees; None: everything."""
        if groups is None or not self._groups:
            return self._everything
        return self._made(self._named & {*map(group_name, groups)})

    def sees(self, source_id: str, groups: Groups) -> bool:
        """Whether a caller in these groups sees this document."""
        if groups is None:
            return True
        named = self._groups.get(source_id)
        return named is None or not named.isdisjoint(map(group_name, groups))

    def allowed(self, view: View, wanted: Filter | None) -> Allowed | None:
        """The passages of a view that a filter lets through; None for all of the snapshot's."""
        if wanted is None:
            return view.allowed
        result = self._passing(view, wanted)
        return view.allowed if result.documents == len(view.entries) else result

    def besides(self, allowed: Allowed | None, language: str) -> Allowed:
        """The allowed passages in other known languages than this; None for all of the snapshot's."""
        return self._besides(allowed, language)

    def _without(self, allowed: Allowed | None, language: str) -> Allowed:
        some = allowed if allowed is not None else allowed_of(self._everything.entries)
        others = (other for other in self._everything.languages if other not in (language, UNDETERMINED))
        numbers = [np.zeros(0, np.int64), *(self._store.within(some.numbers, other) for other in others)]
        return Allowed(some.documents, np.sort(np.concatenate(numbers)))

    def _make(self, own: frozenset[str]) -> View:
        hidden = {source_id for source_id, named in self._groups.items() if not named & own}
        if not hidden:
            return self._everything
        seen = tuple(entry for entry in self._everything.entries if entry.source_id not in hidden)
        allowed = allowed_of(seen)
        languages, rarities = self._store.languages(allowed.numbers), self._store.rarities_among(allowed.numbers)
        return View(len(seen), languages, *rarities, seen, allowed)


def _passing(view: View, wanted: Filter) -> Allowed:
    return allowed_of(filter(predicate(wanted), view.entries))
