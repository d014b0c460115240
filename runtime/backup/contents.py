"""The list of what a backup holds, and files that are copied with their digests."""

import hashlib
import os
import shutil
from pathlib import Path, PurePosixPath

import msgspec

from bus.wire.errors import Failure
from bus.wire.subjects import EVENTS, RUNS
from index.durable import sync
from index.snapshot import snapshot
from runtime.keys import decode_keys

FORMAT = 1
LIST = "backup.json"
#: In the folder `state` of a backup.
KEYS_FILE, SETTINGS_FILE, PROFILES = "keys.json", "groundwire.toml", "profiles"


class BackupProblem(Failure):
    """A backup cannot be written or read; the message says why and what to do."""


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """`files` maps each file's path in the backup to its size and SHA-256. `streams`: names of the streams of the journal."""

    format: int
    created: str
    snapshot: str
    streams: tuple[str, ...]
    files: dict[str, tuple[int, str]]


def copy(source: Path, target: Path) -> None:
    """Copy a file, readable by its owner alone, and have it on disk. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with source.open("rb") as from_, open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as to:
        shutil.copyfileobj(from_, to)
    sync(target)


def copy_tree(source: Path, target: Path) -> None:
    """Copy every file below a folder. Raises OSError."""
    for path in sorted(source.rglob("*")):
        if path.is_file():
            copy(path, target / path.relative_to(source))


def sync_tree(path: Path) -> None:
    """Have a file, or a folder with all that is in it, on disk. Raises OSError."""
    for each in (path, *(path.rglob("*") if path.is_dir() else ())):
        if not each.is_symlink():
            sync(each)


def digests(folder: Path) -> dict[str, tuple[int, str]]:
    return {
        path.relative_to(folder).as_posix(): digest(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path != folder / LIST
    }


def digest(path: Path) -> tuple[int, str]:
    with path.open("rb") as file:
        return path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()


def read(folder: Path) -> Contents:
    """The list of a whole and undamaged backup, which holds nothing else. Raises BackupProblem."""
    if not (folder / LIST).is_file():
        raise BackupProblem(f"{folder} holds no finished backup; make one with `groundwire backup`")
    try:
        found = msgspec.json.decode((folder / LIST).read_bytes(), type=Contents)
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        raise BackupProblem(f"{folder / LIST} cannot be read ({error}); take another backup") from None
    if found.format != FORMAT:
        raise BackupProblem(f"{folder} is of format {found.format}, made by another version; restore it with that one")
    needed = {f"index/snapshots/{found.snapshot}/manifest.json"}
    needed |= {f"journal/{stream}.{kind}" for stream in found.streams for kind in ("json", "stream")}
    if not (
        snapshot.sequence(found.snapshot)
        and {EVENTS, RUNS}.issuperset(found.streams)
        and needed <= set(found.files)
        and all(map(_is_below, found.files))
    ):
        raise BackupProblem(f"{folder / LIST} is not what `groundwire backup` writes; take another backup")
    for path in folder.rglob("*"):
        listed = path.is_dir() or (path.is_file() and path.relative_to(folder).as_posix() in (*found.files, LIST))
        if path.is_symlink() or not listed:
            raise BackupProblem(f"{path} is not of this backup, whose list does not name it; remove it")
    for name, (size, sha) in found.files.items():
        try:
            intact = digest(folder / name) == (size, sha)
        except OSError:
            intact = False
        if not intact:
            raise BackupProblem(f"{folder / name} is missing or damaged; take another backup")
    if (keys := folder / "state" / KEYS_FILE).exists():
        try:
            decode_keys(keys.read_bytes())
        except (OSError, msgspec.DecodeError, ValueError, RecursionError) as error:
            raise BackupProblem(f"{keys} is no file of keys ({error}); take another backup") from None
    return found


def _is_below(name: str) -> bool:
    """Whether a path of the list names something in the backup, in one way."""
    path = PurePosixPath(name)
    return "\0" not in name and not path.is_absolute() and ".." not in path.parts and str(path) == name
