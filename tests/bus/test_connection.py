"""Connections: closed while the server is away, and flushed."""

import pytest

from bus.delivery.graph import Graph
from bus.delivery.worker import Worker
from bus.transport.configuration import streams
from bus.transport.connection import connect, keep_trying
from bus.transport.frames import headers_of, status_in
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from bus.wire.subjects import EVENTS, RUNS
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


async def test_of_several_servers_the_next_is_taken_where_one_is_away(server: Server) -> None:
    client = await connect(f"nats://me:secret@127.0.0.1:1, {server.url}", name="test")
    assert client.is_connected
    await client.close()


async def test_servers_that_are_all_away_are_named_without_a_password() -> None:
    with pytest.raises(Unavailable, match=r"no nats-server at nats://127.0.0.1:1, nats://127.0.0.1:2 \("):
        await connect("nats://me:secret@127.0.0.1:1,nats://me:secret@127.0.0.1:2", name="test", patience_s=0.1)


def test_a_cluster_keeps_as_many_copies_as_the_settings_say() -> None:
    assert {name: config.get("num_replicas") for name, config in streams(BusSettings(replicas=3)).items()} == {
        RUNS: 3,
        EVENTS: 3,
    }
    assert not any("num_replicas" in config for config in streams(BusSettings()).values())


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (b"", ""),
        (b"NATS/1.0\r\n\r\n", ""),
        (b"NATS/1.0\r\nStatus: 404\r\n\r\n", ""),
        (b"NATS/1.0 503\r\n\r\n", "503"),
        (b"NATS/1.0 408 Request Timeout\r\nNats-Pending-Messages: 3\r\n\r\n", "408"),
        (b"NATS/1.0 \xff\r\n\r\n", ""),
    ],
)
def test_the_status_of_what_a_server_says(header: bytes, status: str) -> None:
    assert status_in(header) == status


def test_headers_that_are_no_text_are_read_as_far_as_they_are() -> None:
    assert headers_of(b"NATS/1.0\r\nA: \xff\r\n\xff: b\r\nno colon\r\nC:d\r\n\r\n") == {"A": "\ufffd", "C": "d"}
    assert headers_of(b"") == {}
