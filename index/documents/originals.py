"""The file that a document was read from, opened only if it still is that file: below its root, by no link out of it, and with
the bytes that were indexed.

A file that holds several documents (records, an archive) is no document's own: others in it may be for other groups.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import NamedTuple
from urllib.parse import unquote

from cachetools import FIFOCache

from index.documents.archives import is_archive
from index.documents.files import MAX_BYTES, RECORDS
from index.model import Entry
from index.snapshot.roots import Root

#: What a browser may show itself; everything else is bytes to it.
_TYPES = {
    ".pdf": "application/pdf",
    ".txt": "text/plain",
    ".text": "text/plain",
    ".log": "text/plain",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".rst": "text/plain",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".json": "application/json",
    ".html": "text/html",
    ".htm": "text/html",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
}
_BYTES = "application/octet-stream"
_REMEMBERED = 256


class NoOriginal(Exception):
    """There is no file; the message is the reason."""


class Original(NamedTuple):
    """An open file. `digest` is of its bytes, `name` its file's own."""

    file: BufferedReader
    size: int
    digest: str
    name: str
    media_type: str


def media_type(name: str) -> str:
    return _TYPES.get(PurePosixPath(name).suffix.lower(), _BYTES)


def has_own_file(entry: Entry) -> bool:
    name = entry.origin.lower()
    return entry.origin.startswith("/") and Path(name).suffix not in RECORDS and not is_archive(name)


class Originals:
    """Opens the files of documents; the digest of an unchanged file is computed once. Safe for any number of threads."""

    def __init__(self) -> None:
        self._digests: FIFOCache[tuple[int, ...], str] = FIFOCache(_REMEMBERED)
        self._lock = Lock()

    @contextmanager
    def opened(self, entry: Entry, roots: Sequence[Root]) -> Iterator[Original]:
        """Raises NoOriginal."""
        if not has_own_file(entry):
            raise NoOriginal("this document has no file of its own: it came in a file with others, or through a pipe")
        try:
            path = _real_path(entry.origin)
            root = next((root for root in roots if root.holds(path)), None)
            if root is None:
                raise NoOriginal("the file of this document is no longer below the folder that was indexed")
            with _opened_below(root.folder, path) as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
                    raise NoOriginal("the file of this document is no longer one that would be indexed")
                digest = self._digest(file, status)
                if digest[:32] != entry.content.partition(".")[0]:
                    raise NoOriginal("the file of this document has changed since it was indexed")
                file.seek(0)
                yield Original(file, status.st_size, digest, PurePosixPath(path).name, media_type(path))
        except OSError as error:
            raise NoOriginal(f"the file of this document cannot be opened ({error.strerror})") from None

    def _digest(self, file: BufferedReader, status: os.stat_result) -> str:
        seen = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        with self._lock:
            known = self._digests.get(seen)
        if known is None:
            known = hashlib.file_digest(file, "sha256").hexdigest()
            with self._lock:
                self._digests[seen] = known
        return known


def _real_path(origin: str) -> str:
    """The path without links; the catalogue's spelling escapes what cannot be printed."""
    written = origin if os.path.lexists(origin) else unquote(origin, errors="surrogateescape")
    return os.path.realpath(written, strict=True)


@contextmanager
def _opened_below(folder: str, path: str) -> Iterator[BufferedReader]:
    """The file at a real path in a real folder, opened name by name: what has become a link meanwhile is refused.

    Raises OSError.
    """
    names = os.path.relpath(path, folder).split("/")
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for name in names[:-1]:
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = below
        descriptor = os.open(names[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    finally:
        os.close(at)
    with open(descriptor, "rb") as file:
        yield file
