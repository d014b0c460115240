"""A thread for mlx calls, whose `join` waits until the operating system has ended it.

Python's own `join` returns when the thread's Python state is gone. Then mlx frees what it compiled on the thread and takes the
interpreter lock to do so; if the interpreter exits at that moment, glibc aborts the process (seen in one of twenty runs, with
Python 3.12 and mlx 0.32). Outside Linux it does not wait: threads end there without the unwinding that aborts.
"""

import threading
import time
from pathlib import Path

_LOOK_S = 0.001
#: A thread's id may be reused by another one: do not wait for that one.
_PATIENCE_S = 5.0


class MlxThread(threading.Thread):
    """Like any thread; `join` with a timeout may return before the end."""

    def join(self, timeout: float | None = None) -> None:
        super().join(timeout)
        patience, task = time.monotonic() + _PATIENCE_S, Path(f"/proc/self/task/{self.native_id}")
        while not self.is_alive() and task.exists() and time.monotonic() < patience:
            time.sleep(_LOOK_S)
