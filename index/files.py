"""Find the files to read. One that cannot be read has its reason; nothing here stops a build but a path that is not there."""

import glob
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote

from index.errors import IndexProblem
from index.readers.formats import by_suffix
from index.readers.unreadable import Unreadable

RECORDS = frozenset((".jsonl", ".ndjson"))
MAX_BYTES = 100 * 1024 * 1024


class Found(NamedTuple):
    """A file to read, with the source id it will have; `problem` says why it will be skipped."""

    path: Path
    source_id: str
    problem: Unreadable | None = None

    @property
    def origin(self) -> str:
        return os.fsencode(os.path.abspath(self.path)).decode("utf-8", "replace")


def find(patterns: list[str]) -> Iterator[Found]:
    """Every file under the given folders, files and globs, in a fixed order. Raises IndexProblem when one does not exist.

    A source id is the file's path below its folder, prefixed with the folder's name when several were given.
    """
    roots: list[Path] = []
    for pattern in patterns:
        path = Path(pattern)
        if path.exists():
            roots.append(path)
        elif matched := sorted(glob.glob(pattern, recursive=True)):
            roots.extend(map(Path, matched))
        else:
            raise IndexProblem(f"no file or folder {pattern}; check the path")
    folders = sum(root.is_dir() for root in roots)
    for root in roots:
        if root.is_dir():
            prefix = f"{root.resolve().name}/" if folders > 1 else ""
            yield from _walk(root, prefix)
        else:
            yield _look(root, root.name)


def _walk(root: Path, prefix: str) -> Iterator[Found]:
    inside = root.resolve()
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in [name for name in folders if (Path(folder) / name).is_symlink()]:
            yield _left_out(Path(folder) / name, root, prefix, "a link to a folder; links are not followed")
        for name in sorted(files):
            path = Path(folder) / name
            if name.startswith("."):
                continue
            if path.is_symlink():
                target = path.resolve()
                if not target.is_relative_to(inside):
                    yield _left_out(path, root, prefix, "a link that leaves the folder")
                    continue
                if not target.exists():
                    yield _left_out(path, root, prefix, "a link to nothing")
                    continue
            yield _look(path, prefix + _name(path.relative_to(root)))


def _left_out(path: Path, root: Path, prefix: str, reason: str) -> Found:
    return Found(path, prefix + _name(path.relative_to(root)), Unreadable(reason, failed=False))


def _name(path: Path | PurePosixPath) -> str:
    """A printable id for a path; unprintable characters are escaped as in a URL."""
    name = path.as_posix()
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else quote(c.encode("utf-8", "surrogateescape")) for c in name)


def _look(path: Path, source_id: str) -> Found:
    try:
        status = path.stat()
    except OSError as error:
        return Found(path, source_id, Unreadable(error.strerror or "cannot be read"))
    suffix = path.suffix.lower()
    problem = None
    if not stat.S_ISREG(status.st_mode):
        problem = Unreadable("not a regular file", failed=False)
    elif suffix not in RECORDS and suffix not in by_suffix():
        problem = Unreadable(f"unsupported file type {suffix or '(no suffix)'}", failed=False)
    elif status.st_size == 0:
        problem = Unreadable("empty", failed=False)
    elif suffix not in RECORDS and status.st_size > MAX_BYTES:
        problem = Unreadable(f"{status.st_size // 1024**2} MB, over the limit of {MAX_BYTES // 1024**2} MB; split it")
    return Found(path, source_id, problem)
