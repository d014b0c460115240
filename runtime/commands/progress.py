"""How far a build is and how long it will take: bars on a terminal, now and then a line elsewhere."""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from index.build_job import Tell
from index.reading.pool import READING
from runtime.commands.consoles import plain_console
from runtime.terminal import one_line, say

#: Of a task: what its bar is called, and its line where there is no terminal.
_TASKS = {
    "read": ("Reading files", "read {} of {} documents"),
    "records": ("Reading bytes of records", "read {} of {} bytes of records"),
    "bm25": ("BM25", "indexed {} of {} passages for BM25"),
    "vectors": ("Vectors", "made vectors of {} of {} passages"),
    "graph": ("Linking vectors", "graph {} of {}"),
    "embed": ("Embedding", "embedded {} of {} passages"),
    "push": ("Sending MB", "push {} of {}"),
    "pull": ("Fetching MB", "pull {} of {}"),
    "check": ("Checking sentences", "checked {} of {} sentences"),
}
#: Without a terminal: no line before this, nor sooner than this after another.
_QUIET_S = 10.0
#: The remaining time is estimated from so many lines back, so that a slower or a skipped part shows soon.
_LOOK_BACK = 6


@contextmanager
def bars() -> Iterator[Tell]:
    """A progress bar per reported task, cleared at the end; lines on standard error where that is no terminal."""
    if not sys.stderr.isatty():
        yield lines(lambda line: say(line, err=True))
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    # Rich measures the speed over the last 30 s unless otherwise set, and shows no time left where one file takes longer.
    with Progress(*columns, console=plain_console(stderr=True), transient=True, speed_estimate_period=600) as progress:
        tasks: dict[str, TaskID] = {}

        def tell(task: str, done: int, total: int) -> None:
            if task not in tasks:
                label = _TASKS.get(task, (task,))[0]
                label = f"Seconds of {one_line(task)[-60:]}" if task.startswith(READING) else label
                tasks[task] = progress.add_task(label, total=total)
            progress.update(tasks[task], completed=done, total=total)
            for other, number in tasks.items():
                if other.startswith(READING):
                    progress.update(number, visible=other == task)

        yield tell


def lines(say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> Tell:
    """Prints a line every ten seconds with the remaining time; nothing for a short build."""
    last = clock()
    seen: dict[str, deque[tuple[float, int]]] = {}  # when how much of a task was done

    def tell(task: str, done: int, total: int) -> None:
        nonlocal last
        now = clock()
        earlier = seen.setdefault(task, deque([(now, done)], maxlen=_LOOK_BACK))
        if now - last < _QUIET_S or done <= earlier[-1][1]:
            return
        then, done_then = earlier[0]
        if task.startswith(READING):
            say(one_line(f"{task}: {done} s; stopped at {total} s"))
            last = now
            return
        left = f", {_rounded((now - then) / (done - done_then) * (total - done))} left" if done < total else ""
        say(_TASKS.get(task, ("", f"{task} {{}} of {{}}"))[1].format(f"{done:,}", f"{total:,}") + left)
        earlier.append((now, done))
        last = now

    return tell


def _rounded(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
