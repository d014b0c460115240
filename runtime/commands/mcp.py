"""`groundwire mcp`: offer the documents of an index to a program that works with a language model, over our input and output.

The stack that answers the client is one that runs over the index, or its own, which starts with the first question and stops with
the client. When another program's stack stops, the next question starts one.
"""

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path

import anyio
import click

from bus.journal.access import Groups
from bus.runs.runs import Runs
from bus.wire.errors import Failure, Unavailable
from runtime.commands.filter_options import GROUP, taken_groups
from runtime.commands.options import CONFIG, SERVED_INDEX, Place, check_index, read_settings
from runtime.edge.door import Caller
from runtime.edge.state import Edge, KnownProfiles
from runtime.keys import SCOPES
from runtime.mcp.stdio import LONGEST_LINE, serve
from runtime.mcp.tools import Peer
from runtime.processes.listening import addresses_of, url_of
from runtime.processes.nats_server import NoServer
from runtime.processes.stack import stack_for
from runtime.processes.state_folder import running, state_folder
from runtime.settings import Settings
from runtime.terminal import one_line, say

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
                profiles = KnownProfiles(Path(self._settings.profiles) if self._settings.profiles else None)
                deadline_s = self._settings.bus.deadline_s
                self._edge = Edge(self._settings.edge, runs, profiles, run_deadline_s=deadline_s)
                await self._edge.count_runs()
                ready.set_result(self._edge)
                while True:
                    await asyncio.sleep(LOOK_S)
                    if self._stopped(runs):
                        break
                self._say("the stack that answered was stopped")
        except (Failure, NoServer, OSError) as failure:
            self._say(str(failure))
            if not ready.done():
                ready.set_exception(Unavailable(str(failure)))
        finally:
            ready.cancel()

    def _locate(self) -> None:
        """Find the address of the pages of sources, if the stack serves any."""
        there = running(state_folder(self._settings))
        self._local = there is not None
        port = there.edge_port if there is not None else None
        self.base = (self._settings.edge.public_url or url_of(addresses_of(self._settings), port)) if port else ""

    def _stopped(self, runs: Runs) -> bool:
        """Whether the stack has stopped or is stopping; a restart of its nats-server is no stop."""
        return (self._local or not runs.client.is_connected) and running(state_folder(self._settings)) is None


_CHUNK = 64 * 1024


@click.command("mcp")
@SERVED_INDEX
@GROUP
@CONFIG
@click.pass_context
def mcp_command(ctx: click.Context, /, index: Place, config: Path | None, **options: tuple[str, ...]) -> None:
    """Speak the Model Context Protocol over standard input and output, for a desktop client that starts it.

    It uses the stack that runs over the index, or starts its own, and ends when its input does.
    """
    settings = read_settings(config, index=check_index(index))
    source, sink = _taken()
    home = Home(settings, taken_groups(options), lambda line: say(one_line(line), err=True))
    asyncio.run(_serve(home, source, sink))


def _taken() -> tuple[int, int]:
    """Standard input and output for the protocol alone: other readers get an empty file, other output goes to the log."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, sink


async def _serve(home: Home, source: int, sink: int) -> None:
    async def write(data: bytes) -> None:
        await _aside(partial(_write_all, sink, data))

    try:
        await serve(home, _lines(source), write, home.open)
    finally:
        with anyio.CancelScope(shield=True):
            await home.close()


async def _lines(source: int) -> AsyncIterator[bytes]:
    """The lines of a file. Raises OSError for a line without an end."""
    begun = bytearray()
    while chunk := await _aside(partial(os.read, source, _CHUNK)):
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            yield bytes(begun) + line
            begun.clear()
        begun += rest
        if len(begun) > LONGEST_LINE:
            raise OSError(f"a line is longer than {LONGEST_LINE} bytes")
    if begun:
        yield bytes(begun)


async def _aside[T](work: Callable[[], T]) -> T:
    """Work that may block for ever, in a thread that does not keep the process alive, unlike a pool's."""
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(work())
        except Exception as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(done)


def _write_all(sink: int, data: bytes) -> None:
    while data:
        data = data[os.write(sink, data) :]
