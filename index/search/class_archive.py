"""Java's classes as Java has them in memory, in a file of the user's cache folder, so that no start reads them from a jar.

`make_behind` has it made by a process of its own, which outlives this one: it opens the index, writes down which classes that took,
and has Java write those. The first process makes it; all others start without until it is there.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from index.errors import IndexProblem
from index.java import jvm

#: Seconds after which an attempt that left nothing is made again: it was killed, or Java cannot do it here.
AGAIN_S = 24 * 3600.0
#: Seconds after which an archive that no start has used is removed.
KEPT_S = 60 * 24 * 3600.0
_LONGEST_S = 120.0
#: Begins the names of the folders in which archives are made.
_MAKING = "making-"

_started: list[subprocess.Popen[bytes]] = []


def make_behind(index: Path) -> None:
    """Begin to make the archive, from the classes of a search of that index, unless it exists or another process makes it."""
    try:
        target = jvm.archive_of(jvm.found())
    except IndexProblem:
        return
    if target is None or target.exists() or _tried_lately(target) or not _private(target.parent):
        return
    command = [sys.executable, "-P", "-m", "index.search.class_archive", str(index.absolute())]
    _started.append(
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    )


def make(index: Path) -> Path | None:
    """Make the archive now, from what a search of that index takes; None when another process does, or it cannot be made here."""
    java = jvm.found()
    target = jvm.archive_of(java)
    if target is None or target.exists() or not _private(target.parent) or not _claimed(target):
        return None
    _remove_unused(target.parent)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=_MAKING) as folder:
        classes, made = Path(folder) / "classes", Path(folder) / "made"
        record = [sys.executable, "-P", "-m", "index.search.class_archive", str(index.absolute()), str(classes)]
        subprocess.run(record, check=True, timeout=_LONGEST_S)
        dump = ["-Xshare:dump", f"-XX:SharedClassListFile={classes}", f"-XX:SharedArchiveFile={made}"]
        command = [str(java.home / "bin" / "java"), *jvm.options_of(java), *dump, "-cp", str(java.jar)]
        subprocess.run(command, check=True, timeout=_LONGEST_S, stdout=subprocess.DEVNULL)
        made.replace(target)
    _claim(target).unlink(missing_ok=True)
    return target


def record(index: Path, classes: Path) -> None:
    """Search that index, and write down every class that Java loads for it."""
    jvm.start(brief=True, record=classes)
    from index.search.searcher import Searcher

    searcher = Searcher.open(index)
    searcher.search("class archive", k=1, bm25_k=1, vector_k=1)
    searcher.close()


def _private(folder: Path) -> bool:
    """Whether the folder is there, or can be made, and only its owner writes to it: what lies in it is run."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        stat = folder.stat()
    except OSError:
        return False
    return stat.st_uid == os.getuid() and not stat.st_mode & 0o022 and os.access(folder, os.W_OK)


def _claim(target: Path) -> Path:
    return target.with_suffix(".begun")


def _tried_lately(target: Path) -> bool:
    try:
        return time.time() - _claim(target).stat().st_mtime < AGAIN_S
    except OSError:
        return False


def _claimed(target: Path) -> bool:
    """Whether it is this process that makes it."""
    if not _tried_lately(target):
        _claim(target).unlink(missing_ok=True)
    try:
        _claim(target).touch(exist_ok=False)
    except OSError:
        return False
    return True


def _remove_unused(folder: Path) -> None:
    """Remove the archives of installations that are gone, and the remains of killed attempts."""
    for each in folder.glob(f"{_MAKING}*"):
        shutil.rmtree(each, ignore_errors=True)
    for kind, kept_s in (("jsa", KEPT_S), ("begun", AGAIN_S)):
        for each in folder.glob(f"java-*.{kind}"):
            if time.time() - each.stat().st_mtime > kept_s:
                each.unlink(missing_ok=True)


if __name__ == "__main__":
    os.nice(19)
    if len(sys.argv) == 2:
        make(Path(sys.argv[1]))
    else:
        record(Path(sys.argv[1]), Path(sys.argv[2]))
