"""A snapshot that was made on another machine, put together here from its files' bytes and then made the current one.

    DIR/arriving/HEX             a file under its digest, whole or in part, kept until its snapshot is there

A file that a snapshot of this folder has already is linked, not asked for. What a kill leaves is used: each part that is there is
read, and asked for only if it is not what it should be.
"""

import contextlib
import errno
import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

import msgspec

from index.durable import replace_file, sync
from index.errors import IndexProblem
from index.model import FORMAT
from index.snapshot import snapshot
from index.snapshot.snapshot import Manifest, Version

_FOLDER = "arriving"
_SKIPPED = "skipped.json"
#: A file here has its digest's name, so that must be no other path.
_DIGEST = re.compile(r"[0-9a-f]{64}")
#: The bytes of a disk that stay free.
_SPARE = 16 * 1024 * 1024


class _Named(msgspec.Struct, frozen=True):
    """What of a manifest of any version names its files."""

    files: dict[str, tuple[int, str]] = {}


class Arriving:
    """Call under `snapshot.writing`. `wanted` maps the digest of each file that has to come to its size."""

    def __init__(self, index: Path, name: str, raw: bytes, *, distrust: bool = False) -> None:
        """`raw` is the manifest. `distrust`: what a snapshot here holds of it is read before it is used.

        Raises IndexProblem for a manifest that this version cannot use.
        """
        self.manifest = _manifest(name, raw)
        self._index, self._raw, self._name = index, raw, name
        self._folder = index / _FOLDER
        self._folder.mkdir(exist_ok=True)
        self._here = dict(self._held_already(distrust))
        self.wanted = {digest: size for size, digest in self.manifest.files.values() if digest not in self._here}
        for path in self._folder.iterdir():
            if path.name not in self.wanted:
                path.unlink()

    def need_room(self) -> None:
        """Raises IndexProblem where the disk cannot hold what has to come."""
        allocated = sum(path.stat().st_blocks * 512 for path in self._folder.iterdir())
        need = sum(self.wanted.values()) - allocated
        free = shutil.disk_usage(self._index).free
        if need + _SPARE > free:
            raise self._no_room(need, free)

    def missing(self, digest: str, parts: Sequence[tuple[str, int]]) -> list[tuple[int, str]]:
        """The offset and digest of each part of a wanted file that is not here yet; `parts` are digests and sizes in order.

        Reads the files of this machine. Raises IndexProblem.
        """
        size = self.wanted[digest]
        if sum(length for _, length in parts) != size:
            raise IndexProblem(
                f"the parts of {digest} do not add up to {size} bytes; push the index again with --resend"
            )
        with self._writing(digest) as descriptor:
            fresh = os.fstat(descriptor).st_size != size
            if fresh:
                os.ftruncate(descriptor, size)
            results: list[tuple[int, str]] = []
            offset = 0
            for part, length in parts:
                if fresh or hashlib.sha256(os.pread(descriptor, length, offset)).hexdigest() != part:
                    results.append((offset, part))
                offset += length
        return results

    def write(self, digest: str, offset: int, data: bytes) -> None:
        """Raises IndexProblem when the disk is full."""
        with self._writing(digest) as descriptor:
            while data:
                written = os.pwrite(descriptor, data, offset)
                offset, data = offset + written, data[written:]

    def finish(self, digest: str) -> None:
        """A wanted file has all its parts. Raises IndexProblem when it is not the file that was named."""
        path = self._folder / digest
        sync(path)
        if snapshot.sha256_of(path) != digest:
            path.unlink()
            raise IndexProblem(f"what came for {digest} is another file; push the index again with --resend")
        self._here[digest] = path

    def adopt(self, skipped: bytes = b"") -> None:
        """Make the snapshot the current one; all its files are here. Raises IndexProblem."""
        building = self._index / "building" / self._name
        try:
            for name, (size, digest) in self.manifest.files.items():
                path = building / name
                path.parent.mkdir(parents=True, exist_ok=True)
                if size:
                    snapshot.link(self._here[digest], path)
                else:
                    path.touch()
            self._publish(building)
            if skipped:
                replace_file(self._index / _SKIPPED, skipped, durable=False)
        except OSError as error:
            raise self._problem(error) from None
        shutil.rmtree(self._folder, ignore_errors=True)
        snapshot.prune(self._index, keep=0)  # others can be had again

    def _publish(self, building: Path) -> None:
        target = self._index / "snapshots" / self._name
        if target.exists():  # damaged: it is read no more once it has another name
            target.rename(self._index / "building" / f"pruned-{self._name}")
        snapshot.adopt(self._index, building, self._name, self._raw)
        shutil.rmtree(self._index / "building" / f"pruned-{self._name}", ignore_errors=True)

    def _held_already(self, distrust: bool) -> Iterator[tuple[str, Path]]:
        """The files of snapshots that are here, by digest."""
        wanted = {digest: size for size, digest in self.manifest.files.values()}
        for name in snapshot.names(self._index):
            folder = self._index / "snapshots" / name
            try:
                manifest = msgspec.json.decode((folder / "manifest.json").read_bytes(), type=Manifest)
            except (OSError, msgspec.DecodeError):
                continue
            for path, (size, digest) in manifest.files.items():
                if digest in wanted and _is(folder / path, size, digest if distrust else ""):
                    yield digest, folder / path
        yield hashlib.sha256().hexdigest(), self._folder

    @contextlib.contextmanager
    def _writing(self, digest: str) -> Iterator[int]:
        try:
            descriptor = os.open(self._folder / digest, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                yield descriptor
            finally:
                os.close(descriptor)
        except OSError as error:
            raise self._problem(error) from None

    def _problem(self, error: OSError) -> IndexProblem:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return self._no_room(sum(self.wanted.values()), shutil.disk_usage(self._index).free)
        return IndexProblem(f"{self._index} cannot be written ({error.strerror}); choose another folder")

    def _no_room(self, need: int, free: int) -> IndexProblem:
        return IndexProblem(
            f"no room in {self._index} for {self._name}: {need / 1e6:.0f} MB have to come, {free / 1e6:.0f} MB are free"
        )


def skipped_files(index: Path) -> bytes:
    """The record of unreadable files next to the index; empty without one."""
    try:
        return (index / _SKIPPED).read_bytes()
    except OSError:
        return b""


def files_named(raw: bytes) -> Iterator[tuple[str, int]]:
    """The digest and size of each file that is not empty, from a manifest of any version."""
    for size, digest in msgspec.json.decode(raw, type=_Named).files.values():
        if size:
            yield digest, size


def files_by_digest(manifest: Manifest) -> Mapping[str, tuple[str, int]]:
    """The name and size of each file that is not empty, by its digest."""
    return {digest: (name, size) for name, (size, digest) in manifest.files.items() if size}


def _manifest(name: str, raw: bytes) -> Manifest:
    """Raises IndexProblem."""
    try:
        version = msgspec.json.decode(raw, type=Version)
        if version.format != FORMAT:
            age = "newer" if version.format > FORMAT else "older"
            raise IndexProblem(
                f"snapshot {name} of the bucket is of format {version.format}, this version reads {FORMAT};"
                f" it was pushed by {age} Groundwire: update the older version"
            )
        manifest = msgspec.json.decode(raw, type=Manifest)
    except msgspec.DecodeError as error:
        raise IndexProblem(f"snapshot {name} of the bucket has a manifest that cannot be read ({error})") from error
    paths = [PurePosixPath(each) for each in manifest.files]
    if (
        manifest.snapshot != name
        or not snapshot.sequence(name)
        or any(path.is_absolute() or ".." in path.parts for path in paths)
        or any(size < 0 or not _DIGEST.fullmatch(digest) for size, digest in manifest.files.values())
    ):
        raise IndexProblem(f"snapshot {name} of the bucket has a manifest that is not its own; push the index again")
    return manifest


def _is(path: Path, size: int, digest: str) -> bool:
    """Whether a file has that size and, if one is given, that digest."""
    try:
        return path.stat().st_size == size and (not digest or snapshot.sha256_of(path) == digest)
    except OSError:
        return False
