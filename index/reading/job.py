"""The messages between a build and the processes that read documents."""

import codecs
from collections.abc import Iterator
from typing import Self

import msgspec

from index.readers import Unreadable
from index.snapshot.prepared import Prepared

_STRETCH_BYTES = 1024 * 1024


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one document may take: seconds of time, bytes of memory, characters of text."""

    seconds: float = 60.0
    memory_bytes: int = 2 * 1024**3
    characters: int = 50_000_000


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A file to read: its absolute path as the system's bytes, and what the document in it is called.

    With `lines`, that many lines of records instead, which begin at byte `start` with line number `line`. `size_bytes` is how
    much is read. `url` is the document's, unless it names one itself. `content` is the digest of the whole file's bytes, where
    it is known, and of all other inputs of documents.
    """

    path: bytes
    source_id: str
    title: str
    suffix: str
    size_bytes: int
    url: str = ""
    start: int = 0
    line: int = 1
    lines: int = 0
    content: str = ""

    def stretches(self, lines: int = 500) -> "Iterator[Task]":
        """This file, or stretch, of records in parts of so many lines or of a megabyte. Raises OSError.

        Text in UTF-16 is one part, as only a decoder finds its lines.
        """
        with open(self.path, "rb") as file:
            if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                yield msgspec.structs.replace(self, lines=1)
                return
            start, end, number, count = self.start, self.start + self.size_bytes, self.line, 0
            at = file.seek(start)
            while at < end:
                part = file.readline(min(_STRETCH_BYTES, end - at))  # a line may be longer
                at = at + len(part) if part else end
                if at < end and not part.endswith(b"\n"):
                    continue
                count += 1
                if count == lines or at - start >= _STRETCH_BYTES or at == end:
                    yield msgspec.structs.replace(self, start=start, size_bytes=at - start, line=number, lines=count)
                    start, number, count = at, number + count, 0


class Outcome(msgspec.Struct, frozen=True, array_like=True):
    """A document, or why there is none. `name` is its file, with the line of a record. `this_time`: a later build may succeed."""

    name: str
    read: Prepared | None = None
    reason: str = ""
    failed: bool = True
    this_time: bool = False

    @classmethod
    def problem(cls, name: str, reason: Unreadable) -> Self:
        return cls(name, None, str(reason), reason.failed)
