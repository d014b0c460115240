"""A client that leaves, at any moment and by any protocol, leaves nothing behind: no run, task, reader or connection."""

import asyncio
import contextlib
import gc
import json
from collections.abc import Mapping
from typing import Any

import aiohttp
import psutil
import pytest

from bus.powers.events import Done, Emitter, Error
from bus.runs.router import EventRouter, Reader
from bus.runs.runs import Runs
from bus.wire.errors import Unavailable
from bus.wire.messages import Message, QuestionAsked
from bus.wire.subjects import Key, is_canary
from runtime.edge.openai.retries import _SHARED
from runtime.edge.state import Edge
from tests.polling import until
from tests.runtime.edge.conftest import Pipeline

WORD = "leaving"
QUESTION = f"{WORD} {'so many words ' * 20}?"
CHAT: dict[str, object] = {"model": "general", "messages": [{"role": "user", "content": QUESTION}]}
RESPONSE: dict[str, object] = {"model": "general", "input": QUESTION}
UI: dict[str, object] = {"id": "c", "messages": [{"role": "user", "parts": [{"type": "text", "text": QUESTION}]}]}
TOOL: dict[str, object] = {"name": "ask", "arguments": {"question": QUESTION}, "_meta": {"progressToken": "t"}}
MCP: dict[str, object] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": TOOL}
ASKED: tuple[tuple[str, dict[str, object]], ...] = (
    ("/v1/chat/completions", CHAT),
    ("/v1/chat/completions", CHAT | {"stream": True}),
    ("/v1/responses", RESPONSE),
    ("/v1/responses", RESPONSE | {"stream": True}),
    ("/api/chat", UI),
    ("/mcp", MCP),
    ("/v1/runs", {"question": QUESTION, "on_disconnect": "cancel"}),
)


class Endless:
    """Emits a word every now and then until its run has ended."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self.asked: set[str] = set()

    async def __call__(self, pipeline: Pipeline, run_id: str, _: QuestionAsked) -> None:
        self.asked.add(run_id)
        emitter = Emitter(pipeline.bus.journal, run_id)
        while run_id in self.asked:
            await emitter.tokens(["word "])
            await asyncio.sleep(0.02)
        await emitter.events(Error(code="cancelled", content="cancelled"), Done())

    async def working(self) -> set[str]:
        for run_id in tuple(self.asked):
            record = await self.runs.record(run_id)
            if record is not None and record.outcome is not None:
                assert record.outcome == "cancelled"
                self.asked.discard(run_id)
        return self.asked

    async def are_over(self) -> bool:
        return not await self.working()


def _all[T](kind: type[T]) -> list[T]:
    """Takes a second in a process that has run many tests."""
    return [each for each in gc.get_objects() if isinstance(each, kind)]


def _connections(port: int) -> int:
    here = psutil.Process().net_connections("tcp")
    return sum(each.laddr.port == port and each.status != psutil.CONN_LISTEN for each in here)


async def _leave_after(port: int, request: bytes, read: int, patience_s: float) -> None:
    """Send it, wait for so many bytes of what comes, and go."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    with contextlib.suppress(TimeoutError, asyncio.IncompleteReadError):
        await asyncio.wait_for(reader.readexactly(read), patience_s)
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


def _request(port: int, path: str, body: dict[str, object]) -> tuple[bytes, bytes]:
    data = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    return head.encode(), data


async def test_nothing_is_left(edge: str, runs: Runs, pipeline: Pipeline) -> None:
    port = int(edge.rpartition(":")[2])
    pipeline.scripts[WORD] = endless = Endless(runs)
    routers, edges = _all(EventRouter), _all(Edge)

    def readers() -> set[str]:
        return {run_id for each in routers for run_id in each._readers if not is_canary(run_id)}

    def admitted() -> set[str]:
        return {run_id for each in edges for run_id in each.admission.limit.runs if not is_canary(run_id)}

    others, before = readers(), admitted()
    leaving = []
    for path, body in ASKED:
        head, data = _request(port, path, body)
        leaving += [_leave_after(port, head + data[: len(data) - less], 0, 0.0) for less in (len(data), 1)]
        leaving += [_leave_after(port, head + data, read, patience_s) for read in (0, 200) for patience_s in (0.0, 0.4)]
    await asyncio.gather(*leaving)

    async def left() -> dict[str, object]:
        found: dict[str, object] = {
            "runs that work": await endless.working(),
            "readers": readers() - others,
            "connections": _connections(port),
            "runs to join": [run for each in edges for run in _SHARED.get(each, {}).values()],
            "runs admitted": admitted() - before,
            "tasks": [each for each in asyncio.all_tasks() if each.get_name().startswith(("submit ", "end "))],
        }
        return {name: each for name, each in found.items() if each}

    async def idle() -> bool:
        return not await left()

    try:
        with contextlib.suppress(TimeoutError):
            await until(idle, within_s=120)  # forty clients take seconds on two cores
        assert await left() == {}
    finally:
        endless.asked.clear()


async def test_run_ends_despite_a_lost_connection(
    edge: str, runs: Runs, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write to a client that has gone breaks first, and aiohttp cancels the handler a moment later."""
    pipeline.scripts[WORD] = endless = Endless(runs)
    begun, goes_on = asyncio.Event(), asyncio.Event()
    really = Runs.cancel

    async def slowly(self: Runs, run_id: str) -> bool:
        begun.set()
        await goes_on.wait()
        return await really(self, run_id)

    monkeypatch.setattr(Runs, "cancel", slowly)
    question, asking = QuestionAsked(question=QUESTION, on_disconnect="cancel"), Edge.accept
    edges: list[Edge] = []

    async def asked(self: Edge, *of: Any) -> Reader:
        edges.append(self)
        return await asking(self, *of)

    monkeypatch.setattr(Edge, "accept", asked)
    async with aiohttp.ClientSession() as session, session.post(f"{edge}/v1/runs", json={"question": QUESTION}) as told:
        run_id = told.headers["X-Run-Id"]
    (state,) = edges
    await until(lambda: bool(endless.asked))
    leaving = asyncio.create_task(state.client_left(question, run_id))
    await begun.wait()
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    goes_on.set()
    try:
        await until(endless.are_over)
    finally:
        endless.asked.clear()


async def test_question_of_a_leaving_client_is_not_run(
    edge: str, runs: Runs, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = int(edge.rpartition(":")[2])
    pipeline.scripts[WORD] = endless = Endless(runs)
    sent, arrives = asyncio.Event(), asyncio.Event()
    really = Runs._write

    async def on_its_way(self: Runs, key: Key, message: Message, headers: Mapping[str, str] | None = None) -> bool:
        async def late() -> bool:
            await arrives.wait()
            return await really(self, key, message, headers)

        written = asyncio.create_task(late())
        sent.set()
        return await asyncio.shield(written)

    monkeypatch.setattr(Runs, "_write", on_its_way)
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"".join(_request(port, "/v1/chat/completions", CHAT | {"stream": True})))
    await sent.wait()
    writer.close()
    await until(lambda: not _connections(port))
    arrives.set()
    await until(lambda: bool(endless.asked))
    await until(endless.are_over)


@pytest.mark.parametrize("body", [RESPONSE, RESPONSE | {"stream": True}])
async def test_question_answered_with_an_error_is_not_run(
    edge: str, runs: Runs, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch, body: dict[str, object]
) -> None:
    pipeline.scripts[WORD] = endless = Endless(runs)

    async def refused(*_: object, **__: object) -> None:
        raise Unavailable("the disk is full")

    monkeypatch.setattr(Runs, "put_beside", refused)
    async with aiohttp.ClientSession() as session, session.post(f"{edge}/v1/responses", json=body) as response:
        assert "the disk is full" in await response.text()
    await until(lambda: bool(endless.asked))
    try:
        await until(endless.are_over)
    finally:
        endless.asked.clear()
