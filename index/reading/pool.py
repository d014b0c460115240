"""Read documents in processes of their own, on all cores, each within limits of time, memory and size.

A document that exceeds a limit, or that ends the process which reads it, is named, and the others are read by a new process.
Outcomes come in the order of the tasks.
"""

import contextlib
import os
import selectors
import signal
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from index.build_job import Tell, no_progress
from index.child import OUT_OF_MEMORY, Child
from index.errors import IndexProblem
from index.reading.job import Limits, Outcome, Task
from index.reading.readings import Readings

PROGRAM = (sys.executable, "-P", "-m", "index.reading.process")
_START_UP_S = 60.0
#: A process is given its next tasks before it has done the last, up to these.
_AHEAD, _AHEAD_BYTES = 4, 256 * 1024
#: Fewer waiting tasks than this are not worth another process, as long as none has taken longer than _SLOW_S.
_WORTH_A_PROCESS, _SLOW_S = 8, 0.5
#: So many tasks for each process are taken on before the first of them is handed out.
_WINDOW = 32
_TICK_S = 0.5
#: A document that takes longer than this is named in the progress, after READING.
_NAMED_S, READING = 3.0, "reading "
_decoder = msgspec.msgpack.Decoder(list[Outcome])


class Pool(contextlib.AbstractContextManager["Pool"]):
    """The processes; each starts when there is work for it, and all end with the `with` block."""

    def __init__(self, limits: Limits | None = None, processes: int = 0, program: tuple[str, ...] = PROGRAM) -> None:
        """`processes` 0 means as many as cores."""
        self._limits = limits or Limits()
        self._most = processes or os.cpu_count() or 1
        self._program = program
        self._environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # its threads would only take memory
        self._workers: list[_Worker] = []
        self._waiting: deque[_Slot] = deque()
        self._selector = selectors.DefaultSelector()

    def __exit__(self, *_: object) -> None:
        for worker in list(self._workers):
            self._end(worker)
        self._selector.close()

    def read[Key](
        self, wanted: Iterable[tuple[Key, Task | None]], kept: Readings | None = None, tell: Tell = no_progress
    ) -> Iterator[tuple[Key, list[Outcome]]]:
        """What became of each, in the order of `wanted`; what has no task comes back in its place, without an outcome.

        Files in `kept` are not read again, and new outcomes are added to it. `tell` gets the name of a document that
        takes long. Raises IndexProblem when no process can be started.
        """
        source = iter(wanted)
        taken: deque[tuple[Key, _Slot]] = deque()
        while True:
            for key, task in islice(source, max(0, self._most * _WINDOW - len(taken))):
                slot = _Slot(task, kept.get(task) if task is not None and kept is not None else None)
                taken.append((key, slot))
                if not slot.is_done:
                    self._waiting.append(slot)
            if not taken:
                return
            self._give()
            if taken[0][1].is_done:
                key, slot = taken.popleft()
                yield key, slot.outcomes()
            else:
                self._listen(kept, tell)

    def _give(self) -> None:
        """Hand out what waits, and start another process where that pays."""
        for worker in self._workers:
            while self._waiting and worker.has_room_for(self._waiting[0]):
                worker.give(self._waiting.popleft())
        while self._waiting and len(self._workers) < self._most and self._pays():
            worker = _Worker(self._program, self._limits, self._environment)
            self._workers.append(worker)
            self._selector.register(worker, selectors.EVENT_READ, worker)
            while self._waiting and worker.has_room_for(self._waiting[0]):
                worker.give(self._waiting.popleft())

    def _pays(self) -> bool:
        busy_s = time.monotonic() - min((worker.began for worker in self._workers), default=0.0)
        return len(self._waiting) >= _WORTH_A_PROCESS or busy_s > _SLOW_S

    def _listen(self, kept: Readings | None, tell: Tell) -> None:
        """Wait for replies for a moment, and end children that are over their limits."""
        readable = {key.data for key, _ in self._selector.select(_TICK_S)}
        for worker in list(self._workers):
            if worker in readable:
                if (replies := worker.received()) is None:
                    self._fail(worker, _how_it_ended(worker.wait(), self._limits))
                else:
                    worker.finish(replies, kept)
            elif worker.pending and worker.is_ready:
                taken_s = time.monotonic() - worker.began
                if taken_s > _NAMED_S:
                    tell(f"{READING}{worker.reads}", int(taken_s), int(self._limits.seconds))
                if taken_s > self._limits.seconds:
                    self._fail(worker, f"took longer than {self._limits.seconds:g} s; split it")
                elif worker.resident_bytes() > self._limits.memory_bytes:
                    self._fail(worker, _too_large(self._limits))
            elif not worker.is_ready and time.monotonic() - worker.began > _START_UP_S:
                self._fail(worker, "")

    def _fail(self, worker: "_Worker", reason: str) -> None:
        """The process is over: name what it was reading, and let another read what it had not begun."""
        self._end(worker)
        if not worker.is_ready and self._workers:
            self._most -= 1  # the others do its work
            self._waiting.extendleft(reversed(worker.pending))
            return
        if not worker.is_ready:
            raise IndexProblem(
                f"the process that reads documents does not start; '{' '.join(self._program)} {{}}' prints the reason"
            )
        if worker.pending:
            slot = worker.pending.popleft()
            alone = slot.fail(reason)
            self._waiting.extendleft(reversed([*alone, *worker.pending]))

    def _end(self, worker: "_Worker") -> None:
        self._workers.remove(worker)
        self._selector.unregister(worker)
        worker.end()


class _Slot:
    """One task's place in the order. A stretch of records that fails is read again, each record as a task of its own."""

    def __init__(self, task: Task | None, outcomes: list[Outcome] | None = None) -> None:
        self.task = task
        self._outcomes = outcomes if task else []
        self._parts: list[_Slot] = []

    @property
    def is_done(self) -> bool:
        return all(part.is_done for part in self._parts) if self._parts else self._outcomes is not None

    def outcomes(self) -> list[Outcome]:
        return [one for part in self._parts for one in part.outcomes()] if self._parts else self._outcomes or []

    def finish(self, outcomes: list[Outcome]) -> None:
        self._outcomes = outcomes

    def fail(self, reason: str) -> "list[_Slot]":
        """Note the reason, or return the parts to try instead."""
        task = self.task
        assert task is not None
        if task.lines > 1:
            with contextlib.suppress(OSError):
                self._parts = [_Slot(part) for part in task.stretches(lines=1)]
        if not self._parts:
            name = f"{task.source_id} line {task.line}" if task.lines else task.source_id
            self._outcomes = [Outcome(name, reason=reason, this_time=True)]
        return self._parts


class _Worker(Child):
    """A child that reads. `pending` are the tasks without an answer, in their order; `began`: when the first of them did."""

    def __init__(self, program: tuple[str, ...], limits: Limits, environment: dict[str, str]) -> None:
        super().__init__([*program, msgspec.json.encode(limits).decode()], environment=environment)
        self.pending: deque[_Slot] = deque()
        self.began = time.monotonic()
        self.is_ready = False

    @property
    def reads(self) -> str:
        task = self.pending[0].task
        return task.source_id if task else ""

    def has_room_for(self, slot: _Slot) -> bool:
        if not self.pending:
            return True
        sizes = [one.task.size_bytes for one in (*self.pending, slot) if one.task]
        return len(sizes) <= _AHEAD and sum(sizes) <= _AHEAD_BYTES

    def give(self, slot: _Slot) -> None:
        if not self.pending:
            self.began = time.monotonic()
        self.pending.append(slot)
        self.send(slot.task)

    def finish(self, replies: list[bytes], kept: Readings | None) -> None:
        for data in replies:
            if self.is_ready:
                slot, outcomes = self.pending.popleft(), _decoder.decode(data)
                if kept is not None and slot.task is not None:
                    kept.put(slot.task, data, outcomes)
                slot.finish(outcomes)
            self.is_ready = True
            self.began = time.monotonic()


def _how_it_ended(code: int, limits: Limits) -> str:
    if code == OUT_OF_MEMORY:
        return _too_large(limits)
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return f"ended the process that reads it ({how}); it may be damaged: save it again"


def _too_large(limits: Limits) -> str:
    return f"needs more than {limits.memory_bytes / 1024**3:g} GB of memory; split it"
