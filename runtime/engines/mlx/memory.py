"""Decide how many requests fit on the device: bytes are counted before they start and watched while they run."""

from collections.abc import Sequence

import mlx.core as mx

from bus.wire.errors import Unavailable
from runtime.engines.mlx.model import LoadedModel
from runtime.engines.mlx.prefixes import Prefixes
from runtime.engines.mlx.settings import DeviceSettings

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
