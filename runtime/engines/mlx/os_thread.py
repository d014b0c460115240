"""A thread that calls mlx, and whose `join` waits until the system knows it no more.

Python's own `join` returns when the thread's Python state is gone. After that mlx frees what it compiled on the thread, and takes
the interpreter lock for it; where the interpreter ends at that moment, glibc aborts the process (one in twenty runs of
`index build` with an mlx embedder, Python 3.12, mlx 0.32). Elsewhere than on Linux nothing is waited for: threads end there without
the unwinding that aborts.
"""

import threading
import time
from pathlib import Path

_LOOK_S = 0.001
#: A thread's number may be given to another one: do not wait for that one.
_PATIENCE_S = 5.0


class MlxThread(threading.Thread):
    """As any thread; `join` with a time limit may return before the end."""

    def join(self, timeout: float | None = None) -> None:
        super().join(timeout)
        patience = time.monotonic() + _PATIENCE_S
        while not self.is_alive() and self._known_to_system() and time.monotonic() < patience:
            time.sleep(_LOOK_S)

    def _known_to_system(self) -> bool:
        return Path(f"/proc/self/task/{self.native_id}").exists()
