"""httpx-sse, a reader of server-sent events, against /v1/runs as in its documentation."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from bus.powers.events import Done, Emitter, Error
from bus.runs.runs import Runs
from bus.wire.messages import QuestionAsked
from tests.clients.cutting import CutProxy
from tests.clients.halves import WORDS, Halves, halves
from tests.clients.installed import HERE, python_of
from tests.clients.table import Row
from tests.clients.talking import Client, client
from tests.polling import ended
from tests.runtime.edge.conftest import Pipeline

__all__ = ["halves"]  # a fixture

ROWS = (Row(name="httpx-sse", over="/v1/runs", package="httpx-sse", pins="python/sse.txt"),)


@pytest.fixture(scope="module")
async def reader() -> AsyncIterator[Client]:
    async with client(await asyncio.to_thread(python_of, "sse"), HERE / "python" / "sse_readers.py") as made:
        yield made


def events_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(data) for _, data in found["events"]]


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(event["content"] for event in events if event["type"] == "token")


async def test_ask(reader: Client, edge: str) -> None:
    opened = await reader.do("open", method="POST", url=f"{edge}/v1/runs", body={"question": "환불은 며칠\u2028👩"})
    assert opened["status"] == 200
    found = await reader.do("until")
    events = events_of(found)
    assert text_of(events) == "환불은 며칠\u2028👩 [1]"
    assert [event["type"] for event in events[-2:]] == ["references", "DONE"]
    assert [id_ for id_, _ in found["events"]] == [str(n) for n in range(1, len(events) + 1)]


async def test_stream(reader: Client, edge: str, halves: Halves) -> None:
    await reader.do("open", method="POST", url=f"{edge}/v1/runs", body={"question": "halves"})
    first = events_of(await reader.do("until", text='"one"'))
    assert text_of(first) == "one", "a word is read before the next is said"
    halves.go_on.set()
    assert text_of(first + events_of(await reader.do("until"))) == WORDS


async def test_cite(reader: Client, edge: str) -> None:
    await reader.do("open", method="POST", url=f"{edge}/v1/runs", body={"question": "환불은 며칠"})
    references = events_of(await reader.do("until"))[-2]
    assert [(item["source_id"], item["title"]) for item in references["items"]] == [("refunds", "환불 규정")]


async def test_cancel(reader: Client, edge: str, halves: Halves, http: aiohttp.ClientSession) -> None:
    opened = await reader.do("open", method="POST", url=f"{edge}/v1/runs", body={"question": "halves"})
    await reader.do("until", text='"one"')
    async with http.post(f"/v1/runs/{opened['run_id']}/cancel") as response:
        assert (await response.json())["cancelled"]
    ended = events_of(await reader.do("until"))
    assert [(event["type"], event.get("code")) for event in ended] == [("error", "cancelled"), ("DONE", None)]


async def test_cancel_by_leaving(reader: Client, edge: str, halves: Halves, runs: Runs) -> None:
    body = {"question": "halves", "on_disconnect": "cancel"}
    opened = await reader.do("open", method="POST", url=f"{edge}/v1/runs", body=body)
    await reader.do("until", text='"one"')
    await reader.do("close")

    assert (await ended(runs, opened["run_id"])).outcome == "cancelled"


async def test_resume(reader: Client, edge: str, halves: Halves) -> None:
    proxy = CutProxy(edge)
    async with proxy.listening() as base:
        opened = await reader.do("open", method="POST", url=f"{base}/v1/runs", body={"question": "halves"})
        found = await reader.do("until", text='"one"')
        proxy.cut()
        halves.go_on.set()
        rest = await reader.do("until")
        assert rest["broken"]
        last = (found["events"] + rest["events"])[-1][0]
        await reader.do("open", method="GET", url=f"{edge}/v1/runs/{opened['run_id']}/events", last=last)
        rest["events"] += (await reader.do("until"))["events"]
        assert text_of(events_of(found) + events_of(rest)) == WORDS
        ids = [int(id_) for id_, _ in found["events"] + rest["events"]]
        assert ids == list(range(1, len(ids) + 1)), "nothing twice, nothing left out"


async def test_error(reader: Client, edge: str, pipeline: Pipeline) -> None:
    opened = await reader.do("open", method="POST", url=f"{edge}/v1/runs", body={"question": " "})
    assert opened["status"] == 422
    assert "is empty" in opened["body"]

    async def fail(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        await Emitter(pipeline.bus.journal, run_id).events(Error(code="internal", content="It broke."), Done())

    pipeline.scripts["broken"] = fail
    await reader.do("open", method="POST", url=f"{edge}/v1/runs", body={"question": "broken"})
    events = events_of(await reader.do("until"))
    assert events == [{"type": "error", "code": "internal", "content": "It broke.", "status": "end"}, {"type": "DONE"}]
