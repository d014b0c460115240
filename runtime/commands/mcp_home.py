"""The stack that answers the client of `groundwire mcp`: one that runs over the index, or its own.

Its own starts with the first question and stops with the client. When another program's stack stops, the next question starts one.
"""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from bus.journal.access import Groups
from bus.runs.runs import Runs
from bus.wire.errors import Failure, Unavailable
from runtime.edge.door import Caller, Door
from runtime.edge.known_profiles import KnownProfiles
from runtime.edge.state import Edge
from runtime.edge.timeouts import Timeouts
from runtime.keys import SCOPES
from runtime.mcp.peer import Peer
from runtime.processes.listening import addresses_of, url_of
from runtime.processes.nats_server import NoServer
from runtime.processes.stack import stack_for
from runtime.processes.state_folder import running, state_folder
from runtime.settings import Settings

log = logging.getLogger("groundwire.mcp")

#: The interval between checks of the stack, in seconds.
LOOK_S = 0.5
#: The name of a caller with groups, under which its runs are recorded.
NAME = "mcp"


class Home(Peer):
    """The stack and its only caller. `groups`: the groups that the caller belongs to; None for every document."""

    def __init__(self, settings: Settings, groups: Groups = None, say: Callable[[str], None] = log.info) -> None:
        super().__init__(Caller("" if groups is None else NAME, "", frozenset(SCOPES), groups))
        #: Whether the stack runs on this machine and its folder shows that it runs.
        self._local = False
        self._settings = settings
        self._say = say
        self._holding: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[Edge] | None = None
        self._edge: Edge | None = None

    def open(self) -> "asyncio.Future[Edge]":
        """Start, unless a stack is there or has been started."""
        if self._ready is None or self._holding is None or self._holding.done():
            self._ready = asyncio.get_running_loop().create_future()
            self._ready.add_done_callback(
                lambda ready: ready.cancelled() or ready.exception()
            )  # no question may await it
            self._holding = asyncio.create_task(self._hold(self._ready))
        return self._ready

    async def edge(self) -> Edge:
        """Raises Unavailable."""
        edge = await asyncio.shield(self.open())
        if self._stopped(edge.runs):
            await self.close()
            edge = await asyncio.shield(self.open())
        return edge

    async def close(self) -> None:
        if self._edge is not None and self._edge.ending:  # cancellations of runs
            await asyncio.wait(self._edge.ending)
        if self._holding is not None:
            self._holding.cancel()
            await asyncio.gather(self._holding, return_exceptions=True)

    async def _hold(self, ready: "asyncio.Future[Edge]") -> None:
        try:
            async with stack_for(self._settings, say=self._say) as runs:
                self._locate()
                self._edge = self._edge_over(runs)
                await self._edge.count_runs()
                ready.set_result(self._edge)
                await self._gone(runs)
                self._say("the stack that answered was stopped")
        except (Failure, NoServer, OSError) as failure:
            self._say(str(failure))
            if not ready.done():
                ready.set_exception(Unavailable(str(failure)))
        finally:
            ready.cancel()

    def _edge_over(self, runs: Runs) -> Edge:
        profiles = KnownProfiles(Path(self._settings.profiles) if self._settings.profiles else None)
        return Edge(
            self._settings.edge, Timeouts(), runs, profiles, (), Door(), run_deadline_s=self._settings.bus.deadline_s
        )

    def _locate(self) -> None:
        """Find the address of the pages of sources, if the stack serves any."""
        there = running(state_folder(self._settings))
        self._local = there is not None
        port = there.edge_port if there is not None else None
        self.base = (self._settings.edge.public_url or url_of(addresses_of(self._settings), port)) if port else ""

    async def _gone(self, runs: Runs) -> None:
        """Wait until the stack is stopped."""
        while True:
            await asyncio.sleep(LOOK_S)
            if self._stopped(runs):
                return

    def _stopped(self, runs: Runs) -> bool:
        """Whether the stack has stopped or is stopping; a restart of its nats-server is no stop."""
        return (self._local or not runs.client.is_connected) and running(state_folder(self._settings)) is None
