"""A restore that was killed is undone before its places are looked at; imports next to nothing, for everyone does that."""

import fcntl
from pathlib import Path

from bus.wire.errors import Unavailable
from runtime.processes.private_files import open_private
from runtime.processes.state_folder import state_folder, take
from runtime.settings import Settings


def note_in(state: Path) -> Path:
    """There while something is put back over that state folder."""
    return state / "restore.json"


def settled(settings: Settings) -> str:
    """Undo what a restore over the settings' index had begun when it was killed; what was done, in a word, empty for nothing.

    Raises BackupProblem.
    """
    try:
        state = state_folder(settings)
        if not note_in(state).exists():
            return ""
    except (Unavailable, OSError):  # told by who needs what is there
        return ""
    from runtime.backup.contents import BackupProblem
    from runtime.backup.replacing import settle

    try:
        with open_private(state / "lock") as lock:
            # Else a restore is not over, another does the same, or a stack runs, which began when nothing was left to undo.
            return settle(note_in(state)) if take(lock, fcntl.LOCK_EX) else ""
    except OSError as error:
        raise BackupProblem(f"{state}: {error.strerror}; a restore that was killed cannot be undone") from None
