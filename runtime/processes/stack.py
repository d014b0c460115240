"""A stack to ask questions of: the one already running over the index, or a temporary one."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from bus.journal.journal import Journal
from bus.runs.runs import Runs
from bus.transport.connection import connect, declare_streams, keep_trying
from index.search import class_archive
from runtime.processes.nats_users import bus_at
from runtime.processes.roles import roles_over
from runtime.processes.state_folder import Address, is_free, running, state_folder
from runtime.processes.supervisor import Stack, StackRunning
from runtime.settings import Settings

#: How long one is tried to be started that others, which start and stop, are in the way of.
PATIENCE_S = 60.0


@contextlib.asynccontextmanager
async def stack_for(settings: Settings, *, say: Callable[[str], None], alone: bool = False) -> AsyncIterator[Runs]:
    """The `Runs` of a stack over the settings' index; starts the missing processes and stops them afterwards.

    `alone`: for a question or two: the roles share this process where they can, which starts sooner and answers one at a time.
    Raises Unavailable, NoServer, StackRunning.
    """
    folder = state_folder(settings)
    there = _lasting(folder)
    stack: Stack | None = None
    roles = [role for role in roles_over(settings) if role != "edge"]
    if there is None:
        say(f"starting nats-server, {', '.join(roles)}…")
    give_up = time.monotonic() + PATIENCE_S
    while stack is None and there is None:
        try:
            stack = await _started(Stack(settings, folder, roles, say=say, alone=alone))
        except StackRunning:  # it is starting, or shutting down, or ends with its question
            if (other := running(folder)) is not None and other.brief:
                say("waiting for another question over this index…")
                give_up = time.monotonic() + PATIENCE_S
            there = await _appears(folder)
            if there is None and time.monotonic() > give_up:
                raise
    async with contextlib.AsyncExitStack() as closing:
        if there is not None:
            bus = bus_at(folder, there.nats_url, settings.bus)
        elif stack is not None:
            if settings.index.dir:
                closing.push_async_callback(asyncio.to_thread, class_archive.make_behind, Path(settings.index.dir))
            closing.push_async_callback(stack.stop)
            await stack.ready()
            bus = stack.settings.bus
        client = await connect(bus, name="groundwire-cli")
        closing.push_async_callback(client.close)
        keep_trying(client)
        await declare_streams(client.jetstream(timeout=2.0), settings.bus)
        runs = Runs(Journal(client))
        await runs.start()
        closing.push_async_callback(runs.stop)
        yield runs


async def _started(stack: Stack) -> Stack:
    """The stack, started; a failed start leaves nothing behind. Raises StackRunning, NoServer, Unavailable."""
    try:
        await stack.start()
    except StackRunning:
        raise
    except BaseException:
        await stack.stop()
        raise
    return stack


def _lasting(folder: Path) -> Address | None:
    """The stack that runs over this folder, unless it ends with its question."""
    there = running(folder)
    return None if there is not None and there.brief else there


async def _appears(folder: Path) -> Address | None:
    """Wait for the address of a stack that holds the lock but has not written where it listens; None once it has stopped."""
    for _ in range(200):
        if (there := _lasting(folder)) is not None or is_free(folder):
            return there
        await asyncio.sleep(0.05)
    return None
