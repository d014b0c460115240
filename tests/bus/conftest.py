"""Connections to the session's nats-server, and to a separate one that a test may kill and restart."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import msgspec
import pytest

from bus.transport.settings import BusSettings
from tests.bus.wires import Opener, Server, Wire, wired


@pytest.fixture(scope="session")
async def wire(bus_settings: BusSettings) -> AsyncIterator[Wire]:
    async with wired(bus_settings) as made:
        yield made


@pytest.fixture
async def own_settings(server: Server) -> BusSettings:
    """Settings of that server, its streams declared; so patient that a slow machine is not taken for a dead worker."""
    settings = BusSettings(
        url=server.url, ack_wait_s=60.0, heartbeat_s=1.0, janitor_period_s=0.02, max_deliver=5, deadline_s=120.0
    )
    async with wired(settings):
        return settings


@pytest.fixture
def impatient(own_settings: BusSettings) -> BusSettings:
    """As `own_settings`, but what a dead worker had begun soon comes again."""
    return msgspec.structs.replace(own_settings, ack_wait_s=1.5, heartbeat_s=0.1, max_deliver=100)


@pytest.fixture
async def own_wire(own_settings: BusSettings) -> AsyncIterator[Wire]:
    async with wired(own_settings) as made:
        yield made


@pytest.fixture
async def another_wire(bus_settings: BusSettings) -> AsyncIterator[Opener]:
    """Opens further connections to the session's server, closed when the test is over."""
    async with AsyncExitStack() as stack:
        yield lambda: stack.enter_async_context(wired(bus_settings))
