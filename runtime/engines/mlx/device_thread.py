"""The one thread that touches the device.

Each round: read commands, admit what fits, prefill a little, let finished prompts join the batch, take one step for all
rows, notify the loop. So a stream waits for at most one chunk, a new request for one round, and a cancelled one is gone
before the next step.
"""

import asyncio
import gc
import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

import mlx.core as mx
import msgspec

from bus.wire.errors import Failure, NoReply, Unavailable
from prompts.files import Rendered
from prompts.vocabulary import PRIORITIES, Priority
from runtime.engines.engine import DeviceView, Ending, RequestRecord, State
from runtime.engines.mlx.batch import Batch, Row, generate
from runtime.engines.mlx.grammar import Grammars
from runtime.engines.mlx.jobs import Forward, Generation, Job, Tools, Waiting
from runtime.engines.mlx.memory import Memory, Prefixes
from runtime.engines.mlx.model import LoadedModel, load
from runtime.engines.mlx.prepare import Encoder
from runtime.engines.mlx.settings import DeviceSettings
from runtime.engines.mlx.tickets import Done, Event, Outbox, Ticket
from runtime.engines.mlx.warmup import warm_up
from runtime.engines.os_thread import MlxThread

#: What mlx and mlx-lm raise when a computation fails.
FAULTS = (RuntimeError, ValueError, MemoryError)
#: This many faults with no finished reply in between mean that the device is broken.
MAX_FAULTS = 4
#: The weight of a prompt's length against its arrival time: a short one overtakes a long one that came just before.
PREFILL_TOKENS_PER_S = 1000.0
#: Steps that a row takes alone after a fault before it is cleared of causing it.
TRIAL_STEPS = 2


class Device(MlxThread):
    """The device's thread. `ready` resolves when it accepts requests, or fails with Unavailable."""

    def __init__(
        self,
        settings: DeviceSettings,
        warm: Sequence[Rendered],
        on_record: Callable[[RequestRecord], None],
        loader: Callable[[DeviceSettings], LoadedModel] | None,
    ) -> None:
        super().__init__(name="device", daemon=True)
        self.settings = settings
        self.state: State = "loading"
        self.ready: Future[None] = Future()
        self.busy_since: float | None = None  # monotonic, while mlx works
        self._outbox = Outbox(asyncio.get_running_loop(), on_record)
        self._warm, self._loader = warm, loader or load
        self._commands: queue.SimpleQueue[Job | Ticket | None] = queue.SimpleQueue()
        self._waiting = Waiting()
        self._prefilling: list[Job] = []
        self._rows: dict[int, Generation] = {}
        self._joining: list[Row] = []
        self._stopping = self._broken = False
        self._old_wired_limit: int | None = None
        self._faults = self._faults_in_a_row = self._answered_at_fault = self._steps = 0

    # ---------------------------------------------------------------- called on the loop

    def submit(self, job: Job) -> None:
        self._commands.put(job)

    def cancel(self, ticket: Ticket) -> None:
        self._commands.put(ticket)

    def stop(self) -> None:
        self._commands.put(None)

    def wait_s(self, priority: Priority) -> float:
        """Roughly how long a new request of this priority would wait for a row."""
        rank = PRIORITIES.index(priority)
        ahead = sum(PRIORITIES.index(job.ticket.priority) <= rank for job in list(self._waiting))
        return ahead * self._outbox.service_s / self.settings.max_rows

    def waiting(self) -> int:
        return len(self._waiting) + self._commands.qsize()

    def view(self) -> DeviceView:
        """The device's state; read from another thread, so the numbers may be one round apart."""
        now = time.monotonic()
        view = DeviceView(state=self.state, steps=self._steps, faults=self._faults)
        tools: Tools | None = self.__dict__.get("tools")
        if self.state not in ("ready", "stuck") or tools is None:
            return view
        waiting = list(self._waiting)
        prefixes, memory, busy = tools.prefixes, self._memory, self.busy_since
        return msgspec.structs.replace(
            view,
            rows_decoding=len(self._rows),
            rows_prefilling=len(self._prefilling),
            waiting={p: sum(job.ticket.priority == p for job in waiting) for p in PRIORITIES},
            queue_age_s=now - min((job.submitted for job in waiting), default=now),
            step_age_s=now - busy if busy else 0.0,
            pinned_prefixes=prefixes.count(True),
            shared_prefixes=prefixes.count(False),
            prefix_bytes=prefixes.size_bytes(True) + prefixes.size_bytes(False),
            memory_bytes=memory.active_bytes,
            memory_limit_bytes=memory.limit_bytes,
        )

    # ---------------------------------------------------------------- the thread

    def run(self) -> None:
        try:
            self._open()
        except Exception as problem:
            # The outermost handler of this thread, and the starter of the engine waits for `ready`.
            try:
                self._shut()
            finally:
                self.ready.set_exception(problem if isinstance(problem, Failure) else _cannot_start(problem))
            return
        self.state = "ready"
        self.ready.set_result(None)
        try:
            self._serve()
            self.state = "failed" if self._broken else "closed"
        finally:
            self._shut()

    def _open(self) -> None:
        loaded = self._loader(self.settings)
        self._memory = Memory(loaded, self.settings)
        self._old_wired_limit = generate.maybe_set_recommended_wired_limit()
        grammars = Grammars(loaded.grammar_tokenizer, loaded.width, loaded.eos)
        prefixes = Prefixes(
            loaded.model, pinned_bytes=self._memory.pinned_bytes, shared_bytes=self._memory.shared_bytes
        )
        self.tools = Tools(loaded, Forward(loaded.model), grammars, prefixes)
        self.encoder = Encoder(loaded.tokenizer)
        self._batch: Any = Batch(loaded.model, grammars)
        self.state = "warming"
        warm_up(self.tools, self.encoder, self._warm, self.settings.idle_chunk_tokens)

    def _serve(self) -> None:
        while True:
            self._hear()
            if self._stopping:
                return
            self._expire()
            self._admit()
            self.busy_since = time.monotonic()
            try:
                self._prefill()
                self._join()
                self._step()
            except FAULTS as fault:
                self._rescue(fault)
            finally:
                self.busy_since = None
            self._outbox.flush()

    def _hear(self) -> None:
        """Read all commands; if there is nothing to do, wait for one."""
        while not self._stopping:
            try:
                command = self._commands.get(block=not (self._rows or self._prefilling or self._waiting))
            except queue.Empty:
                return
            if command is None:
                self._stopping = True
            elif isinstance(command, Ticket):
                for job in self._waiting.take({command}) + [job for job in self._active() if job.ticket is command]:
                    self._end(job, None, "cancelled")
                self._outbox.flush()
            else:
                self._waiting.put(command)

    def _expire(self) -> None:
        now = time.monotonic()
        for job in self._waiting.take({job.ticket for job in self._waiting if job.ticket.expires <= now}):
            self._end(
                job, NoReply("the request waited past its deadline; the device is busy, allow more time"), "expired"
            )
        for job in [job for job in self._active() if job.ticket.expires <= now]:
            self._end(job, NoReply("the reply was not finished at its deadline; allow more time"), "expired")

    def _admit(self) -> None:
        while (job := self._waiting.first()) is not None:
            active = self._active()
            reserved = 0 if job.ticket.priority in ("answer", "check") else self.settings.reserved_rows
            if active and len(active) >= max(1, self._memory.max_rows - reserved):
                return
            lengths = [other.length for other in active]
            if not self._memory.fits(lengths, job.length, self.tools.prefixes):
                if active:
                    return
                self._end(self._waiting.pop(), self._memory.refusal(job.length), "failed")
                continue
            self._waiting.pop()
            job.started = time.monotonic()
            self._prefilling.append(job)

    def _prefill(self) -> None:
        budget = self.settings.chunk_tokens if self._rows else self.settings.idle_chunk_tokens
        for job in sorted(self._prefilling, key=_prefill_order):
            out: Row | Event | None = None
            while budget > 0 and out is None:
                used, out = job.advance(self.tools, budget)
                budget -= used
            if isinstance(out, Row) and isinstance(job, Generation):
                self._prefilling.remove(job)
                self._rows[out.key] = job
                self._joining.append(out)
            elif out is not None:
                self._end(job, None if isinstance(out, Row) else out, "stop")
            if budget <= 0:
                break
        if self._prefilling and not self._rows:
            mx.synchronize()  # nothing else waits for the chunk, and new requests must not queue behind many

    def _join(self) -> None:
        if self._joining:
            self._batch.extend(Batch(self.tools.loaded.model, self.tools.grammars, self._joining))
            self._joining.clear()

    def _step(self) -> None:
        if not self._rows:
            return
        ended = set()
        for key, token in self._batch.step():
            job = self._rows[key]
            fresh, event = job.accept(self.tools, token)
            if fresh:
                self._outbox.say(job.ticket, fresh)
            if event is not None:
                ended.add(key)
                self._end(
                    job, event, "failed" if job.guide is not None and job.guide.failed else "length", in_batch=False
                )
        self._batch.drop(ended)
        self._steps += 1
        if self._steps % 16 == 0:
            self._relieve()
        if self._steps % 512 == 0:
            mx.clear_cache()

    # ---------------------------------------------------------------- ends

    def _active(self) -> list[Job]:
        return [*self._rows.values(), *self._prefilling]

    def _end(self, job: Job, event: Event | None, ending: Ending, *, in_batch: bool = True) -> None:
        """Release a job and queue its last event; None without a listener."""
        record = event.record if isinstance(event, Done) else job.ending(ending)
        self._outbox.end(job.ticket, event, record)
        if job in self._prefilling:
            self._prefilling.remove(job)
        if self._rows.pop(id(job), None) is not None and in_batch:
            self._joining = [row for row in self._joining if row.key != id(job)]
            self._batch.drop({id(job)})
        job.release()

    def _relieve(self) -> None:
        """Free memory before the device runs out: first cached prefixes, then the least urgent request."""
        if not self._memory.short():
            return
        self.tools.prefixes.forget_shared()
        mx.clear_cache()
        if self._memory.short() and len(self._active()) > 1:
            self._end(max(self._active(), key=_prefill_order), self._memory.shed(), "failed")

    def _rescue(self, fault: BaseException) -> None:
        """Discard the batch and replay it, each row alone at first, so that only the faulty one fails."""
        self._faults += 1
        answered = self._outbox.answered
        self._faults_in_a_row = 1 if answered > self._answered_at_fault else self._faults_in_a_row + 1
        self._answered_at_fault = answered
        if self._faults_in_a_row >= MAX_FAULTS:
            self._broken = self._stopping = True
            return
        suspects = self._active()
        self._batch = Batch(self.tools.loaded.model, self.tools.grammars)
        self._rows, self._prefilling, self._joining = {}, [], []
        self.tools.prefixes.forget_shared()
        mx.clear_cache()
        for job in suspects:
            job.restart()
            innocent, self._batch = self._batch, Batch(self.tools.loaded.model, self.tools.grammars)
            others, self._rows = self._rows, {}
            self._prefilling = [job]
            try:
                while self._prefilling:
                    self._prefill()
                for _ in range(TRIAL_STEPS):
                    self._join()
                    self._step()
            except FAULTS as own:
                self._batch, self._rows = Batch(self.tools.loaded.model, self.tools.grammars), {}
                self._joining, self._prefilling = [], []
                self._end(job, Unavailable(f"the device failed on this request ({own}); ask again"), "failed")
            innocent.extend(self._batch)
            self._batch, self._rows = innocent, others | self._rows
        self._memory.after_fault(fault)

    def _shut(self) -> None:
        """End every request and free the device. This must be the thread's last mlx call, or the process may abort at exit."""
        closing = self.state == "closed"
        why = "the device is closing" if closing else "the device failed and is being restarted"
        self.state = "closed" if closing else "failed"
        while not self._commands.empty():
            command = self._commands.get_nowait()
            if command is not None and not isinstance(command, Ticket):
                self._waiting.put(command)
        for job in [*self._active(), *self._waiting]:
            self._end(job, Unavailable(f"{why}; ask again"), "failed", in_batch=False)
        self._outbox.flush()
        if self._old_wired_limit is not None:
            mx.synchronize()
            mx.set_wired_limit(self._old_wired_limit)
        for name in ("tools", "encoder", "_batch"):  # a start may have ended before they were made
            self.__dict__.pop(name, None)
        self._waiting, self._rows, self._prefilling, self._joining = Waiting(), {}, [], []
        gc.collect()
        mx.clear_streams()


def _cannot_start(problem: Exception) -> Unavailable:
    said = " ".join(str(problem).split())[:300]
    return Unavailable(
        f"the model could not be started ({type(problem).__name__}: {said}); name another as inference.model,"
        " or one that fits in the memory that is free"
    )


def _prefill_order(job: Job) -> tuple[int, float]:
    """Sort by priority, then by when the prefill would end with nothing else running."""
    return PRIORITIES.index(job.ticket.priority), job.submitted + job.remaining / PREFILL_TOKENS_PER_S
