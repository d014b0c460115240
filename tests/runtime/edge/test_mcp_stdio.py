"""The protocol over two byte streams, in this process: cancellation, both versions, unreadable lines and the end."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bus.runs.router import Closing, Reader
from bus.runs.runs import Runs
from bus.wire.messages import QuestionAsked
from runtime.edge.door import Caller
from runtime.edge.state import Edge
from runtime.keys import SCOPES
from runtime.mcp.stdio import serve
from runtime.mcp.tools import Peer
from runtime.settings import EdgeSettings
from tests.clients.mcp_runs import ANSWER, cites, held
from tests.polling import ended
from tests.runtime.edge.conftest import Pipeline

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
ENVELOPE = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


class Here(Peer):
    def __init__(self, runs: Runs) -> None:
        super().__init__(Caller("", "", frozenset(SCOPES), None))
        self.runs = runs
        self.restart()

    def restart(self) -> None:
        self.current = Edge(EdgeSettings(), self.runs)

    async def edge(self) -> Edge:
        return self.current

    @contextlib.asynccontextmanager
    async def run(self, edge: Edge, question: QuestionAsked) -> AsyncIterator[Reader]:
        async with super().run(edge, question) as self.reader:
            yield self.reader


class Connection:
    """A client's end."""

    def __init__(self, runs: Runs) -> None:
        self.prepared = 0
        self.lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.got: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.peer = Here(runs)
        self.serving = asyncio.create_task(serve(self.peer, self.sent(), self.take, self.prepare))

    def prepare(self) -> None:
        self.prepared += 1

    async def take(self, line: bytes) -> None:
        assert line.endswith(b"\n")
        self.got.put_nowait(json.loads(line))

    async def sent(self) -> AsyncIterator[bytes]:
        while (line := await self.lines.get()) is not None:
            yield line

    def send(self, method: str, id: Any = None, **params: Any) -> None:
        named = {} if id is None else {"id": id}
        self.lines.put_nowait(json.dumps({"jsonrpc": "2.0", "method": method, "params": params} | named).encode())

    async def greet(self) -> None:
        self.send("initialize", 0, **HELLO)
        assert (await self.got.get())["result"]["protocolVersion"] == "2025-11-25"

    def ask(self, question: str, id: Any) -> None:
        self.send("tools/call", id, name="ask", arguments={"question": question})


@pytest.fixture
async def connection(runs: Runs, pipeline: Pipeline) -> AsyncIterator[Connection]:
    pipeline.scripts["cites"] = cites
    made = Connection(runs)
    yield made
    made.lines.put_nowait(None)
    await made.serving


async def test_cancelled_request(connection: Connection, pipeline: Pipeline, runs: Runs) -> None:
    pipeline.scripts["held"] = run = held()
    await connection.greet()
    connection.ask("held back", "first")
    run_id = await run.begun.get()
    connection.ask("cites When?", 2)  # nothing waits for the first
    assert (await connection.got.get())["id"] == 2
    for wrong in ({}, {"requestId": "nonesuch"}, {"requestId": [1]}):
        connection.send("notifications/cancelled", **wrong)
    connection.send("ping", 3)
    assert (await connection.got.get())["id"] == 3
    assert not pipeline.ended[run_id].done()
    connection.send("notifications/cancelled", requestId="first", reason="enough")
    await pipeline.ended[run_id]
    assert (await ended(runs, run_id)).outcome == "cancelled"
    connection.send("ping", 4)
    assert (await connection.got.get())["id"] == 4  # the cancelled request gets no answer


async def test_client_leaves(runs: Runs, pipeline: Pipeline) -> None:
    pipeline.scripts["held"] = run = held()
    made = Connection(runs)
    await made.greet()
    made.ask("held back", 1)
    run_id = await run.begun.get()
    made.lines.put_nowait(None)
    await made.serving
    await pipeline.ended[run_id]
    assert (await ended(runs, run_id)).outcome == "cancelled"


async def test_greetings_prepare_nothing(connection: Connection) -> None:
    await connection.greet()
    connection.send("ping", 1)
    await connection.got.get()
    assert connection.prepared == 0
    connection.send("prompts/list", 2)
    await connection.got.get()
    assert connection.prepared == 1


async def test_newest_version(connection: Connection) -> None:
    connection.send("server/discover", 1, _meta=ENVELOPE)
    assert (await connection.got.get())["result"]["supportedVersions"] == ["2026-07-28"]
    connection.send("tools/list", 2)
    assert (await connection.got.get())["error"]["code"] == -32602
    connection.send("initialize", 3, **HELLO)
    assert (await connection.got.get())["error"]["code"] == -32022


async def test_stopped_stack_is_a_protocol_error(connection: Connection, pipeline: Pipeline) -> None:
    pipeline.scripts["held"] = run = held()
    await connection.greet()
    connection.ask("held back", 1)
    await run.begun.get()
    connection.peer.reader.fail(Closing())
    error = (await connection.got.get())["error"]
    assert (error["code"], error["data"]) == (503, {"code": "unavailable"})
    assert "send this request again" in error["message"]


async def test_restarted_stack_answers(connection: Connection, pipeline: Pipeline) -> None:
    pipeline.scripts["held"] = run = held()
    await connection.greet()
    connection.ask("held back", 1)
    await run.begun.get()
    connection.peer.restart()
    connection.peer.reader.fail(Closing())
    run.go_on.set()
    assert (await connection.got.get())["result"]["structuredContent"]["answer"] == ANSWER


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe",
        b"{",
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + b"[" * 5000,
        b"[]",
        b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
    ],
)
async def test_unreadable_line(connection: Connection, line: bytes) -> None:
    connection.lines.put_nowait(line)
    assert (await connection.got.get())["error"]["code"] == -32700
    connection.send("ping", 1)
    assert (await connection.got.get())["id"] == 1
