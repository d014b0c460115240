"""`python -m index.build.vectors_process` computes the vectors of a build in a child process (child.py).

The process with the JVM does the terms meanwhile.
"""

import importlib
import os

from index.build import vectors as build_vectors
from index.build_job import Job, Progress
from index.child import requests
from index.errors import IndexProblem
from index.java import jvm


def main() -> None:
    jvm.limit_blas()  # more threads gain nothing on matrices of this size, and wait for each other on busy cores
    importlib.import_module("scipy.sparse")  # loaded while the documents are still being read
    jobs, send = requests(Job)
    job = next(jobs)
    os.nice(5)  # searches in the snapshot in service take precedence
    try:
        results = build_vectors.run(job, lambda task, done, total: send(Progress(task, done, total)))
    except IndexProblem as problem:
        send(Progress("vectors", error=str(problem)))
        os._exit(1)
    send(Progress("vectors", results=results))
    os._exit(0)


if __name__ == "__main__":
    main()
