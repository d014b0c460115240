"""`python -m index.build.vectors_process` computes the vectors of a build, in a process of its own.

Beside the process with the JVM, which does the terms meanwhile. The path of a job file on standard input says what to do;
progress goes to standard output as JSON lines; when the builder dies, standard input ends and this process exits.
"""

import importlib
import os
import sys
import threading
from pathlib import Path

import msgspec

from index.build import vectors as build_vectors
from index.build_job import Job, Progress
from index.errors import IndexProblem
from index.java import jvm


def main() -> None:
    jvm.limit_blas()  # more threads gain nothing on matrices of this size, and wait for each other on busy cores
    importlib.import_module("scipy.sparse")  # loaded while the documents are still being read
    path = os.fsdecode(_line())
    threading.Thread(target=_die_with_parent, daemon=True).start()
    os.nice(5)  # searches in the snapshot in service take precedence
    job = msgspec.json.decode(Path(path).read_bytes(), type=Job)
    try:
        results = build_vectors.run(job, lambda task, done, total: _say(Progress(task, done, total)))
    except IndexProblem as problem:
        _say(Progress("vectors", error=str(problem)))
        os._exit(1)
    _say(Progress("vectors", results=results))
    os._exit(0)


def _say(progress: Progress) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(progress) + b"\n")
    sys.stdout.flush()


def _line() -> bytes:
    """The first line of standard input; exits when there will be none."""
    line = b""
    while more := os.read(0, 1024):
        line += more
        if line.endswith(b"\n"):
            return line[:-1]
    os._exit(3)


def _die_with_parent() -> None:
    # Not sys.stdin: a thread holding its lock would abort the interpreter's shutdown.
    while os.read(0, 1024):
        pass
    os._exit(3)


if __name__ == "__main__":
    main()
