"""The files in a `.zip`, `.tar` or `.tar.gz`, read without unpacking anything to disk."""

import gzip
import io
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Buffer, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from index.readers import Unreadable
from index.readers.packages import refuse_bomb
from index.readers.text import decode

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz")
_ENCRYPTED, _UTF8 = 0x1, 0x800


class Member(NamedTuple):
    """A file of an archive. `read` works until the next one is asked for; `problem` is the reason when it cannot be read."""

    name: str
    size: int
    read: Callable[[], bytes]
    problem: Unreadable | None = None


def is_archive(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def members(path: Path) -> Iterator[Member]:
    """Every file in the archive, in its order. Raises Unreadable for a damaged archive or a bomb."""
    try:
        yield from _zipped(path) if path.suffix.lower() == ".zip" else _tarred(path)
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        zlib.error,
        EOFError,
        NotImplementedError,
        ValueError,
        OSError,
    ) as error:
        raise Unreadable(f"damaged archive ({type(error).__name__}: {str(error)[:120]})") from error


def _zipped(path: Path) -> Iterator[Member]:
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        refuse_bomb(sum(info.file_size for info in infos), path.stat().st_size)
        for info, name in zip(infos, _zip_names(infos), strict=True):
            if info.is_dir():
                continue
            problem = None
            if info.flag_bits & _ENCRYPTED:
                problem = Unreadable("encrypted; unpack it with its password")
            elif stat.S_ISLNK(info.external_attr >> 16):
                problem = _link()
            yield Member(_harmless(name), info.file_size, partial(archive.read, info), problem)


def _zip_names(infos: list[zipfile.ZipInfo]) -> list[str]:
    """Names without the mark of UTF-8 are in the encoding of the program that packed them."""
    unmarked = [info.orig_filename.encode("cp437", "replace") for info in infos if not info.flag_bits & _UTF8]
    try:
        text = decode(b"\n".join(unmarked)) if unmarked else ""
    except Unreadable:
        text = ""
    decoded = iter(text.split("\n") if text.count("\n") == len(unmarked) - 1 else ())
    return [info.filename if info.flag_bits & _UTF8 else next(decoded, info.filename) for info in infos]


def _tarred(path: Path) -> Iterator[Member]:
    with path.open("rb") as file:
        packed = path.stat().st_size
        unzipped = gzip.GzipFile(fileobj=file) if path.suffix.lower() != ".tar" else file
        with tarfile.open(fileobj=io.BufferedReader(_Counted(unzipped, packed)), mode="r|") as archive:
            for info in archive:
                if info.issym() or info.islnk():
                    yield Member(_harmless(info.name), 0, bytes, _link())
                elif info.isfile():
                    taken = archive.extractfile(info) or io.BytesIO()
                    yield Member(_harmless(info.name), info.size, taken.read)
                elif not info.isdir():
                    yield Member(_harmless(info.name), 0, bytes, Unreadable("not a regular file", failed=False))


class _Counted(io.RawIOBase):
    """A file that stops where it has given more than an honest archive holds."""

    def __init__(self, file: io.BufferedIOBase, packed: int) -> None:
        self._file = file
        self._packed = packed
        self._given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        given = self._file.readinto(buffer)
        self._given += given
        refuse_bomb(self._given, self._packed)
        return given


def _link() -> Unreadable:
    return Unreadable("a link; links are not followed", failed=False)


def _harmless(name: str) -> str:
    """The name as a path below the archive, never outside it."""
    parts = name.replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in ("", ".", ".."))
