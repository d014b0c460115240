"""What answers the client of `groundwire mcp`: the stack that runs over the index, or one of our own.

It is begun at once and held as long as the client is there. When a stack that others run is stopped, the next question begins
one anew.
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
from runtime.processes.listening import addresses_of, url_of
from runtime.processes.nats_server import NoServer
from runtime.processes.stack import stack_for
from runtime.processes.state_folder import running, state_folder
from runtime.settings import Settings

log = logging.getLogger("groundwire.mcp")

#: How often it is looked whether the stack is still there, in seconds.
LOOK_S = 0.5
#: The name that runs are recorded under for somebody who is to see only some groups' documents.
NAME = "mcp"


class Home:
    """The stack and whoever asks it. `groups`: whose documents they may find; None for every document."""

    def __init__(self, settings: Settings, groups: Groups = None, say: Callable[[str], None] = log.info) -> None:
        self.caller = Caller("" if groups is None else NAME, "", frozenset(SCOPES), groups)
        self.base = ""
        #: Whether the stack is one of this machine, which is found for as long as it does not stop.
        self._found = False
        self._settings = settings
        self._say = say
        self._holding: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[Edge] | None = None

    def open(self) -> "asyncio.Future[Edge]":
        """Begin, if nothing is there and nothing has begun."""
        if self._ready is None or self._holding is None or self._holding.done():
            self._ready = asyncio.get_running_loop().create_future()
            self._ready.add_done_callback(lambda ready: ready.cancelled() or ready.exception())  # nobody may have asked
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
        if self._holding is not None:
            self._holding.cancel()
            await asyncio.gather(self._holding, return_exceptions=True)

    async def _hold(self, ready: "asyncio.Future[Edge]") -> None:
        try:
            async with stack_for(self._settings, say=self._say) as runs:
                self._locate()
                ready.set_result(self._edge(runs))
                await self._gone(runs)
                self._say("the stack that answered was stopped")
        except (Failure, NoServer, OSError) as failure:
            self._say(str(failure))
            if not ready.done():
                ready.set_exception(Unavailable(str(failure)))
        finally:
            ready.cancel()

    def _edge(self, runs: Runs) -> Edge:
        profiles = KnownProfiles(Path(self._settings.profiles) if self._settings.profiles else None)
        return Edge(
            self._settings.edge, Timeouts(), runs, profiles, (), Door(), run_deadline_s=self._settings.bus.deadline_s
        )

    def _locate(self) -> None:
        """Where the pages of sources are, if the stack serves any."""
        there = running(state_folder(self._settings))
        self._found = there is not None
        port = there.edge_port if there is not None else None
        self.base = (self._settings.edge.public_url or url_of(addresses_of(self._settings), port)) if port else ""

    async def _gone(self, runs: Runs) -> None:
        """Wait until the stack is stopped."""
        while True:
            await asyncio.sleep(LOOK_S)
            if self._stopped(runs):
                return

    def _stopped(self, runs: Runs) -> bool:
        """Whether the stack is, or is about to be; one whose nats-server restarts is not."""
        return (self._found or not runs.client.is_connected) and running(state_folder(self._settings)) is None
