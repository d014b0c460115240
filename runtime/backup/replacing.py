"""New files that replace others together: made beside them, and moved in once all of them are whole.

When everything is made and on disk, one rename puts a note there. A restore that is killed before has changed nothing, and the next
restore removes what it made. After it the next command moves in the rest.
"""

import contextlib
import fcntl
import os
import shutil
from pathlib import Path

import msgspec

from index.durable import replace_file, sync
from runtime.backup.contents import BackupProblem, sync_tree
from runtime.processes.private_files import open_private
from runtime.processes.state_folder import RESTORE_NOTE, take

#: Added to the name of a new file or folder until it moves in.
NEW = ".restoring"


class Move(msgspec.Struct, frozen=True):
    """A place, and where its new content is made; empty if the place stays empty. Paths are in the file system's encoding."""

    place: bytes
    made: bytes = b""


class Replacing(contextlib.AbstractContextManager["Replacing"]):
    """Leaving this by an exception before `move_in` removes everything that was made."""

    def __init__(self, note: Path) -> None:
        self._note = note
        self._made: dict[Path, Path | None] = {}

    def beside(self, place: Path, made: Path | None = None) -> Path:
        """Where to make the new content of a place; nothing is there yet. Raises OSError."""
        made = made or place.with_name(place.name + NEW)
        self._made[place.absolute()] = made.absolute()
        remove(made)
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return made

    def without(self, place: Path) -> None:
        """Remove what is at this place unless new content is made for it."""
        self._made.setdefault(place.absolute(), None)

    def move_in(self) -> None:
        """Move everything that was made to its place, in the order in which it was begun. Raises OSError, BackupProblem."""
        for made in filter(None, self._made.values()):
            sync_tree(made)
        moves = [Move(os.fsencode(place), os.fsencode(made) if made else b"") for place, made in self._made.items()]
        replace_file(self._note, msgspec.json.encode(moves), mode=0o600)
        finish(self._note)

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None and not self._note.exists():
            for made in filter(None, self._made.values()):
                remove(made)


def finish_killed(state: Path) -> bool:
    """Move in the rest of a restore that was killed. False: there is none, or another process is at it. Raises BackupProblem."""
    with open_private(state / "lock") as lock:
        return take(lock, fcntl.LOCK_EX) and finish(state / RESTORE_NOTE)


def finish(note: Path) -> bool:
    """Move in what a note names; may be repeated after a kill at any step. False: there is no note. Raises BackupProblem."""
    try:
        moves = msgspec.json.decode(note.read_bytes(), type=list[Move])
        for move in moves:
            place, made = Path(os.fsdecode(move.place)), Path(os.fsdecode(move.made))
            if not move.made:
                remove(place)
            elif os.path.lexists(made):
                if place.is_dir():
                    remove(place)
                made.replace(place)
                sync(place.parent)
        note.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise BackupProblem(
            f"{error.filename or note}: {error.strerror}; a restore was killed, and cannot go on"
        ) from None
    except msgspec.DecodeError as error:
        raise BackupProblem(f"{note} cannot be read ({error}); remove it, and restore again") from None
    return True


def remove(path: Path) -> None:
    """Raises OSError."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
