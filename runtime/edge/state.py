"""The state that the handlers of one edge share."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import anyio
from aiohttp import WSCloseCode, web

from bus.errors import Unavailable
from bus.messages import QuestionAsked
from bus.router import Reader
from bus.runs import NoSuchRun, Runs, no_such_run
from bus.subjects import is_canary
from bus.watched import Watch
from prompts.profiles import ProfileError
from runtime.edge.canary import Canary
from runtime.edge.door import Caller, Door
from runtime.edge.known_profiles import KnownProfiles
from runtime.edge.metrics import Metrics
from runtime.edge.problems import Problem
from runtime.edge.request_parsing import check_question
from runtime.edge.timeouts import Timeouts
from runtime.settings import EdgeSettings

log = logging.getLogger("groundwire.edge")


@dataclass(slots=True)
class Edge:
    """The handlers' shared state. `needed`: the processes that every question needs. `closing` is set when the process stops, so
    that streams which break then are not counted as clients that left.
    """

    settings: EdgeSettings
    timeouts: Timeouts
    runs: Runs
    profiles: KnownProfiles
    needed: tuple[str, ...]
    door: Door
    canary: Canary | None = None
    watch: Watch = field(default_factory=Watch)
    metrics: Metrics = field(default_factory=Metrics)
    closing: bool = False
    sockets: set[web.WebSocketResponse] = field(default_factory=set)

    @property
    def watches(self) -> tuple[Watch, ...]:
        """The background tasks of this process."""
        return (self.watch, self.door.watch, self.runs.router.watch)

    @contextlib.asynccontextmanager
    async def ask(
        self, caller: Caller, question: QuestionAsked, transport: str, deadline_s: float | None = None
    ) -> AsyncIterator[Reader]:
        """Ask the question and read its events. Raises Problem, and what `Runs.ask` raises.

        Inside the context, a cancellation or a broken connection means that the client has disconnected.
        """
        check_question(question)
        try:
            await self.profiles.check(question.profile)
        except ProfileError as error:
            raise Problem(422, "no_such_profile", f"profile: {error}".replace("\n", "; ")) from None
        _, reader = await self.runs.ask(question, deadline_s, access=caller.access)
        self.metrics.asked.labels(question.profile, transport).inc()
        with reader:
            try:
                yield reader
            except (asyncio.CancelledError, ConnectionResetError):
                if not reader.done:
                    await self._client_left(question, reader.run_id)
                raise

    async def check_theirs(self, caller: Caller, run_id: str) -> None:
        """Raises NoSuchRun for a run that is not the caller's, as if there were none; BadId, Unavailable."""
        if is_canary(run_id) or not caller.may_see(await self.runs.access(run_id)):
            raise no_such_run(run_id)

    async def _client_left(self, question: QuestionAsked, run_id: str) -> None:
        """Handle a client that disconnected before DONE: its run goes on, unless the question says otherwise."""
        self.metrics.left.inc()
        if question.on_disconnect == "cancel" and not self.closing:
            with anyio.CancelScope(shield=True):
                try:
                    await self.runs.cancel(run_id)
                except (NoSuchRun, Unavailable) as error:
                    log.warning("run %s could not be cancelled after its client left: %s", run_id, error)

    async def close(self, _: web.Application) -> None:
        """End all live streams."""
        self.closing = True
        await self.watch.stop()
        await self.runs.stop()
        for socket in tuple(self.sockets):
            await socket.close(code=WSCloseCode.GOING_AWAY, message=b"shutting down; reconnect and resume")


EDGE = web.AppKey("edge", Edge)
