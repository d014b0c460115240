"""Cached beginnings of prompts, which need no prefill.

A pinned snapshot holds a prompt's constant part and is never evicted. A shared one holds a whole recent prompt, for the
next request with the same beginning, such as another judgement over the same evidence; the oldest are evicted.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt
from mlx_lm.models.cache import KVCache, make_prompt_cache

#: A shorter match saves less than the copy costs.
WORTH_TOKENS = 16

type Tokens = npt.NDArray[np.int32]


@dataclass(slots=True, eq=False)
class Snapshot:
    tokens: Tokens
    cache: list[Any]
    size_bytes: int
    pinned: bool
    hits: int = 0


class Prefixes:
    """`shared_bytes` bounds the shared snapshots, `pinned_bytes` the pinned ones."""

    def __init__(self, model: Any, *, pinned_bytes: int, shared_bytes: int) -> None:
        self._model = model
        self._limit = {True: pinned_bytes, False: shared_bytes}
        self._snapshots: list[Snapshot] = []  # oldest use first

    def open(self, tokens: Tokens) -> tuple[list[Any], int]:
        """A new cache with the longest known beginning of `tokens`, and that beginning's length.

        At least one token is left to compute.
        """
        best, length = None, WORTH_TOKENS - 1
        for snapshot in self._snapshots:
            common = _common(snapshot.tokens, tokens[:-1])
            if common < len(snapshot.tokens) and not _sliceable(snapshot.cache):
                continue
            if common > length:
                best, length = snapshot, common
        if best is None:
            return make_prompt_cache(self._model), 0
        best.hits += 1
        self._snapshots.remove(best)
        self._snapshots.append(best)
        return _copy(best.cache, length), length

    def knows(self, tokens: Tokens) -> bool:
        """Whether exactly these tokens are pinned."""
        return any(s.pinned and np.array_equal(s.tokens, tokens) for s in self._snapshots)

    def keep(self, tokens: Tokens, cache: list[Any], *, pinned: bool) -> None:
        """Copy `cache`, which holds exactly `tokens`. A snapshot beyond the limit is not kept."""
        if pinned and self.knows(tokens):
            return
        copy = _copy(cache, len(tokens))
        size = sum(layer.nbytes for layer in copy)
        if not pinned:
            self._evict(self._limit[False] - size)
        if self.size_bytes(pinned) + size > self._limit[pinned]:
            return
        mx.async_eval([layer.state for layer in copy])  # type: ignore[no-untyped-call]
        self._snapshots.append(Snapshot(tokens, copy, size, pinned))

    def forget_shared(self) -> None:
        self._evict(0)

    def count(self, pinned: bool) -> int:
        return sum(s.pinned == pinned for s in self._snapshots)

    def size_bytes(self, pinned: bool) -> int:
        return sum(s.size_bytes for s in self._snapshots if s.pinned == pinned)

    def clear(self) -> None:
        self._snapshots.clear()

    def _evict(self, limit: int) -> None:
        for snapshot in [s for s in self._snapshots if not s.pinned]:
            if self.size_bytes(False) <= max(limit, 0):
                return
            self._snapshots.remove(snapshot)


def _common(left: Tokens, right: Tokens) -> int:
    size = min(len(left), len(right))
    differ = np.flatnonzero(left[:size] != right[:size])
    return int(differ[0]) if len(differ) else size


def _sliceable(cache: list[Any]) -> bool:
    """Whether a text's cache contains that of each of its beginnings; true only of plain attention."""
    return all(type(layer) is KVCache for layer in cache)


def _copy(cache: list[Any], length: int) -> list[Any]:
    """The first `length` tokens, or all of them if the cache cannot be sliced."""
    if not _sliceable(cache):
        return deepcopy(cache)
    copies = []
    for layer in cache:
        copy = KVCache()  # type: ignore[no-untyped-call]
        copy.keys = mx.contiguous(layer.keys[..., :length, :])
        copy.values = mx.contiguous(layer.values[..., :length, :])
        copy.offset = length
        copies.append(copy)
    return copies
