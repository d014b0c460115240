"""An edge that listens in this process, in front of a bus that is there already."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

from bus.runs.runs import Runs
from bus.transport.settings import BusSettings
from runtime.edge import openapi
from runtime.edge.app import make_app
from runtime.edge.routes import Route
from runtime.edge.state import Edge
from runtime.edge.timeouts import Timeouts
from runtime.processes import search
from runtime.processes.edge import serve
from runtime.settings import EdgeSettings, Settings
from tests.bus.wires import serving, wired


def declared_routes() -> tuple[Route, ...]:
    """Every route of an edge. Raises Unavailable."""
    return make_app(Edge(EdgeSettings(), cast("Runs", None)))[openapi.ROUTES]


ROUTES = declared_routes()
PATIENT = Timeouts(health_s=5.0)


@contextlib.asynccontextmanager
async def declared_bus(folder: Path) -> AsyncIterator[BusSettings]:
    """A nats-server of its own, with the streams."""
    with serving(folder) as server:
        settings = BusSettings(url=server.url)
        async with wired(settings):
            pass
        yield settings


@contextlib.asynccontextmanager
async def open_edge(settings: Settings, timeouts: Timeouts | None = None) -> AsyncIterator[str]:
    """The address of an edge of this process that listens."""
    stop = asyncio.Event()
    listening: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve(settings, stop, timeouts=timeouts, listening=listening))
    await asyncio.wait([task, listening], return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        await task
    try:
        yield f"http://127.0.0.1:{listening.result()}"
    finally:
        stop.set()
        await task


@contextlib.asynccontextmanager
async def open_search(settings: Settings) -> AsyncIterator[None]:
    """A search process in this process."""
    stop = asyncio.Event()
    task = asyncio.create_task(search.serve(settings, stop))
    try:
        yield
    finally:
        stop.set()
        await task


@contextlib.asynccontextmanager
async def edge_of(
    bus: BusSettings, folder: Path, *, timeouts: Timeouts = PATIENT, **options: Any
) -> AsyncIterator[str]:
    """Its address. `options`: settings other than those of the bus."""
    chosen = {"edge": EdgeSettings(port=0, canary_s=0), "state": str(folder), **options}
    async with open_edge(Settings(bus=bus, **chosen), timeouts) as address:
        yield address
