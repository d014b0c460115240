"""A lock so that one process owns the device; the operating system holds it, so a dead owner frees it at once."""

import asyncio
import fcntl
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from bus.wire.errors import Unavailable

#: How often a standby checks whether the owner is gone, in seconds.
LOOK_S = 0.2
#: One per machine, for all users.
DEFAULT_PATH = Path(tempfile.gettempdir()) / "groundwire-device-0.lock"


class DeviceLock:
    """`flock` on a file that names its owner. Never delete the file: two processes could then own the device."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or DEFAULT_PATH
        self._file: int | None = None

    @property
    def held(self) -> bool:
        return self._file is not None

    async def acquire(self, on_standby: Callable[[str], None] = lambda why: None) -> None:
        """Wait until this process owns the device; `on_standby` is called once, with a line that names the current owner.

        Raises: Unavailable when the lock file cannot be opened.
        """
        told = False
        while not self.try_acquire():
            if not told:
                on_standby(f"standby: the device is owned by process {self.owner() or 'unknown'}")
                told = True
            await asyncio.sleep(LOOK_S)

    def try_acquire(self) -> bool:
        """Take the device if it is free. Raises: Unavailable when the lock file cannot be opened."""
        if self._file is not None:
            return True
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise Unavailable(
                f"the device's lock {self.path} cannot be opened ({error.strerror}); set another"
            ) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return False
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        self._file = file
        return True

    def owner(self) -> str:
        try:
            return self.path.read_text().strip()
        except OSError:
            return ""

    def release(self) -> None:
        """Release the lock to the next process that waits; does nothing if it is not held."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
