"""The folder of a stack's state: where it is, and which stack runs over it.

Imports next to nothing, for commands that need only this.
"""

import fcntl
import hashlib
import os
from pathlib import Path
from typing import IO

import msgspec

from bus.transport.security import without_user
from bus.wire.errors import Unavailable
from runtime.settings import Settings

#: In the state folder while restored files move in.
RESTORE_NOTE = "restore.json"
#: Bytes of an index's name in that of its state folder; names of folders end at 255.
LONGEST_NAME = 200


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """Where a running stack listens, as its state folder says. `brief`: it ends with the question that it was started for."""

    nats_url: str
    edge_port: int | None
    brief: bool = False


def state_home(settings: Settings) -> Path:
    """The folder of Groundwire's state. Raises Unavailable when there is no home folder to hold it."""
    if not settings.state:
        raise Unavailable("the setting `state` is empty; name a folder, or leave GROUNDWIRE_STATE out")
    try:
        return Path(settings.state).expanduser()
    except RuntimeError:
        raise Unavailable(f"there is no home folder for the state {settings.state}; set GROUNDWIRE_STATE") from None


def state_folder(settings: Settings) -> Path:
    """The folder of the journal, logs and lock of a stack over the settings' index."""
    url = without_user(settings.index.url)
    index = Path(settings.index.dir).resolve()
    name = hashlib.blake2b(os.fsencode(url or index), digest_size=6).hexdigest()
    called = url.rstrip("/").rpartition("/")[2].replace(":", "-") if url else index.name
    return state_home(settings) / f"{os.fsdecode(os.fsencode(called)[:LONGEST_NAME])}-{name}"


def running(folder: Path) -> Address | None:
    """The stack that runs over this folder, or None; the address file of a killed stack is ignored."""
    if is_free(folder):
        return None
    try:
        return msgspec.json.decode((folder / "stack.json").read_bytes(), type=Address)
    except (OSError, msgspec.DecodeError):
        return None


def is_free(folder: Path) -> bool:
    """Whether no stack runs over this folder, starts or stops."""
    try:
        with (folder / "lock").open() as lock:
            return take(lock, fcntl.LOCK_SH)
    except OSError:
        return True


def take(lock: IO[bytes] | IO[str], kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
