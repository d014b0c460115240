"""Folders and files that only their owner may read."""

import os
from pathlib import Path
from typing import IO


def private_folder(folder: Path) -> None:
    """Make the folder, or take others' rights to it away. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)


def open_private(path: Path, *, append: bool = False) -> IO[bytes]:
    """Open a file for writing. Raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC), 0o600)
    os.fchmod(descriptor, 0o600)
    return os.fdopen(descriptor, "ab" if append else "wb")
