"""Connections: closed while the server is away, and flushed."""

import pytest

from bus.connection import connect, keep_trying
from bus.delivery import Worker
from bus.graph import Graph
from bus.settings import BusSettings
from tests.bus.toys import done, end, intake
from tests.bus.wires import Server
from tests.polling import until


async def test_a_connection_closes_with_words_unsent(server: Server) -> None:
    client = await connect(server.url, name="closing")
    keep_trying(client)
    server.kill()
    await until(lambda: not client.is_connected)
    await client.publish("gw.cancel.x", b"")
    await client.close()
    assert client.is_closed


async def test_a_worker_stops(server: Server, own_settings: BusSettings) -> None:
    worker = Worker(Graph((intake, end, done)), own_settings)
    await worker.start()
    server.kill()
    await until(lambda: not worker.client.is_connected)
    await worker.stop()
    assert worker.client.is_closed


async def test_a_flush_is_not_overtaken_by_its_own_ping(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    client = await connect(server.url, name="flushing")
    sent: list[bytes] = []
    transport = client._transport
    write, writelines = transport.write, transport.writelines
    monkeypatch.setattr(transport, "write", lambda data: (sent.append(bytes(data)), write(data)))
    monkeypatch.setattr(transport, "writelines", lambda lines: (sent.extend(map(bytes, lines)), writelines(lines)))
    await client.publish("gw.cancel.x", b"")
    await client.flush()
    assert [data.split()[0] for data in sent] == [b"PUB", b"PING"]
    await client.close()
