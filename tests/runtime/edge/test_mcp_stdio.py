"""The protocol over two byte streams, in this process: cancellation, ids, what a connection agrees on, and its end."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from bus.runs.runs import Runs
from runtime.edge.door import Caller, Door
from runtime.edge.known_profiles import KnownProfiles
from runtime.edge.state import Edge
from runtime.edge.timeouts import Timeouts
from runtime.keys import SCOPES
from runtime.mcp.stdio import Stdio
from runtime.settings import EdgeSettings
from tests.clients.mcp_runs import ANSWER, Held, cites
from tests.runtime.edge.conftest import Pipeline


@dataclass
class Here:
    runs: Runs
    caller: Caller
    base: str = ""

    async def edge(self) -> Edge:
        return Edge(EdgeSettings(), Timeouts(), self.runs, KnownProfiles(), (), Door())


class Connection:
    """A client's end."""

    def __init__(self, runs: Runs) -> None:
        self.prepared = 0
        self.lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.got: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.stdio = Stdio(Here(runs, Caller("", "", frozenset(SCOPES), None)), self.take, self.prepare)

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

    def ask(self, question: str, id: Any) -> None:
        self.send("tools/call", id, name="ask", arguments={"question": question})


@pytest.fixture
async def connection(runs: Runs, pipeline: Pipeline) -> AsyncIterator[Connection]:
    before = dict(pipeline.scripts)
    pipeline.scripts["cites"] = cites
    made = Connection(runs)
    serving = asyncio.create_task(made.stdio.serve(made.sent()))
    yield made
    made.lines.put_nowait(None)
    await serving
    pipeline.scripts = before


async def test_cancelled_request_gets_no_answer(connection: Connection, pipeline: Pipeline, runs: Runs) -> None:
    pipeline.scripts["held"] = held = Held()
    connection.ask("held back", "first")
    run_id = await held.begun.get()
    connection.ask("cites When?", 2)  # nothing waits for the first
    assert (await connection.got.get())["id"] == 2
    for wrong in ({}, {"requestId": "nonesuch"}, {"requestId": [1]}):
        connection.send("notifications/cancelled", **wrong)
    connection.ask("cites When?", "first")  # an id that is in use
    assert (await connection.got.get())["error"]["code"] == -32600
    assert not pipeline.ended[run_id].done()
    connection.send("notifications/cancelled", requestId="first", reason="enough")
    await pipeline.ended[run_id]
    record = await runs.record(run_id)
    assert record is not None
    assert record.outcome == "cancelled"
    connection.send("ping", 3)
    assert (await connection.got.get())["id"] == 3


async def test_leaving_client_cancels_its_requests(runs: Runs, pipeline: Pipeline) -> None:
    pipeline.scripts["held"] = held = Held()
    made = Connection(runs)
    serving = asyncio.create_task(made.stdio.serve(made.sent()))
    made.ask("held back", 1)
    run_id = await held.begun.get()
    made.lines.put_nowait(None)
    await serving
    await pipeline.ended[run_id]
    record = await runs.record(run_id)
    assert record is not None
    assert record.outcome == "cancelled"


async def test_connection_keeps_version_and_log_level(connection: Connection) -> None:
    connection.send("initialize", 1, protocolVersion="2025-03-26", capabilities={}, clientInfo={})
    assert (await connection.got.get())["result"]["protocolVersion"] == "2025-03-26"
    assert connection.prepared == 0
    connection.send("logging/setLevel", 2, level="info")
    assert (await connection.got.get())["result"] == {}
    assert connection.prepared == 1
    connection.ask("cites When?", 3)
    logged = await connection.got.get()
    assert (logged["method"], logged["params"]["level"]) == ("notifications/message", "info")
    (content,) = (await connection.got.get())["result"]["content"]  # this version knows texts only
    assert content["text"].startswith(ANSWER)
    assert connection.prepared == 1


async def test_each_request_may_use_the_newest_version(connection: Connection) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    connection.send("server/discover", 1, _meta=meta)
    assert (await connection.got.get())["result"]["supportedVersions"] == ["2026-07-28"]
    connection.send("server/discover", 2)
    assert (await connection.got.get())["error"]["code"] == -32602
    connection.send("subscriptions/listen", 3, _meta=meta, notifications={})
    assert (await connection.got.get())["method"] == "notifications/subscriptions/acknowledged"
    connection.send("initialize", 4, _meta=meta, protocolVersion="2026-07-28")
    assert (await connection.got.get())["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"\xff\xfe", -32700),
        (b"{", -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + b"[" * 5000, -32700),
        (b"[]", -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
    ],
)
async def test_invalid_line_is_reported(connection: Connection, line: bytes, code: int) -> None:
    connection.lines.put_nowait(line)
    assert (await connection.got.get())["error"]["code"] == code
    connection.send("ping", 1)
    assert (await connection.got.get())["id"] == 1
