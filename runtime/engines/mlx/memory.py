"""Decide how many requests fit on the device: bytes are counted before they start and watched while they run.

Cached beginnings of prompts need no prefill. A pinned snapshot holds a prompt's constant part and is never evicted. A shared one
holds a whole recent prompt, for the next request with the same beginning, such as another judgement over the same evidence; the
oldest are evicted."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt
from mlx_lm.models.cache import KVCache, make_prompt_cache

from bus.wire.errors import Unavailable
from runtime.engines.mlx.model import LoadedModel
from runtime.engines.mlx.settings import DeviceSettings

#: A shorter match saves less than the copy costs.
WORTH_TOKENS = 16

type Tokens = npt.NDArray[np.int32]


@dataclass(slots=True, eq=False)
class Snapshot:
    tokens: Tokens
    cache: list[Any]
    size_bytes: int
    pinned: bool


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
        self._snapshots.remove(best)
        self._snapshots.append(best)
        return _copy(best.cache, length), length

    def knows(self, tokens: Tokens) -> bool:
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


#: Shares of the memory: kept free for the running step, lent to pinned and to shared prefixes; used, when it counts as short.
SPARE, PINNED, SHARED, SHORT = 0.05, 0.125, 0.0625, 0.97
#: What Metal and CUDA say when the memory is exhausted, in an allocation or in the middle of a computation.
EXHAUSTED = ("alloc", "out of memory", "outofmemory", "insufficient memory")


class Memory:
    """The memory budget. `max_rows` halves for good after a fault that looks like exhausted memory: the setting was too high."""

    def __init__(self, loaded: LoadedModel, settings: DeviceSettings) -> None:
        self.limit_bytes = loaded.memory_limit_bytes
        self.max_rows = settings.max_rows
        self.pinned_bytes = int(self.limit_bytes * PINNED)
        self.shared_bytes = settings.shared_bytes or int(self.limit_bytes * SHARED)
        self._token_bytes = loaded.kv_token_bytes
        self._weight_bytes = loaded.weight_bytes
        self._elsewhere_bytes = max(0, int(mx.get_active_memory()) - loaded.weight_bytes)

    @property
    def active_bytes(self) -> int:
        """Bytes that this device holds; mlx counts for the whole process."""
        return max(0, int(mx.get_active_memory()) - self._elsewhere_bytes)

    def fits(self, lengths: Sequence[int], length: int, prefixes: Prefixes) -> bool:
        """Whether a row of `length` tokens fits in a batch with rows of `lengths`; a batch is padded to its longest."""
        rows = (len(lengths) + 1) * max([*lengths, length]) * self._token_bytes
        if rows <= self._free(prefixes):
            return True
        prefixes.forget_shared()
        return rows <= self._free(prefixes)

    def refusal(self, length: int) -> Unavailable:
        need = length * self._token_bytes / 1e9
        return Unavailable(f"a request of {length} tokens needs {need:.2f} GB more than the device has; shorten it")

    def short(self) -> bool:
        return self.active_bytes > self.limit_bytes * SHORT

    def shed(self) -> Unavailable:
        return Unavailable("the device is short of memory; ask again, or lower max_rows")

    def after_fault(self, fault: BaseException) -> None:
        if isinstance(fault, MemoryError) or any(words in str(fault).lower() for words in EXHAUSTED):
            self.max_rows = max(1, self.max_rows // 2)

    def _free(self, prefixes: Prefixes) -> float:
        kept = prefixes.size_bytes(True) + prefixes.size_bytes(False)
        return self.limit_bytes * (1 - SPARE) - self._weight_bytes - kept
