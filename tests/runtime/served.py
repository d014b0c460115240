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
from runtime.edge.timeouts import Timeouts
from runtime.processes.edge import serve
from runtime.settings import EdgeSettings, Settings


def declared_routes() -> tuple[Route, ...]:
    """Every route of an edge. Raises Unavailable."""
    return make_app(EdgeSettings(), cast(Runs, None))[openapi.ROUTES]


ROUTES = declared_routes()
PATIENT = Timeouts(health_s=5.0)


@contextlib.asynccontextmanager
async def edge_of(
    bus: BusSettings, folder: Path, *, timeouts: Timeouts = PATIENT, **options: Any
) -> AsyncIterator[str]:
    """Its address. `options`: settings other than those of the bus."""
    stop, listening = asyncio.Event(), asyncio.get_running_loop().create_future()
    chosen = {"edge": EdgeSettings(port=0, canary_s=0), "state": str(folder), **options}
    settings = Settings(bus=bus, **chosen)
    task = asyncio.create_task(serve(settings, stop, timeouts=timeouts, listening=listening))
    await asyncio.wait([task, listening], return_when=asyncio.FIRST_COMPLETED)
    yield f"http://127.0.0.1:{listening.result()}"
    stop.set()
    await task
