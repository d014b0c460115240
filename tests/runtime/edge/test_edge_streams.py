"""The wire form of streams; streams that are cut, stall, fall behind or outlive their client."""

import asyncio
import itertools
import json
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import aiohttp
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai._streaming import SSEDecoder

from bus.powers.events import Emitter, Error, StageEvent, Token
from bus.wire.messages import QuestionAsked, RunFinished
from bus.wire.settled import Settled
from bus.wire.subjects import finished
from runtime.edge.sse import COMMENT, RETRY, EventForm
from runtime.edge.timeouts import Timeouts
from tests.polling import until
from tests.runtime.edge.conftest import Bus, Pipeline, plays
from tests.runtime.edge.strict_sse import parse
from tests.runtime.served import edge_of


class Paced:
    """A script that emits a word on the test's command, and ends the run on request."""

    def __init__(self) -> None:
        self.words: asyncio.Queue[str | None] = asyncio.Queue()
        self.run_id: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def __call__(self, pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id, everything=question.events == "all")
        self.run_id.set_result(run_id)
        while (word := await self.words.get()) is not None:
            if word == "stage":
                await emitter.aside(StageEvent(stage="retrieve", lane="sq_1", status="start"))
            else:
                await emitter.tokens([word])
        await pipeline.end(emitter, Settled(outcome="answered", question=question.question))


@pytest.fixture
async def paced(pipeline: Pipeline, request: pytest.FixtureRequest) -> AsyncIterator[Paced]:
    """Its run ends with the test, also a failed one: a run without an end takes the place of others."""
    pipeline.scripts[request.node.name] = script = Paced()
    yield script
    script.words.put_nowait(None)


async def read_events(content: aiohttp.StreamReader, count: int) -> bytes:
    """The first `count` events as bytes, comments and `retry:` left out."""
    found = b""
    while found.count(b"\n\n") < count:
        block = await content.readuntil(b"\n\n", max_size=1 << 20)
        found += b"" if block.startswith(b":") else block.removeprefix(RETRY)
    return found


async def test_cut_stream_continues(http: aiohttp.ClientSession, paced: Paced, request: pytest.FixtureRequest) -> None:
    """One client never loses its connection, another loses it after every event: both have the same bytes."""
    steady = await http.post("/v1/runs", json={"question": request.node.name})
    run_id = steady.headers["X-Run-Id"]
    pieces = b""
    for n, word in enumerate(["하나", " 둘", " 셋", None]):
        await paced.words.put(word)
        headers = {"Last-Event-ID": str(n)} if n else {}
        async with http.get(f"/v1/runs/{run_id}/events", headers=headers) as cut:
            pieces += await read_events(cut.content, 1 if word else 2)
    assert parse(pieces) == parse(await steady.read())
    assert [number for number, _ in parse(pieces)] == [1, 2, 3, 4, 5]


async def test_additional_events_are_numbered_too(
    http: aiohttp.ClientSession, paced: Paced, request: pytest.FixtureRequest
) -> None:
    for word in ["stage", "a", "stage", " b", None]:
        await paced.words.put(word)
    async with http.post("/v1/runs", json={"question": request.node.name, "events": "all"}) as response:
        whole = parse(await response.read())
        run_id = response.headers["X-Run-Id"]
    types = [json.loads(event)["type"] for _, event in whole]
    assert sorted(types) == ["DONE", "stage", "stage", "token", "token", "token"]
    assert types[-1] == "DONE"
    assert [number for number, _ in whole] == list(range(1, 7))
    for after in range(6):
        async with http.get(f"/v1/runs/{run_id}/events", params={"after": after}) as response:
            assert parse(await response.read()) == whole[after:]


async def test_silent_stream_sends_keepalives(
    http: aiohttp.ClientSession, paced: Paced, request: pytest.FixtureRequest
) -> None:
    async with http.post("/v1/runs", json={"question": request.node.name}) as response:
        assert await response.content.readuntil(b"\n\n") == b": alive\n\n"
        await paced.words.put(None)
        assert b'"type":"DONE"' in await response.read()


async def test_lost_events_end_the_stream(
    http: aiohttp.ClientSession, pipeline: Pipeline, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that has ended, and whose last events were lost, does not keep its client waiting."""

    async def shows_nothing(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        settled = Settled(outcome="answered", question=question.question)
        await pipeline.bus.journal.write(finished(run_id), RunFinished(settled=settled))

    monkeypatch.setattr("bus.runs.runs.EVENTS_LATE_S", 0.5)
    pipeline.scripts[request.node.name] = shows_nothing
    async with http.post("/v1/runs", json={"question": request.node.name}) as response:
        lines = (await response.text()).splitlines()
    error, done = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    assert error["code"] == "events_gone"
    assert done["type"] == "DONE"
    async with http.get(f"/v1/runs/{response.headers['X-Run-Id']}/events") as response:
        assert response.status == 410


@pytest.mark.parametrize(("on_disconnect", "outcome"), [("continue", "answered"), ("cancel", "cancelled")])
async def test_disconnect_cancels_only_on_request(
    http: aiohttp.ClientSession, pipeline: Pipeline, bus: Bus, on_disconnect: str, outcome: str
) -> None:
    pipeline.scripts[f"leave-{on_disconnect}"] = script = Paced()
    cancelled = await bus.client.subscribe("gw.cancel.*")
    asked = {"question": f"leave-{on_disconnect} now", "on_disconnect": on_disconnect}
    response = await http.post("/v1/runs", json=asked)
    run_id = await script.run_id
    await script.words.put("word")
    await read_events(response.content, 1)
    response.close()
    if on_disconnect == "cancel":
        while (await cancelled.next_msg(timeout=60)).subject != f"gw.cancel.{run_id}":
            pass  # of an earlier test's run, whose client the edge has only now seen leave
    await script.words.put(None)
    await pipeline.ended[run_id]
    async with http.get(f"/v1/runs/{run_id}") as looked_up:
        record = await looked_up.json()
    assert (record["outcome"], record["question"]) == (outcome, asked["question"])
    await cancelled.unsubscribe()


async def test_cancel_ends_a_run_once(
    http: aiohttp.ClientSession, paced: Paced, request: pytest.FixtureRequest
) -> None:
    response = await http.post("/v1/runs", json={"question": request.node.name})
    run_id = await paced.run_id
    answers = []
    for _ in range(2):
        async with http.post(f"/v1/runs/{run_id}/cancel") as cancel:
            answers.append(await cancel.json())
    assert answers == [
        {"run_id": run_id, "cancelled": True, "outcome": "cancelled"},
        {"run_id": run_id, "cancelled": False, "outcome": "cancelled"},
    ]
    await paced.words.put(None)
    assert b'"type":"DONE"' in await response.read()


async def test_client_that_does_not_read_is_dropped_and_resumes(
    bus: Bus, http: aiohttp.ClientSession, pipeline: Pipeline, tmp_path: Path
) -> None:
    """By its stream, which counts it; its connection would be ended some time later, and is not, here."""

    async def flood(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id)
        for _ in range(60):
            await emitter.tokens(["x" * 3000] * 60)
        await pipeline.end(emitter, Settled(outcome="answered"))

    pipeline.scripts["flood"] = flood
    connector = aiohttp.TCPConnector(socket_factory=_small)
    timeouts = Timeouts(stall_s=2.0, grace_s=100.0)
    async with (
        edge_of(bus.settings, tmp_path, timeouts=timeouts) as edge,
        aiohttp.ClientSession(edge) as looks,
        aiohttp.ClientSession(edge, read_bufsize=1024, connector=connector) as lazy,
    ):
        slow = await _slow(looks)
        response = await lazy.post("/v1/runs", json={"question": "flood"})
        run_id = response.headers["X-Run-Id"]
        got = await read_events(response.content, 3)
        async with http.get(f"/v1/runs/{run_id}/events") as other:  # other callers are not delayed by it
            whole = parse(await other.read())
        assert len(whole) == 60 * 60 + 2

        async def let_go() -> bool:
            return await _slow(looks) != slow

        await until(let_go)
        with suppress(aiohttp.ClientError):
            got += await response.content.read()
    complete = got[: got.rindex(b"\n\n") + 2]
    last = parse(complete)[-1][0]
    assert last < len(whole)
    async with http.get(f"/v1/runs/{run_id}/events", headers={"Last-Event-ID": str(last)}) as response:
        assert parse(complete) + parse(await response.read()) == whole


def _small(address: aiohttp.AddrInfoType) -> socket.socket:
    """A socket with hardly any system buffer: a growing buffer takes all ten megabytes unread."""
    made = socket.socket(*address[:3])
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    made.setblocking(False)
    return made


async def _slow(http: aiohttp.ClientSession) -> str:
    """The count of clients that were let go."""
    async with http.get("/metrics") as metrics:
        lines = (await metrics.text()).splitlines()
    return next(line for line in lines if line.startswith("groundwire_edge_slow_total"))


@pytest.mark.parametrize(
    ("reason", "status"), [("timeout", 504), ("model_unavailable", 503), (None, 500), ("no_results", 200)]
)
async def test_the_status_of_a_json_answer(
    http: aiohttp.ClientSession, pipeline: Pipeline, reason: str | None, status: int
) -> None:
    outcome, error = "refused" if reason == "no_results" else "failed", Error(code=reason or "internal", content="…")
    pipeline.scripts[f"end-{reason}"] = plays("", error, outcome=outcome, reason=reason)
    accept = {"Accept": "application/json"}
    async with http.post("/v1/runs", json={"question": f"end-{reason}"}, headers=accept) as response:
        record = await response.json()
        assert (response.status, record["reason"]) == (status, reason)


async def test_late_run_is_504(http: aiohttp.ClientSession, paced: Paced) -> None:
    asked = {"question": "test_late_run_is_504", "deadline_s": 0.1}
    async with http.post("/v1/runs", json=asked, headers={"Accept": "application/json"}) as response:
        problem = await response.json(content_type=None)
        assert response.status == 504
        assert response.headers["Location"] == f"/v1/runs/{await paced.run_id}"
        assert "ask for a stream" in problem["detail"]
    await paced.words.put(None)


AWKWARD = [
    "\r\n\r\n",
    "data: x\n\nid: 9",
    "\u2028",
    "\x85",
    "\ufeff",
    ": alive",
    "환불",
    "٧ أيام",
    "近视",
    "🧾",
    "\\",
    '"',
    "\0",
]
WORDS = st.text(max_size=30) | st.sampled_from(AWKWARD)


def events_of(words: list[str]) -> list[tuple[int, bytes]]:
    return [(n, msgspec.json.encode(Token(content=word, index=n))) for n, word in enumerate(words, start=1)]


@given(words=st.lists(WORDS, min_size=1, max_size=8), cuts=st.lists(st.integers(1, 40), min_size=1))
def test_any_text_survives_any_cut(words: list[str], cuts: list[int]) -> None:
    events = events_of(words)
    form = EventForm()
    stream = b"".join(unit + COMMENT * (n % 2) for n, unit in enumerate(form.events(events)))
    assert parse(stream) == events
    ends = [*itertools.takewhile(lambda at: at < len(stream), itertools.accumulate(itertools.cycle(cuts))), len(stream)]
    pieces = (stream[a:b] for a, b in zip([0, *ends], ends, strict=False))
    received = [each for each in SSEDecoder().iter_bytes(pieces) if each.data]
    assert [each.json()["content"] for each in received] == words
    assert received[-1].id == str(len(words))
