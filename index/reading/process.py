"""`python -m index.reading.process LIMITS` reads documents in a child process (child.py).

A document without an end, or one that ends the process, costs only itself. Should a library hold Python when the builder dies, the
alarm ends this process.
"""

import io
import os
import signal
import sys
from pathlib import Path

import msgspec

from index.child import OUT_OF_MEMORY, limit, requests
from index.readers import Source, Unreadable, all_formats, read, read_records
from index.reading.job import Limits, Outcome, Task
from index.snapshot.prepared import prepare, prepare_all

#: Seconds after its limit at which a document ends this process even without its builder.
_GRACE = 5


def main() -> None:
    limits = msgspec.json.decode(sys.argv[-1], type=Limits)
    tasks, send = requests(Task)
    limit(memory_bytes=limits.memory_bytes)
    all_formats()
    send([])
    for task in tasks:
        signal.setitimer(signal.ITIMER_REAL, limits.seconds + _GRACE)
        try:
            outcomes = read_task(task, limits)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        signal.setitimer(signal.ITIMER_REAL, 0)
        send(outcomes)


def read_task(task: Task, limits: Limits) -> list[Outcome]:
    """One outcome for a file, one for each record of a stretch of lines. Raises MemoryError."""
    try:
        with Path(os.fsdecode(task.path)).open("rb") as file:
            if not task.lines:
                source = Source(file.read(), task.source_id, task.title, task.suffix)
                return [_outcome(source, task.url, limits)]
            file.seek(task.start)
            lines = io.BufferedReader(io.BytesIO(file.read(task.size_bytes)))
    except OSError as error:
        return [Outcome(task.source_id, reason=f"cannot be read ({error})", this_time=True)]
    results = [(f"{task.source_id} line {task.line + number - 1}", one) for number, one in read_records(lines)]
    prepared = iter(prepare_all(one for _, one in results if not isinstance(one, Unreadable)))
    return [
        Outcome.problem(name, one) if isinstance(one, Unreadable) else Outcome(name, next(prepared))
        for name, one in results
    ]


def _outcome(source: Source, url: str, limits: Limits) -> Outcome:
    name = source.source_id
    try:
        document = read(source)
        if len(document.text) > limits.characters:
            raise Unreadable(f"more than {limits.characters / 1e6:g} million characters of text; split it")
        if url and not document.url:
            document = msgspec.structs.replace(document, url=url)
        return Outcome(name, prepare(document))
    except Unreadable as reason:
        return Outcome.problem(name, reason)


if __name__ == "__main__":
    main()
