"""An index on disk: immutable snapshots, the pointer to the current one, and the rules of publishing and pruning.

    DIR/current                  the current snapshot's id, replaced by rename
    DIR/lock                     held by the one process that writes
    DIR/snapshots/ID/manifest.json, documents/, passages/, lucene/LANGUAGE/, vectors/
    DIR/building/ID/             an unfinished snapshot; the next writer removes what a dead one left here

A snapshot becomes visible by one rename, after every byte of it is on disk. Readers hold a shared lock on its `readers` file:
a snapshot that is being read is never deleted.

A new folder is its owner's alone, as groups of documents do not protect the files. A folder that others may read is made
beforehand, or opened to them with `chmod` once: the umask decides who may read its files.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

from index.durable import replace_file, sync
from index.embedders.embedder import EmbedderSpec
from index.errors import IndexProblem, remedy
from index.model import FORMAT
from index.snapshot.roots import Root

KEEP = 3
#: The file that names the current snapshot.
CURRENT = "current"
_ID = re.compile(r"s(\d{6,})-[0-9a-f]{8}")


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a snapshot. `files` maps each file's path to its size in bytes and SHA-256.

    `roots` are the indexed folders. `access` is a digest of which groups see which document, empty when all see all.
    """

    format: int
    snapshot: str
    parent: str
    created: str
    embedder: EmbedderSpec
    languages: dict[str, int]
    documents: int
    passages: int
    next_number: int
    graph_size: int = 0
    source_chars: int = 0
    build_s: float = 0.0
    roots: tuple[Root, ...] = ()
    access: str = ""
    files: dict[str, tuple[int, str]] = {}


class Version(msgspec.Struct, frozen=True):
    """The fields of a manifest of any version."""

    format: int
    roots: tuple[Root, ...] = ()
    access: str = ""


class OlderFormat(IndexProblem):
    """The index was made by an older version; `found` is what can still be known of it."""

    def __init__(self, line: str, found: Version) -> None:
        super().__init__(line)
        self.found = found


class NewerFormat(IndexProblem):
    """The index was made by a newer version."""


class Handle(contextlib.AbstractContextManager["Handle"]):
    """A snapshot held open: it is not pruned before `close`, or the end of the `with` block."""

    def __init__(self, directory: Path, manifest: Manifest, lock: IO[bytes]) -> None:
        self.directory = directory
        self.manifest = manifest
        self._lock = lock

    def close(self) -> None:
        self._lock.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def current(index: Path) -> str:
    """The id of the current snapshot. Raises IndexProblem when there is no index."""
    if not index.is_dir():
        raise IndexProblem(f"no index at {index}; {remedy(index)}")
    try:
        snapshot = (index / CURRENT).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise IndexProblem(f"{index} holds no finished index; {remedy(index)}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise IndexProblem(f"{index / 'current'} cannot be read ({error})") from error
    if not _ID.fullmatch(snapshot):
        raise IndexProblem(f"{index / 'current'} does not name a snapshot; build the index again")
    return snapshot


def exists(index: Path) -> bool:
    return (index / CURRENT).is_file()


def names(index: Path) -> list[str]:
    """All finished snapshots, oldest first."""
    folder = index / "snapshots"
    match = [path.name for path in folder.iterdir() if _ID.fullmatch(path.name)] if folder.is_dir() else []
    return sorted(match, key=sequence)


def newest_access(index: Path) -> str | None:
    """Which groups see which document in the newest snapshot, damaged or not, as a digest; None when that cannot be read."""
    try:
        raw = (index / "snapshots" / names(index)[-1] / "manifest.json").read_bytes()
        return msgspec.json.decode(raw, type=Version).access
    except (OSError, IndexError, msgspec.DecodeError):
        return None


def sequence(snapshot: str) -> int:
    match = _ID.fullmatch(snapshot)
    return int(match[1]) if match else 0


def hold(index: Path, snapshot: str | None = None) -> Handle:
    """Open a snapshot for reading, by default the current one. Raises IndexProblem."""
    while True:
        name = snapshot or current(index)
        directory = index / "snapshots" / name
        try:
            lock = (directory / "readers").open("rb")
        except OSError as error:
            if snapshot is None and current(index) != name:
                continue  # published and pruned between the two reads
            kept = ", ".join(names(index)) or "none"
            raise IndexProblem(f"no snapshot {name} in {index} (there is: {kept}); name one of these") from error
        fcntl.flock(lock, fcntl.LOCK_SH)
        if directory.is_dir():
            break
        lock.close()
    try:
        return Handle(directory, read_manifest(directory), lock)
    except IndexProblem:
        lock.close()
        raise


def read_manifest(directory: Path) -> Manifest:
    """Raises IndexProblem for a snapshot that is incomplete, OlderFormat or NewerFormat for one of another version."""
    path = directory / "manifest.json"
    try:
        raw = path.read_bytes()
        result = msgspec.json.decode(raw, type=Version)
        if result.format > FORMAT:
            raise NewerFormat(
                f"{directory} is of format {result.format}, made by a newer version; update Groundwire, or build the index again"
            )
        if result.format < FORMAT:
            index = directory.parent.parent
            raise OlderFormat(
                f"format {result.format} of {index} is of an older version;"
                f" build it again with 'groundwire index build PATH --index {index}'",
                result,
            )
        manifest = msgspec.json.decode(raw, type=Manifest)
    except (OSError, msgspec.DecodeError) as error:
        raise IndexProblem(f"{path} cannot be read ({error}); build the index again") from error
    for name, (size, _) in manifest.files.items():
        try:
            actual = (directory / name).stat().st_size
        except OSError:
            raise IndexProblem(f"{directory / name} is missing; build the index again") from None
        if actual != size:
            raise IndexProblem(f"{directory / name} has {actual} bytes, not {size}; build the index again")
    return manifest


@contextlib.contextmanager
def writing(index: Path) -> Iterator[None]:
    """Become the index's only writer. Raises IndexProblem when another process is, or the folder cannot hold an index."""
    try:
        index.mkdir(mode=0o700, parents=True, exist_ok=True)  # a folder that is there keeps its mode: it may be shared
        (index / "building").mkdir(mode=0o700, exist_ok=True)
        (index / "snapshots").mkdir(exist_ok=True)
        lock = (index / "lock").open("ab")
    except OSError as error:
        raise IndexProblem(f"{index} cannot be written ({error.strerror}); choose another --index") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise IndexProblem(f"another process is writing {index}; wait until it is done") from None
        for leftover in (index / "building").iterdir():
            if leftover.is_dir():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                leftover.unlink(missing_ok=True)
        yield


def next_id(index: Path) -> str:
    last = max((sequence(name) for name in names(index)), default=0)
    return f"s{last + 1:06d}-{os.urandom(4).hex()}"


def adopt(index: Path, building: Path, name: str, raw: bytes) -> None:
    """Make what another machine has built the current snapshot; its files are in `building`, `raw` is its manifest."""
    (building / "readers").touch()
    for path in building.rglob("*"):
        sync(path)
    _move_in(index, building, name, raw)


def publish(index: Path, building: Path, manifest: Manifest, known: Manifest | None) -> Manifest:
    """Make the finished snapshot in `building` the current one; returns the manifest with its files.

    `known` is the parent's manifest: a file that is a hard link into the parent keeps its digest.
    """
    parent = index / "snapshots" / manifest.parent if manifest.parent else None
    (building / "readers").touch()
    files: dict[str, tuple[int, str]] = {}
    for path in sorted(building.rglob("*")):
        if path.is_file() and path.name not in ("manifest.json", "readers"):
            name = path.relative_to(building).as_posix()
            files[name] = _digest(path, parent / name if parent else None, known.files.get(name) if known else None)
    manifest = msgspec.structs.replace(manifest, files=files)
    _move_in(index, building, manifest.snapshot, msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    return manifest


def _move_in(index: Path, building: Path, name: str, raw: bytes) -> None:
    (building / "manifest.json").write_bytes(raw)
    sync(building / "manifest.json")
    for folder in (building, *(path for path in building.rglob("*") if path.is_dir())):
        sync(folder)
    target = index / "snapshots" / name
    building.rename(target)
    sync(target.parent)
    point_at(index, name)


def discard(building: Path) -> None:
    shutil.rmtree(building)


def point_at(index: Path, snapshot: str) -> None:
    replace_file(index / CURRENT, f"{snapshot}\n".encode("ascii"))


def prune(index: Path, keep: int = KEEP) -> None:
    """Delete all but the newest `keep` snapshots, the current one, and those being read. Call under `writing`."""
    now, known = current(index), names(index)
    for name in known[: max(len(known) - keep, 0)]:
        directory = index / "snapshots" / name
        if name == now:
            continue
        with contextlib.suppress(OSError), (directory / "readers").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Rename it first: a half-deleted snapshot must never be opened.
            doomed = index / "building" / f"pruned-{name}"
            directory.rename(doomed)
            shutil.rmtree(doomed, ignore_errors=True)


def link(source: Path, target: Path) -> None:
    """Hard-link a file of the parent snapshot into a new one; copies it where the file system has no hard links."""
    try:
        target.hardlink_to(source)
    except OSError:
        shutil.copy2(source, target)


def link_tree(source: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for path in source.iterdir():
        if path.name != "write.lock":
            link(path, target / path.name)


def verify_files(directory: Path, manifest: Manifest) -> list[str]:
    """Differences from the manifest, one line each; empty for an intact snapshot."""
    problems = []
    for name, (size, digest) in manifest.files.items():
        path = directory / name
        if not path.is_file():
            problems.append(f"{name} is missing")
        elif path.stat().st_size != size or sha256_of(path) != digest:
            problems.append(f"{name} has changed")
    return problems


def _digest(path: Path, older: Path | None, known: tuple[int, str] | None) -> tuple[int, str]:
    if older is not None and known is not None:
        with contextlib.suppress(FileNotFoundError):
            if older.samefile(path):
                return known
    sync(path)
    return path.stat().st_size, sha256_of(path)


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
