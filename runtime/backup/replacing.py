"""New files in the place of others: made beside them, and moved in together; the old stay until all of the new are there.

What goes on stands in a note, so that whoever comes after a process that was killed undoes it, or clears up behind what was done.
"""

import contextlib
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import msgspec
from msgspec.structs import replace

from index.snapshot.snapshot import sync
from runtime.backup.contents import BackupProblem, sync_tree
from runtime.processes.private_files import open_private

#: What is added to the name of what is new and not whole yet, and of what is old and was put aside.
NEW, OLD = ".restoring", ".replaced"


class Step(msgspec.Struct, frozen=True):
    """One place, and where the new is made for it; empty where nothing comes. `there`: something was there before it moved in."""

    place: bytes
    made: bytes = b""
    there: bool = False


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """`making`: nothing has moved; `moving`: some may have; `done`: all have, and the old may go."""

    phase: Literal["making", "moving", "done"] = "making"
    steps: tuple[Step, ...] = ()
    scratch: tuple[bytes, ...] = ()


class Replacing:
    """Everything is as it was when this is left by an exception, also half-way through; otherwise the old is deleted."""

    def __init__(self, noted: Path) -> None:
        """`noted`: the file of the note, which is there while this goes on."""
        self._noted = noted
        self._note = Note()

    def beside(self, place: Path, made: Path | None = None) -> Path:
        """Where the new is made that `move_in` moves to that place; there is nothing there yet. Raises OSError, BackupProblem."""
        made = made or place.with_name(place.name + NEW)
        self._add(Step(os.fsencode(place.absolute()), os.fsencode(made.absolute())))
        remove(made)
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return made

    def without(self, place: Path) -> None:
        """`move_in` puts aside what is there, and nothing comes in its place, unless it was made. Raises OSError, BackupProblem."""
        step = Step(os.fsencode(place.absolute()))
        if step.place not in [other.place for other in self._note.steps]:
            self._add(step)

    def scratch(self, folder: Path) -> Path:
        """A folder to work in, empty now and gone in the end. Raises OSError."""
        self._write(replace(self._note, scratch=(*self._note.scratch, os.fsencode(folder.absolute()))))
        remove(folder)
        return folder

    def move_in(self) -> None:
        """Move all that was made, whole and on disk, to its place, in the order in which it was begun. Raises OSError."""
        for step in self._note.steps:
            if step.made:
                sync_tree(_path(step.made))
        steps = tuple(replace(step, there=present(_path(step.place))) for step in self._note.steps)
        self._write(replace(self._note, phase="moving", steps=steps))
        for step in steps:
            _move(step)
        for folder in {_path(step.place).parent for step in steps}:
            if folder.is_dir():
                sync(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            try:
                self._write(replace(self._note, phase="done"))
            except BaseException:
                _clear_up(self._note, self._noted)
                raise
            with contextlib.suppress(OSError):  # whoever comes next can, too
                _clear_up(self._note, self._noted)
        else:
            _clear_up(self._note, self._noted)

    def _add(self, step: Step) -> None:
        place = _path(step.place)
        if present(old := _aside(place)):
            raise BackupProblem(f"{old} was put aside by another restore; move it away, or back to {place}")
        self._write(replace(self._note, steps=(*self._note.steps, step)))

    def _write(self, note: Note) -> None:
        begun = _begun(self._noted)
        with open_private(begun) as file:
            file.write(msgspec.json.encode(note))
        sync(begun)
        begun.rename(self._noted)
        sync(self._noted.parent)
        self._note = note


def settle(noted: Path) -> str:
    """Undo what was going on when a process was killed, or clear up behind it: `undone` or `finished`, empty for nothing.

    Nobody else may be at it. Raises BackupProblem.
    """
    try:
        note = msgspec.json.decode(noted.read_bytes(), type=Note)
        _clear_up(note, noted)
    except FileNotFoundError as error:
        if noted.exists():
            raise _stuck(error) from None
        _begun(noted).unlink(missing_ok=True)
        return ""
    except OSError as error:
        raise _stuck(error) from None
    except msgspec.DecodeError as error:
        raise BackupProblem(f"{noted} cannot be read ({error}); restore again, and remove it first") from None
    return "finished" if note.phase == "done" else "undone"


def _stuck(error: OSError) -> BackupProblem:
    where = f"{error.filename}: " if error.filename else ""
    return BackupProblem(f"{where}{error.strerror}; a restore was killed, and this is in the way of undoing it")


def _clear_up(note: Note, noted: Path) -> None:
    """Can be repeated from any point at which it was broken off. Raises OSError."""
    if note.phase == "moving":
        for step in reversed(note.steps):
            _move_back(step)
    for step in note.steps:
        if step.made:
            remove(_path(step.made))
        if note.phase == "done":
            remove(_aside(_path(step.place)))
    for folder in note.scratch:
        remove(_path(folder))
    for file in (_begun(noted), noted):
        file.unlink(missing_ok=True)


def _begun(noted: Path) -> Path:
    return noted.with_name(noted.name + NEW)


def _move(step: Step) -> None:
    place = _path(step.place)
    if step.there:
        old = _aside(place)
        _put_aside(place, old, stays=bool(step.made))
    if step.made:
        _path(step.made).rename(place)


def _put_aside(place: Path, old: Path, *, stays: bool) -> None:
    """`stays`: a file is never away, since a process may be reading it."""
    if stays and place.is_file() and not place.is_symlink():
        with contextlib.suppress(OSError):  # a file system without hard links
            old.hardlink_to(place)
            return
    place.rename(old)


def _move_back(step: Step) -> None:
    place = _path(step.place)
    old = _aside(place)
    if not step.there:
        if step.made and not present(_path(step.made)):
            remove(place)
    elif present(old):
        if old.is_dir() and not old.is_symlink():
            remove(place)
        old.rename(place)
        remove(old)  # it was the same file still


def _aside(place: Path) -> Path:
    return place.with_name(place.name + OLD)


def _path(name: bytes) -> Path:
    return Path(os.fsdecode(name))


def present(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def remove(path: Path) -> None:
    """Raises OSError."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
