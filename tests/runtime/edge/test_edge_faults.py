"""The edge while nats-server dies, fills up or stays away, and while the edge itself is stopped."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest

from bus.journal.journal import Journal
from bus.powers.events import Done, Emitter, TokensEnd
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from bus.wire.messages import QuestionAsked, RunFinished
from bus.wire.settled import Settled
from bus.wire.subjects import finished, key_of
from runtime.edge.timeouts import Timeouts
from runtime.settings import ActorsSettings, EdgeSettings, Settings
from tests.bus.wires import Server, serving, wired
from tests.runtime.edge.strict_sse import parse
from tests.runtime.edge.test_edge_streams import read_events
from tests.runtime.served import open_edge


@dataclass
class Edge:
    """An edge in this process that a test stops when it likes."""

    settings: Settings
    running: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)
    address: str = ""

    async def start(self) -> "Edge":
        timeouts = Timeouts(keepalive_s=60, nats_s=3.0, health_s=3.0)
        self.address = await self.running.enter_async_context(open_edge(self.settings, timeouts))
        return self

    async def end(self) -> None:
        await self.running.aclose()


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    with serving(tmp_path) as running:
        yield running


@pytest.fixture
def settings(server: Server, tmp_path: Path) -> Settings:
    return Settings(
        bus=BusSettings(url=server.url, runs_max_bytes=40_000), edge=EdgeSettings(port=0), state=str(tmp_path)
    )


@pytest.fixture
async def edge(settings: Settings, journal: Journal) -> AsyncIterator[Edge]:
    """An edge; `journal` has made the streams, as the actors do."""
    made = await Edge(settings).start()
    yield made
    await made.end()


@pytest.fixture
async def http(edge: Edge) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(edge.address) as session:
        yield session


@pytest.fixture
async def journal(settings: Settings) -> AsyncIterator[Journal]:
    async with wired(settings.bus) as wire:
        yield wire.journal


async def end(journal: Journal, run_id: str, emitter: Emitter) -> None:
    await journal.write(finished(run_id), RunFinished(settled=Settled(outcome="answered")))
    await emitter.events(TokensEnd(), Done())


async def test_a_stream_outlives_the_server(http: aiohttp.ClientSession, server: Server, journal: Journal) -> None:
    response = await http.post("/v1/runs", json={"question": "a"})
    run_id = response.headers["X-Run-Id"]
    emitter = Emitter(journal, run_id)
    await emitter.tokens(["a"])
    server.kill()
    server.start()
    await emitter.tokens([" b"])
    await end(journal, run_id, emitter)
    assert [number for number, _ in parse(await response.read())] == [1, 2, 3, 4]


async def test_absent_server_is_503_at_once(http: aiohttp.ClientSession, server: Server) -> None:
    server.kill()
    calls = [
        http.post("/v1/runs", json={"question": "a"}),
        http.get("/v1/runs/some"),
        http.get("/v1/runs/some/events"),
        http.post("/v1/runs/some/cancel"),
        http.get("/readyz"),
    ]
    for response in await asyncio.wait_for(asyncio.gather(*calls), 60):
        assert response.status == 503
        assert response.headers["Retry-After"] == "2"
        assert "nats-server" in await response.text()
    async with http.get("/healthz") as alive:
        assert alive.status == 200


async def test_full_journal_is_503_and_loses_nothing(http: aiohttp.ClientSession, journal: Journal) -> None:
    accepted = []
    for _ in range(20):
        async with http.post("/v1/runs", json={"question": "x" * 4000}) as response:
            if response.status == 503:
                problem = await response.json(content_type="application/problem+json")
                break
            accepted.append(response.headers["X-Run-Id"])
        await Emitter(journal, accepted[-1]).events(Done())  # no process answers here, and only this many may be active
    else:
        pytest.fail("the journal never filled up")
    assert "the journal has no room" in problem["detail"]
    assert "raise bus.runs_max_bytes" in problem["detail"]
    for run_id in accepted:
        assert await journal.latest([key_of(QuestionAsked, run_id).subject])


async def test_stopped_streams_continue_at_another_edge(settings: Settings, journal: Journal) -> None:
    first = await Edge(settings).start()
    async with aiohttp.ClientSession() as session:
        stream = await session.post(f"{first.address}/v1/runs", json={"question": "a", "on_disconnect": "cancel"})
        run_id = stream.headers["X-Run-Id"]
        socket = await session.ws_connect(f"{first.address}/v1/ws")
        emitter = Emitter(journal, run_id)
        await emitter.tokens(["a"])
        began = await read_events(stream.content, 1)
        await asyncio.wait_for(first.end(), 30)
        assert await stream.read() == b""
        message = await socket.receive(timeout=30)
        assert (message.type, message.data) == (aiohttp.WSMsgType.CLOSE, aiohttp.WSCloseCode.GOING_AWAY)
        second = await Edge(settings).start()
        await emitter.tokens([" b"])
        await end(journal, run_id, emitter)  # a process that stops is no client that left: nothing was cancelled
        headers = {"Last-Event-ID": str(parse(began)[-1][0])}
        async with session.get(f"{second.address}/v1/runs/{run_id}/events", headers=headers) as rest:
            assert [number for number, _ in parse(await rest.read())] == [2, 3, 4]
        async with session.get(f"{second.address}/v1/runs/{run_id}") as record:
            assert json.loads(await record.read())["outcome"] == "answered"
        await second.end()


async def test_port_in_use_is_one_line(edge: Edge, settings: Settings) -> None:
    taken = int(edge.address.rpartition(":")[2])
    with pytest.raises(Unavailable, match="choose another port with --port") as raised:
        await Edge(Settings(bus=settings.bus, edge=EdgeSettings(port=taken), state=settings.state)).start()
    assert "\n" not in str(raised.value)


async def test_readiness_asks_every_actor_process(settings: Settings, journal: Journal) -> None:
    spread = Settings(bus=settings.bus, edge=settings.edge, actors=ActorsSettings(processes=2), state=settings.state)
    edge = await Edge(spread).start()
    async with aiohttp.ClientSession(edge.address) as session, session.get("/readyz") as response:
        found = json.loads(await response.read())["checks"]
    assert set(found) == {"nats", "streams", "search", "actors", "actors-2", "edge", "canary"}
    assert found["actors-2"]["detail"] == "no actors-2 process answers"
    await edge.end()
