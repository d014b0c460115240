"""A question that cannot be asked gets the same code and the same sentence over HTTP, WebSocket and NATS."""

import json
import secrets
from collections.abc import AsyncIterator

import aiohttp
import pytest

from bus.wire.subjects import CANARY
from runtime.engines.extractive.engine import ExtractiveEngine
from tests.runtime.served import edge_of
from tests.whole import Whole, whole

BAD = {
    "none": (b"", "empty_body"),
    "no text": (b'{"question":"\xff"}', "not_utf8"),
    "no JSON": (b"{question: 1}", "not_json"),
    "too deep": (b"[" * 5000, "not_json"),
    "a long number": (b'{"question":"a","deadline_s":' + b"1" * 5000 + b"}", "not_json"),
    "a list": (b"[]", "invalid"),
    "no question": (b"{}", "invalid"),
    "an empty question": (b'{"question":" "}', "invalid"),
    "a question of thousands of characters": (json.dumps({"question": "a" * 4001}).encode(), "invalid"),
    "a control character": (b'{"question":"a\\u0000"}', "invalid"),
    "a number": (b'{"question":1}', "invalid"),
    "an unknown key": (b'{"question":"a","profil":"general"}', "invalid"),
    "an unknown value": (b'{"question":"a","language":"tlh"}', "invalid"),
    "no deadline": (b'{"question":"a","deadline_s":0}', "invalid"),
    "a name that is none": (b'{"question":"a","profile":"a.b"}', "invalid"),
    "an unknown profile": (b'{"question":"a","profile":"nobody"}', "no_such_profile"),
}


@pytest.fixture(scope="module")
async def run(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Whole]:
    async with whole(tmp_path_factory.mktemp("asked"), ExtractiveEngine()) as made:
        yield made


@pytest.fixture(scope="module")
async def http(run: Whole, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[aiohttp.ClientSession]:
    bus = run.users.bus(run.settings, "edge")
    async with edge_of(bus, tmp_path_factory.mktemp("state")) as url, aiohttp.ClientSession(url) as session:
        yield session


async def by_nats(run: Whole, body: bytes, run_id: str = "") -> list[dict[str, object]]:
    run_id = run_id or secrets.token_hex(8)
    await run.journal.js.publish(f"gw.question_asked.{run_id}", body)
    return [json.loads(line) async for _, line in run.runs.events(run_id)]


@pytest.mark.parametrize("name", BAD)
async def test_error_is_the_same_over_http_and_nats(run: Whole, http: aiohttp.ClientSession, name: str) -> None:
    body, code = BAD[name]
    async with http.post("/v1/runs", data=body, headers={"Content-Type": "application/json"}) as response:
        problem = await response.json(content_type=None)
    assert problem["code"] == code
    error = {"type": "error", "code": code, "content": problem["detail"], "status": "end"}
    assert await by_nats(run, body) == [error, {"type": "DONE"}]
    async with http.ws_connect("/v1/ws?envelope=0") as socket:
        if name != "no text":
            await socket.send_str(body.decode())
            assert await socket.receive_json() == error


async def test_question_may_have_several_lines(run: Whole) -> None:
    body = json.dumps({"question": "How many days until refunds are paid?"}, indent=2).encode()
    events = await by_nats(run, body, "on-lines")
    assert events[-2]["type"] == "references"
    record = await run.runs.record("on-lines")
    assert record is not None
    assert record.outcome == "answered"


async def test_reserved_run_id_is_reported(run: Whole) -> None:
    error, _ = await by_nats(run, b'{"question":"a"}', f"{CANARY}mine")
    assert (error["code"], "reserved for readiness" in str(error["content"])) == ("bad_id", True)


async def test_record_has_the_error(run: Whole) -> None:
    await by_nats(run, b'{"question":"a","profile":"nobody"}', "unknown-profile")
    record = await run.runs.record("unknown-profile")
    assert record is not None
    assert (record.outcome, record.unrun, record.question) == ("failed", "invalid", "a")
    assert "there is no profile 'nobody'" in record.detail
