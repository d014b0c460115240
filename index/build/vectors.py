"""The part of a build that computes the vectors and writes them as segments, a batch at a time.

No more than a batch of texts and vectors is held at once, however many passages there are. `python -m index.build.vectors` does
it in a child process (child.py), while the process with the JVM does the terms.
"""

import os
from collections.abc import Iterable, Iterator
from itertools import batched
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from index.build_job import Job, Progress, Tell
from index.child import requests
from index.embedders.embedder import Vectors
from index.embedders.pieces import SPEC, Pieces
from index.engines import vectors
from index.errors import IndexProblem
from index.java import jvm
from index.snapshot.segment import Segment
from index.snapshot.store import PassageStore

#: Texts with vectors made together.
_BATCH = 1024
Labels = NDArray[np.int64]


def count_new(job: Job) -> int:
    return sum(len(Segment(Path(path)).numbers) for path in job.new)


def numbers(ranges: list[tuple[int, int]]) -> Labels:
    """The passages of these ranges (first, count), in their order."""
    return np.concatenate([np.zeros(0, np.int64), *(np.arange(first, first + count) for first, count in ranges)])


def run(job: Job, tell: Tell) -> dict[str, float]:
    """Returns `graph_size`."""
    folder = Path(job.building) / "vectors"
    folder.mkdir(exist_ok=True)
    store = PassageStore(Path(job.building) / "passages")
    labels = np.concatenate([np.zeros(0, dtype=np.int64), *(Segment(Path(path)).numbers for path in job.new)])
    ready = folder / "new.npy"
    rows: Iterable[Vectors]
    if job.built_in:
        dimension = SPEC.dimension
        rows = (Pieces().embed(texts, query=False) for texts in batched(store.texts(labels), _BATCH))
    elif ready.is_file():
        made: Vectors = np.load(ready, mmap_mode="r")
        dimension, rows = made.shape[1], (made[start : start + _BATCH] for start in range(0, len(labels), _BATCH))
    else:
        dimension, rows = 0, iter(())
    batches = _batches(labels, rows, tell)
    path = folder / vectors.FILE
    if not job.parent:
        size = vectors.build(path, dimension, batches, len(labels), tell)
    else:
        old = Path(job.parent) / "vectors" / path.name
        size = vectors.update(old, path, numbers(job.removed), batches, len(labels), tell)
    ready.unlink(missing_ok=True)
    return {"graph_size": size}


def _batches(labels: Labels, rows: Iterable[Vectors], tell: Tell) -> Iterator[tuple[Labels, Vectors]]:
    done = 0
    for some in rows:
        tell("vectors", done, len(labels))
        yield labels[done : done + len(some)], some
        done += len(some)
    tell("vectors", len(labels), len(labels))


def main() -> None:
    jvm.limit_blas()  # more threads gain nothing on matrices of this size, and wait for each other on busy cores
    Pieces().embed(["The first call loads the vectors."], query=False)  # while the documents are still being read
    jobs, send = requests(Job)
    job = next(jobs)
    os.nice(5)  # searches in the snapshot in service take precedence
    try:
        results = run(job, lambda task, done, total: send(Progress(task, done, total)))
    except IndexProblem as problem:
        send(Progress("vectors", error=str(problem)))
        os._exit(1)
    send(Progress("vectors", results=results))
    os._exit(0)


if __name__ == "__main__":
    main()
