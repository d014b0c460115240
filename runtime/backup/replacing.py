"""New files in the place of others: made beside them, and moved in together; the old stay until all of the new are there."""

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from runtime.backup.contents import BackupProblem, sync_tree

#: What is added to the name of what is new and not whole yet, and of what is old and was put aside.
NEW, OLD = ".restoring", ".replaced"


class Replacing:
    """Everything is as it was when this is left by an exception, also half-way through; otherwise the old is deleted."""

    def __init__(self) -> None:
        self._made: list[tuple[Path, Path]] = []
        self._undo: list[Callable[[], object]] = []
        self._drop: list[Path] = []

    def beside(self, place: Path) -> Path:
        """Where the new is made that `move_in` moves to that place; there is nothing there yet. Raises OSError."""
        made = place.with_name(place.name + NEW)
        remove(made)
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._made.append((made, place))
        self._drop.append(made)
        return made

    def scratch(self, folder: Path) -> Path:
        """A folder to work in, empty now and gone in the end. Raises OSError."""
        remove(folder)
        self._drop.append(folder)
        return folder

    def move_in(self) -> None:
        """Move all that was made, whole and on disk, to its place. Raises OSError."""
        for made, _ in self._made:
            sync_tree(made)
        for made, place in self._made:
            self.make_way(place)
            made.rename(place)

    def make_way(self, place: Path) -> None:
        """Put aside what is there; what comes there instead is removed if all is undone. Raises OSError."""
        if present(place):
            old = place.with_name(place.name + OLD)
            place.rename(old)
            self._drop.append(old)
            self._undo.append(lambda: old.rename(place))
        self._undo.append(lambda: remove(place))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            for undo in reversed(self._undo):
                undo()
        for path in self._drop:
            with contextlib.suppress(OSError):
                remove(path)


def put_back_aside(place: Path) -> None:
    """Put back what a restore that was killed had put aside. Raises BackupProblem where something else has come since."""
    old = place.with_name(place.name + OLD)
    if not present(old):
        return
    if present(place):
        raise BackupProblem(
            f"{old} was put aside by a restore that was killed, and {place} has come since; move one of them away"
        )
    old.rename(place)


def present(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def remove(path: Path) -> None:
    """Raises OSError."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
