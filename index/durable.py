"""Files that are whole: no reader sees half of one, and none that was written is lost when the machine stops."""

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Force a file, or the names in a folder, to disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_file(path: Path, data: bytes, *, mode: int = 0o666, durable: bool = True) -> None:
    """Write a file, or replace it as a whole. Raises OSError; then the file is as before.

    `durable`: on disk when this returns; otherwise a crash of the machine may lose it.
    """
    made = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        made.replace(path)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
    if durable:
        sync(path.parent)
