"""Run both parts of a build: the terms here, the vectors in a separate process when there is much to fit."""

import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import msgspec

from index.build import vectors as build_vectors
from index.build_job import Job, Progress, Tell, numbers
from index.engines import search_engines
from index.errors import IndexProblem

#: Below this many passages a second process costs more than it saves, and one BLAS thread is enough.
ALONE_UP_TO = 1000


def run(job: Job, building: Path, progress: Tell, ready: "VectorProcess | None" = None) -> dict[str, float]:
    """The results of both parts. `ready` is a process for the vectors that was started before. Raises IndexProblem when one
    fails.
    """
    whole = job.refit or not job.parent
    work = sum(1 for _ in numbers(job.live)) if whole else build_vectors.count_new(job)
    if not job.lsa or work <= ALONE_UP_TO:
        return search_engines.TERMS.update(job, progress) | build_vectors.run(job, progress)
    path = building.with_suffix(".job")
    path.write_bytes(msgspec.json.encode(job))
    child = ready or VectorProcess(progress)
    try:
        child.begin(path)
        results = search_engines.TERMS.update(job, progress)
        return results | child.results()
    finally:
        child.end()
        path.unlink(missing_ok=True)


class VectorProcess:
    """It loads its libraries as soon as it is made, and works once it is told its job; its output is read by two threads."""

    def __init__(self, progress: Tell) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "index.build.vectors_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        self._progress = progress
        self._results: dict[str, float] = {}
        self._problem = ""
        self._last_words: list[bytes] = []
        self._threads = [threading.Thread(target=target) for target in (self._listen, self._drain)]
        for thread in self._threads:
            thread.start()

    def begin(self, job: Path) -> None:
        with contextlib.suppress(BrokenPipeError):  # `results` says what it died of
            if self._process.stdin is not None:
                self._process.stdin.write(os.fsencode(job) + b"\n")
                self._process.stdin.flush()

    def _listen(self) -> None:
        for line in self._process.stdout or ():
            heard = msgspec.json.decode(line, type=Progress)
            self._problem = self._problem or heard.error
            self._results |= heard.results
            if not heard.error and not heard.results:
                self._progress(heard.task, heard.done, heard.total)

    def _drain(self) -> None:
        # Keep reading, because a full pipe would block the process; the last line of a traceback says most.
        for line in self._process.stderr or ():
            self._last_words[:] = [line]

    def results(self) -> dict[str, float]:
        """Wait for the process. Raises IndexProblem when it failed."""
        code = self._process.wait()
        for thread in self._threads:
            thread.join()
        if self._problem or not self._results:
            said = self._problem or b"".join(self._last_words).decode(errors="replace").strip() or f"exit code {code}"
            raise IndexProblem(f"making the vectors failed ({said}); the index is as it was before")
        return self._results

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
