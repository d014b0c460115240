"""`python -m index.reading.process LIMITS` reads documents that it is told on standard input, in a process of its own.

So a document without an end, or one that ends the process, costs only itself. When the builder dies, standard input ends and
this process exits; should a library hold Python at that moment, the alarm ends it.
"""

import contextlib
import io
import os
import queue
import resource
import signal
import sys
import threading
from pathlib import Path

import msgspec

from index.readers.formats import Source, formats, read
from index.readers.records import read_records
from index.readers.unreadable import Unreadable
from index.reading.job import LENGTH, OUT_OF_MEMORY, Limits, Outcome, Task, framed
from index.snapshot.prepared import prepare, prepare_all

#: Seconds after its limit at which a document ends this process even when nobody is there to end it.
_GRACE = 5


def main() -> None:
    limits = msgspec.json.decode(sys.argv[-1], type=Limits)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the builder too, which ends this process
    replies = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)  # what a library prints is not a reply
    _limit_memory(limits.memory_bytes)
    formats()
    tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(tasks,), daemon=True).start()
    _send(replies, [])
    while True:
        task = tasks.get()
        signal.setitimer(signal.ITIMER_REAL, limits.seconds + _GRACE)
        try:
            outcomes = read_task(task, limits)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        signal.setitimer(signal.ITIMER_REAL, 0)
        _send(replies, outcomes)


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
    found = [(f"{task.source_id} line {task.line + number - 1}", one) for number, one in read_records(lines)]
    prepared = iter(prepare_all(one for _, one in found if not isinstance(one, Unreadable)))
    return [
        Outcome.problem(name, one) if isinstance(one, Unreadable) else Outcome(name, next(prepared))
        for name, one in found
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


def _limit_memory(size_bytes: int) -> None:
    """Where the system does not obey this, the builder looks at how much memory the process holds."""
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (size_bytes, size_bytes))


def _send(replies: io.BufferedWriter, outcomes: list[Outcome]) -> None:
    replies.write(framed(outcomes))
    replies.flush()


def _receive(tasks: "queue.SimpleQueue[Task]") -> None:
    """Put what comes on standard input in the queue, and end the process when the builder is gone."""
    decoder = msgspec.msgpack.Decoder(Task)
    received = b""
    # Not sys.stdin: a thread holding its lock would abort the interpreter's shutdown.
    while more := os.read(0, 1 << 16):
        received += more
        while len(received) >= LENGTH and len(received) >= (end := LENGTH + int.from_bytes(received[:LENGTH])):
            tasks.put(decoder.decode(received[LENGTH:end]))
            received = received[end:]
    os._exit(3)


if __name__ == "__main__":
    main()
