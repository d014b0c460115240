"""The work of a build that one process does beside another: `python -m index.worker JOB` makes the vectors.

Fitting wants BLAS on all cores, which must not run beside a Java machine, so a build that fits on much does it in a process of
its own. A job file says what to do; progress goes to standard output as JSON lines; when the builder dies, standard input
ends and so does the worker.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from index.errors import IndexProblem

#: tell(task, done, total)
Tell = Callable[[str, int, int], None]


class Job(msgspec.Struct, kw_only=True):
    """Paths are absolute. `parent` is "" for a first build. `live` and `removed` are (first, count) ranges of passages.

    `new` are the segments whose passages the parent does not hold. With `lsa` the vectors are made in the job, from a model
    fitted anew when `refit`; otherwise they lie ready in vectors/new.npy, in the order of `new` (of `live`, when `refit`).
    """

    building: str
    parent: str
    live: list[tuple[int, int]]
    removed: list[tuple[int, int]]
    new: list[str]
    languages: dict[str, list[int]]  # language -> passages removed
    dimension: int
    refit: bool
    lsa: bool
    graph_rebuild: bool = False


class Progress(msgspec.Struct, frozen=True):
    """`done` of `total` passages of `task`; `results` come with a worker's last line."""

    task: str
    done: int = 0
    total: int = 0
    results: dict[str, float] = {}
    error: str = ""


def numbers(ranges: list[tuple[int, int]]) -> Iterator[int]:
    for first, count in ranges:
        yield from range(first, first + count)


def main() -> None:
    from index import vector_work

    threading.Thread(target=_die_with_parent, daemon=True).start()
    os.nice(5)  # the searches of the snapshot in service go first
    job = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Job)
    try:
        results = vector_work.run(job, lambda task, done, total: _say(Progress(task, done, total)))
    except IndexProblem as problem:
        _say(Progress("vectors", error=str(problem)))
        os._exit(1)
    _say(Progress("vectors", results=results))
    os._exit(0)


def _say(progress: Progress) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(progress) + b"\n")
    sys.stdout.flush()


def _die_with_parent() -> None:
    # Not sys.stdin: a thread inside its lock would abort the interpreter's own end.
    while os.read(0, 1024):
        pass
    os._exit(3)


if __name__ == "__main__":
    main()
