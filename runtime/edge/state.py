"""The state that the handlers of one edge share, with the profiles that a request may name."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec
from aiohttp import WSCloseCode, web
from anyio import to_thread

from bus.delivery.admission import Admission, Position
from bus.delivery.elsewhere import count_elsewhere
from bus.journal.records import RECEIVED, TRACEPARENT, VIA
from bus.powers.events import Queued
from bus.runs.router import Reader
from bus.runs.runs import NoSuchRun, QuestionRun, Runs, no_such_run
from bus.transport.health import Watch
from bus.wire.errors import Unavailable
from bus.wire.messages import QuestionAsked
from bus.wire.requests import check_question, no_such_profile
from bus.wire.subjects import is_canary
from prompts.profiles import Profile, ProfileError, load, names
from runtime.edge.canary import Canary
from runtime.edge.door import Caller, Door
from runtime.edge.metrics import AdmissionCollector, Metrics
from runtime.edge.problems import EXPECTED, Problem, problem_of
from runtime.edge.timeouts import Timeouts
from runtime.settings import EdgeSettings


class KnownProfiles:
    """The profiles found usable so far; one added while the edge runs is found when it is first named."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._usable: dict[str, Profile] = {}

    async def check(self, name: str) -> None:
        """Raises ProfileError when there is no such profile, or its file is wrong."""
        if name not in self._usable:
            self._usable[name] = await to_thread.run_sync(load, name, self.folder)

    async def masks(self, name: str) -> bool:
        """Whether this profile masks personal data; a profile that is gone does."""
        try:
            await self.check(name)
        except ProfileError:
            return True
        return self._usable[name].mask_personal_data

    def is_own(self, name: str) -> bool:
        return self.folder is not None and (self.folder / f"{name}.toml").is_file()

    async def names(self) -> tuple[str, ...]:
        return await to_thread.run_sync(names, self.folder)


log = logging.getLogger("groundwire.edge")

#: A wait that shortens a question's deadline.
NOTABLE_S = 0.1


@dataclass(slots=True, weakref_slot=True, eq=False)
class Edge:
    """The handlers' shared state. `door`: an open one if omitted. `needed`: the processes that every question needs.
    `run_deadline_s`: of a question that names none. `closing` is set when the process stops, so that a stream that breaks then
    does not count as a client that left.
    """

    settings: EdgeSettings
    runs: Runs
    profiles: KnownProfiles = field(default_factory=KnownProfiles)
    timeouts: Timeouts = field(default_factory=Timeouts)
    door: Door = field(default_factory=Door)
    needed: tuple[str, ...] = ("search", "inference", "actors")
    canary: Canary | None = field(init=False)
    run_deadline_s: float = 120.0
    watch: Watch = field(default_factory=Watch)
    admission: Admission = field(default_factory=Admission)
    metrics: Metrics = field(default_factory=Metrics)
    closing: bool = False
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    sockets: set[web.WebSocketResponse] = field(default_factory=set)
    queued: dict[str, asyncio.Task[Reader]] = field(default_factory=dict)
    ending: set[asyncio.Task[None]] = field(default_factory=set)
    checking: asyncio.Lock = field(default_factory=asyncio.Lock)  # held while the gate compares a sentence of /v1/check

    def __post_init__(self) -> None:
        self.canary = Canary(self.runs, self.settings.canary_s) if self.settings.canary_s else None
        self.metrics.registry.register(AdmissionCollector(self.admission))

    async def count_runs(self) -> None:
        self.runs.router.ended = self.admission.leave
        await count_elsewhere(self.runs.client, self.admission, self.run_deadline_s)

    @property
    def watches(self) -> tuple[Watch, ...]:
        return (self.watch, self.door.watch, self.runs.router.watch)

    @contextlib.asynccontextmanager
    async def submit(
        self, caller: Caller, question: QuestionAsked, transport: str, deadline_s: float | None = None
    ) -> AsyncIterator[Reader]:
        """Submit the question and read its events. Raises what `accept` raises.

        Inside the context, a cancellation or a broken connection means that the client has disconnected. After any other error
        the client has the error in place of the run, so no client reads the run either.
        """
        with await self.accept(caller, question, transport, deadline_s) as reader:
            try:
                yield reader
            except (asyncio.CancelledError, ConnectionResetError):
                if not reader.done:
                    await self.client_left(question, reader.run_id)
                raise
            except BaseException:
                if not reader.done:
                    await self.not_followed(question, reader.run_id)
                raise

    async def accept(
        self, caller: Caller, question: QuestionAsked, transport: str, deadline_s: float | None = None
    ) -> Reader:
        """Check, admit and write the question. Raises Invalid, Overloaded, and what `Runs.submit_and_read` raises."""
        check_question(question)
        try:
            await self.profiles.check(question.profile)
        except ProfileError as error:
            raise no_such_profile(error) from None
        reader = await self._admit(caller, question, transport, deadline_s)
        self.metrics.questions.labels(question.profile, transport).inc()
        return reader

    async def check_theirs(self, caller: Caller, run_id: str) -> None:
        """Raises NoSuchRun for a run that is not the caller's, as if there were none; BadId, Unavailable."""
        if is_canary(run_id) or not caller.may_see(await self.runs.access(run_id)):
            raise no_such_run(run_id)

    async def check_awaited(self, run_id: str) -> None:
        """Raises EventsGone for a run that has ended and whose events were lost."""
        if run_id not in self.queued:
            with contextlib.suppress(Unavailable):
                await self.runs.check_awaited(run_id)

    async def _admit(self, caller: Caller, question: QuestionAsked, transport: str, deadline_s: float | None) -> Reader:
        """Write the question once there is room for it; a repeated question already has its run.

        Each key has its fair share of the room. A client that wants all events gets a reader as soon as its question has a
        position in the queue, and the positions in it.
        """
        access = caller.access
        run = await self.runs.identify(question, access)
        if not run.created:
            return (await self.runs.submit_and_read(question, access=access, run=run))[1]
        if question.events != "all":
            return await self._enter(caller, question, transport, deadline_s, run)
        shown, queued = self.runs.router.reader(run.run_id), asyncio.Event()

        async def position(place: int) -> None:
            shown.note(msgspec.json.encode(Queued(position=place)))
            queued.set()

        entering = asyncio.create_task(self._enter(caller, question, transport, deadline_s, run, position))
        waiting = asyncio.create_task(queued.wait())
        try:
            await asyncio.wait([entering, waiting], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            shown.close()
            entering.cancel()
            raise
        finally:
            waiting.cancel()
        if entering.done():
            shown.close()
            return entering.result()
        self.queued[run.run_id] = entering
        entering.add_done_callback(partial(self._entered, run.run_id, shown))
        return shown

    def _entered(self, run_id: str, shown: Reader, entering: asyncio.Task[Reader]) -> None:
        """A question has left the queue: `shown` has its events from here on, or its error."""
        del self.queued[run_id]
        if entering.cancelled():
            shown.fail(Problem(409, "cancelled", "the question was cancelled before it began"))
        elif (error := entering.exception()) is not None:
            # There is no run to resume, so the client gets the error itself.
            stops = Unavailable("this process stops")
            shown.fail(problem_of(error if isinstance(error, EXPECTED) else stops))
        else:
            entering.result().close()

    async def _enter(
        self,
        caller: Caller,
        question: QuestionAsked,
        transport: str,
        deadline_s: float | None,
        run: QuestionRun,
        position: Position | None = None,
    ) -> Reader:
        access, run_id = caller.access, run.run_id
        own_s = question.deadline_s or deadline_s
        longest_s = own_s or self.run_deadline_s
        received, began, key = time.time(), time.monotonic(), access.key if access else ""
        await self.admission.enter(run_id, question, longest_s, key=key, position=position)
        headers = {VIA: transport, RECEIVED: f"{received:.6f}"}
        if caller.traceparent:
            headers[TRACEPARENT] = caller.traceparent
        try:
            if (waited_s := time.monotonic() - began) > NOTABLE_S:  # the deadline counts from the request
                own_s = max(longest_s - waited_s, NOTABLE_S)
            question = msgspec.structs.replace(question, deadline_s=own_s)
            submitting = asyncio.create_task(
                self.runs.submit_and_read(question, access=access, run=run, headers=headers),
                name=f"submit {run_id}",
            )
            try:
                submitted, reader = await asyncio.shield(submitting)
            except asyncio.CancelledError:
                await self._to_its_end(self._left_early(question, run_id, submitting), f"end {run_id}")
                raise
        except BaseException:
            self.admission.forget(run_id)
            raise
        if not submitted.created:  # another request with its idempotency key came first
            self.admission.forget(run_id)
        return reader

    async def _left_early(
        self, question: QuestionAsked, run_id: str, submitting: asyncio.Task[tuple[QuestionRun, Reader]]
    ) -> None:
        """The client left while its question was being written: its run can be cancelled only after that."""
        await asyncio.wait([submitting])
        if submitting.exception() is None:
            submitting.result()[1].close()
            await self.client_left(question, run_id)

    async def cancel(self, run_id: str) -> bool:
        """End a run and make room for the next. False: it was over. Raises BadId, NoSuchRun, Unavailable."""
        if (entering := self.queued.get(run_id)) is not None:
            return entering.cancel()
        ended = await self.runs.cancel(run_id)
        self.admission.forget(run_id)
        return ended

    async def client_left(self, question: QuestionAsked, run_id: str) -> None:
        self.metrics.left.inc()
        await self.not_followed(question, run_id)

    async def not_followed(self, question: QuestionAsked, run_id: str) -> None:
        """No client waits for the end of the run: it goes on, unless `on_disconnect` is `cancel` or it has not begun."""
        if (entering := self.queued.get(run_id)) is not None:
            entering.cancel()
        elif question.on_disconnect == "cancel" and not self.closing:
            await self._to_its_end(self._end(run_id), f"end {run_id}")

    async def _end(self, run_id: str) -> None:
        try:
            await self.cancel(run_id)
        except (NoSuchRun, Unavailable) as error:
            log.warning("run %s could not be cancelled after its client left: %s", run_id, error)

    async def _to_its_end(self, work: Coroutine[None, None, None], name: str) -> None:
        """Finish this even if the caller is cancelled: aiohttp cancels a handler soon after a write to a broken connection."""
        task = asyncio.create_task(work, name=name)
        self.ending.add(task)
        task.add_done_callback(self.ending.discard)
        await asyncio.shield(task)

    async def close(self, _: web.Application) -> None:
        self.closing = True
        self.stopping.set()
        await self.watch.stop()
        await self.runs.stop()
        for socket in tuple(self.sockets):
            await socket.close(code=WSCloseCode.GOING_AWAY, message=b"shutting down; reconnect and resume")


EDGE = web.AppKey("edge", Edge)
