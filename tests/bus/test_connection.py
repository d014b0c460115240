"""Connections: closed while the server is away, and flushed; a choice between the replies of several servers."""

from types import SimpleNamespace

import msgspec
import pytest

from bus.delivery.graph import Graph
from bus.delivery.worker import Worker
from bus.transport.configuration import ApiReply, streams
from bus.transport.connection import connect, keep_trying
from bus.transport.envelope import headers_of, status_in
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


async def test_flush_is_not_overtaken_by_its_ping(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("unsent_bytes", [0, 10**6])
async def test_messages_of_one_turn_are_one_write(
    server: Server, monkeypatch: pytest.MonkeyPatch, unsent_bytes: int
) -> None:
    client = await connect(server.url, name="flushing")
    heard = await client.subscribe("gw.cancel.*")
    await client.flush()
    writes: list[int] = []
    transport = client._transport
    writelines = transport.writelines
    monkeypatch.setattr(transport, "writelines", lambda lines: (writes.append(len(lines)), writelines(lines)))
    full = SimpleNamespace(get_write_buffer_size=lambda: unsent_bytes)
    monkeypatch.setattr(type(transport._io_writer), "transport", full)
    for name in "abc":
        await client.publish(f"gw.cancel.{name}", b"", headers={"n": name})
    assert [(await heard.next_msg(2)).subject for _ in "abc"] == [f"gw.cancel.{name}" for name in "abc"]
    assert (writes, client._flush_queue.empty()) == ([3], True)
    monkeypatch.undo()
    await client.close()


async def test_next_server_replaces_an_absent_one(server: Server) -> None:
    client = await connect(f"nats://me:secret@127.0.0.1:1, {server.url}", name="test")
    assert client.is_connected
    await client.close()


async def test_absent_servers_are_named_without_a_password() -> None:
    with pytest.raises(
        Unavailable, match=r"no nats-server at nats://127.0.0.1:1, nats://127.0.0.1:2 \(.*groundwire up"
    ):
        await connect("nats://me:secret@127.0.0.1:1,nats://me:secret@127.0.0.1:2", name="test", patience_s=0.1)


def test_cluster_keeps_the_configured_replicas() -> None:
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
def test_status_of_server_replies(header: bytes, status: str) -> None:
    assert status_in(header) == status


def test_binary_headers_are_read_as_far_as_possible() -> None:
    assert headers_of(b"NATS/1.0\r\nA: \xff\r\n\xff: b\r\nno colon\r\nC:d\r\n\r\n") == {"A": "\ufffd", "C": "d"}
    assert headers_of(b"") == {}


S = 1_000_000_000


@pytest.mark.parametrize(
    ("others", "believed"),
    [
        (None, True),  # no cluster
        ([], True),  # one copy
        ([1 * S, 2 * S], True),
        ([1 * S, 90 * S], True),
        ([4 * S, 4 * S], False),  # they may have elected another
        ([0, 0], False),  # never heard of
        ([1 * S, 0, 0, 0], False),
        ([1 * S, 2 * S, 0, 0], True),
    ],
)
def test_leader_needs_a_recent_majority(others: list[int] | None, believed: bool) -> None:
    said = {"state": {"last_seq": 3}}
    if others is not None:
        said["cluster"] = {"leader": "a", "replicas": [{"name": "x", "active": each} for each in others]}  # type: ignore[dict-item]
    assert msgspec.json.decode(msgspec.json.encode(said), type=ApiReply).has_majority == believed
