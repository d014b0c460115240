"""How far a build is: bars on a terminal, now and then a line elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from index.build_job import Tell
from runtime.commands.consoles import plain_console
from runtime.commands.terminal import say

_LABELS = {
    "read": "Reading files",
    "records": "Reading bytes of records",
    "bm25": "BM25",
    "fit": "Fitting vectors",
    "vectors": "Vectors",
    "graph": "Linking vectors",
    "embed": "Embedding",
    "push": "Sending MB",
    "pull": "Fetching MB",
}
#: Without a terminal: no line before this, nor sooner than this after another.
_QUIET_S = 5.0


@contextmanager
def bars() -> Iterator[Tell]:
    """A progress bar per reported task, cleared at the end; lines on standard error where that is no terminal."""
    if not sys.stderr.isatty():
        yield lines(lambda line: say(line, err=True))
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=plain_console(stderr=True), transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def tell(task: str, done: int, total: int) -> None:
            if task not in tasks:
                tasks[task] = progress.add_task(_LABELS.get(task, task), total=total)
            progress.update(tasks[task], completed=done, total=total)

        yield tell


def lines(say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> Tell:
    """Says a line when a task begins and with every tenth of it, five seconds apart at least; nothing of a short build."""
    last = clock()
    tenths: dict[str, int] = {}

    def tell(task: str, done: int, total: int) -> None:
        nonlocal last
        now, tenth = clock(), 10 * done // max(total, 1)
        if now - last >= _QUIET_S and tenth > tenths.get(task, -1):
            last, tenths[task] = now, tenth
            say(f"{_LABELS.get(task, task)} {done:,} of {total:,}")

    return tell
