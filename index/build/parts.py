"""Run both parts of a build: the terms here, the vectors in a child process when there is much to fit."""

import sys

import msgspec

from index.build import vectors as build_vectors
from index.build_job import Job, Progress, Tell, numbers
from index.child import Child
from index.engines import search_engines
from index.errors import IndexProblem

#: Below this many passages a second process costs more than it saves, and one BLAS thread is enough.
ALONE_UP_TO = 1000
_decoder = msgspec.msgpack.Decoder(Progress)


def run(job: Job, progress: Tell, ready: "VectorProcess | None" = None) -> dict[str, float]:
    """The results of both parts. `ready`: a process that has already started. Raises IndexProblem when a part fails."""
    whole = job.refit or not job.parent
    work = sum(1 for _ in numbers(job.live)) if whole else build_vectors.count_new(job)
    if not job.lsa or work <= ALONE_UP_TO:
        return search_engines.TERMS.update(job, progress) | build_vectors.run(job, progress)
    with ready or VectorProcess(progress) as child:
        child.send(job)

        def report(task: str, done: int, total: int) -> None:
            progress(task, done, total)
            child.report(0.0)

        return search_engines.TERMS.update(job, report) | child.results()


class VectorProcess(Child):
    """It loads its libraries at once, and works when it is sent a job."""

    def __init__(self, progress: Tell) -> None:
        super().__init__([sys.executable, "-m", "index.build.vectors_process"], keep_errors=True)
        self._progress = progress
        self._last = Progress("vectors")

    def report(self, wait_s: float | None) -> bool:
        """Report the progress that has arrived; False when the child has ended."""
        replies = self.received(wait_s)
        for self._last in map(_decoder.decode, replies or ()):
            if not self._last.error and not self._last.results:
                self._progress(self._last.task, self._last.done, self._last.total)
        return replies is not None

    def results(self) -> dict[str, float]:
        """Wait for the results. Raises IndexProblem when the child failed."""
        while self.report(None):
            pass
        if not self._last.results:
            why = self._last.error or self.last_words()
            raise IndexProblem(f"making the vectors failed ({why}); the index is as it was before")
        return self._last.results
