"""What the handlers of one edge share."""

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass, field

from aiohttp import WSCloseCode, web

from bus.errors import Unavailable
from bus.messages import QuestionAsked
from bus.runs import NoSuchRun, Runs
from runtime.edge.metrics import Metrics
from runtime.edge.patience import Pace
from runtime.edge.problems import Problem
from runtime.edge.profile_names import ProfileError, Profiles
from runtime.settings import EdgeSettings

log = logging.getLogger("groundwire.edge")


@dataclass(slots=True)
class Edge:
    """`needed`: the processes without which no question is answered. `closing` is set once the process ends: streams that break
    then are not taken for clients that left.
    """

    settings: EdgeSettings
    pace: Pace
    runs: Runs
    profiles: Profiles
    needed: tuple[str, ...]
    metrics: Metrics = field(default_factory=Metrics)
    closing: bool = False
    sockets: set[web.WebSocketResponse] = field(default_factory=set)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def check_profile(self, question: QuestionAsked) -> None:
        """Raises Problem 422 for a profile that there is not, with the nearest that there is."""
        try:
            await self.profiles.check(question.profile)
        except ProfileError as error:
            raise Problem(422, "no_such_profile", f"profile: {error}".replace("\n", "; ")) from None

    def left(self, question: QuestionAsked, run_id: str) -> None:
        """The client is gone before DONE: its run goes on, unless it asked for the contrary."""
        self.metrics.left.inc()
        if question.on_disconnect == "cancel" and not self.closing:
            self.spawn(self._cancel(run_id))

    async def _cancel(self, run_id: str) -> None:
        try:
            await self.runs.cancel(run_id)
        except (NoSuchRun, Unavailable) as error:
            log.warning("run %s of a client that left could not be cancelled: %s", run_id, error)

    def spawn(self, work: Coroutine[None, None, None]) -> None:
        """Do something that outlives its request."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End the live streams and wait for what outlived its request."""
        self.closing = True
        await self.runs.stop()
        for socket in tuple(self.sockets):
            await socket.close(code=WSCloseCode.GOING_AWAY, message=b"closing; resume elsewhere")
        await asyncio.gather(*self._tasks)


EDGE = web.AppKey("edge", Edge)
