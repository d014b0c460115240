"""A connection to the session's nats-server, and a separate server that a test may kill and restart."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import pytest
from nats.aio.client import Client

from bus.journal.journal import Journal
from bus.transport.connection import Inbox, connect, declare_streams, keep_trying
from bus.transport.settings import BusSettings
from tests.bus.wires import Opener, Server, Wire


@pytest.fixture(scope="session")
async def wire(bus_settings: BusSettings) -> AsyncIterator[Wire]:
    client = await connect(bus_settings.url, name="bus-tests")
    inbox = Inbox(client)
    yield Wire(client, inbox, Journal(client, inbox))
    await client.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "nats")
    made.start()
    yield made
    made.kill()


@pytest.fixture
async def own_settings(server: Server) -> BusSettings:
    """Settings of that server, its streams declared; so patient that a slow machine is not taken for a dead worker."""
    settings = BusSettings(
        url=server.url, ack_wait_s=60.0, heartbeat_s=1.0, janitor_period_s=0.02, max_deliver=5, deadline_s=120.0
    )
    client = await connect(server.url, name="declare")
    await declare_streams(client.jetstream(timeout=2.0), settings)
    await client.close()
    return settings


@pytest.fixture
def impatient(own_settings: BusSettings) -> BusSettings:
    """As `own_settings`, but what a dead worker had begun soon comes again."""
    return msgspec.structs.replace(own_settings, ack_wait_s=1.5, heartbeat_s=0.1, max_deliver=100)


@pytest.fixture
async def own_wire(own_settings: BusSettings) -> AsyncIterator[Wire]:
    client = await connect(own_settings.url, name="own")
    keep_trying(client)
    inbox = Inbox(client)
    yield Wire(client, inbox, Journal(client, inbox))
    await client.close()


@pytest.fixture
async def another_wire(bus_settings: BusSettings) -> AsyncIterator[Opener]:
    """Opens further connections to the session's server, closed when the test is over."""
    clients: list[Client] = []

    async def open_one() -> Wire:
        client = await connect(bus_settings.url, name="another")
        keep_trying(client)
        clients.append(client)
        inbox = Inbox(client)
        return Wire(client, inbox, Journal(client, inbox))

    yield open_one
    for client in clients:
        await client.close()
