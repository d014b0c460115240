"""Replace some files and be killed at each step of it, and at some step of finishing it.

    python -m tests.runtime.killed_replacing FOLDER

Prints JSON for each step: whether the file of the keys was always there, and the files with their texts in the end.
"""

import itertools
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from runtime.backup.replacing import NEW, Replacing, finish

#: Python's audit events for changes of a folder.
STEPS = {"os.rename", "os.link", "os.remove", "os.rmdir", "os.mkdir"}


def dies(at: int, work: Callable[[], object]) -> bool:
    """Whether it was killed before the step with that number."""
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, 9), code
        return code == 9
    left = at

    def watch(event: str, arguments: object) -> None:
        nonlocal left
        if event in STEPS:
            left -= 1
            if left < 0:
                os._exit(9)

    sys.addaudithook(watch)
    try:
        work()
        os._exit(0)
    finally:
        os._exit(1)


def laid_out(folder: Path) -> None:
    """Old files that are replaced or put aside, and places where there is nothing yet."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "jetstream").mkdir(parents=True)
    (folder / "jetstream" / "runs").write_text("old")
    for name in ("keys.json", "current", "skipped.json"):
        (folder / name).write_text("old")


def replaced(folder: Path) -> None:
    with Replacing(folder / "restore.json") as new:
        new.beside(folder / "keys.json").write_text("new")
        for name in ("jetstream", "profiles"):
            made = new.beside(folder / name)
            made.mkdir()
            (made / "runs").write_text("new")
        new.beside(folder / "users.json").write_text("new")
        new.without(folder / "skipped.json")
        new.without(folder / "jetstream")
        new.beside(folder / "current").write_text("new")
        new.move_in()


def there(folder: Path) -> dict[str, str]:
    """The text of each file, without those that the next restore removes."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and NEW not in str(path))
    return {str(path.relative_to(folder)): path.read_text() for path in files if not path.name.startswith(".")}


def main(folder: Path) -> None:
    os.fsync = lambda descriptor: None  # a killed process loses nothing that it wrote, and a busy disk takes long
    found = []
    for at in itertools.count():
        laid_out(folder)
        killed = dies(at, lambda: replaced(folder))
        kept = (folder / "keys.json").read_text() in ("old", "new")
        dies(at * 5 % 23, lambda: finish(folder / "restore.json"))
        finish(folder / "restore.json")
        found.append([kept, there(folder)])
        if not killed:
            break
    print(json.dumps(found))


main(Path(sys.argv[1]))
