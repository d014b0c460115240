"""What a build has read so far, kept in a file of the index until it is published: a build that was stopped goes on from there.

    DIR/readings      a line with its format, then of every task: its key, the length and a checksum of its outcomes,
                      and the outcomes, as the reading process sent them

A task's key is made of the digest of the bytes that it reads and of what the document in them is called: a file that has changed
since is read again. The last record may be cut off, or never have reached the disk; it is then read again, too.
"""

import contextlib
import hashlib
import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from struct import Struct
from typing import BinaryIO

import msgspec

from index.model import FORMAT
from index.reading.job import Outcome, Task
from index.text import passages

FILE = "readings"
_FIRST_LINE = f"groundwire {FORMAT}.{passages.VERSION}\n".encode()
_HEAD = Struct("<16sQI")
_BUFFER = 1024 * 1024
_decoder = msgspec.msgpack.Decoder(list[Outcome])


class Readings(contextlib.AbstractContextManager["Readings"]):
    """The readings of one index, with this object as the only writer. A full disk costs only them."""

    def __init__(self, folder: Path | None) -> None:
        """`folder`: the index's own; without one nothing is kept."""
        #: How many tasks a build that was stopped had done.
        self.taken_over = 0
        self._folder = folder
        self._places: dict[bytes, tuple[int, int, int]] = {}  # key -> where, how long, checksum
        self._any = False
        self._file: BinaryIO | None = None
        with contextlib.suppress(OSError):
            if folder is not None:
                flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
                self._file = os.fdopen(os.open(folder / FILE, flags, 0o600), "a+b", buffering=_BUFFER)
                self._find(self._file)
        self._any = bool(self._places)

    def __exit__(self, *_: object) -> None:
        """Keep them for the next build, unless there are none."""
        self._close()
        if not self._any:
            discard(self._folder)

    def _find(self, file: BinaryIO) -> None:
        """Note where the whole records are, and cut off an incomplete record."""
        end = file.seek(0, os.SEEK_END)
        file.seek(0)
        at = len(_FIRST_LINE)
        if file.read(at) != _FIRST_LINE:
            file.truncate(0)
            file.write(_FIRST_LINE)
            return
        while at + _HEAD.size <= end:
            key, length, checksum = _HEAD.unpack(file.read(_HEAD.size))
            if at + _HEAD.size + length > end:
                break
            self._places[key] = (at + _HEAD.size, length, checksum)
            at = file.seek(at + _HEAD.size + length)
        file.truncate(at)

    def get(self, task: Task) -> list[Outcome] | None:
        """What became of a task of a build that was stopped."""
        position = self._places.get(_key(task)) if self._places and task.content else None
        if position is None or self._file is None:
            return None
        start, length, checksum = position
        with contextlib.suppress(OSError, msgspec.DecodeError):
            data = os.pread(self._file.fileno(), length, start)
            if zlib.crc32(data) == checksum:
                outcomes = _decoder.decode(data)
                self.taken_over += 1
                return outcomes
        return None

    def put(self, task: Task, data: bytes | bytearray, outcomes: Iterable[Outcome]) -> None:
        """Keep what became of a task, `outcomes` as `data`; not when another time it may be something else."""
        if not task.content or self._file is None or any(outcome.this_time for outcome in outcomes):
            return
        try:
            self._file.write(_HEAD.pack(_key(task), len(data), zlib.crc32(data)))
            self._file.write(data)
            self._any = True
        except OSError:
            self._close()
            self._any = False

    def _close(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # what does not fit is read again
                self._file.close()
            self._file = None


def discard(folder: Path | None) -> None:
    """Remove the readings: all of them are published."""
    if folder is not None:
        (folder / FILE).unlink(missing_ok=True)


def _key(task: Task) -> bytes:
    """Of all that outcomes are made of; where the bytes are does not matter."""
    return hashlib.blake2b(msgspec.msgpack.encode(msgspec.structs.replace(task, path=b"")), digest_size=16).digest()
