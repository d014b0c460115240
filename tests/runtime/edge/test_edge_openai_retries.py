"""A counted retry joins its run; a run whose client left ends; an idempotency key makes two requests one run."""

import asyncio
import contextlib
from pathlib import Path

import aiohttp
import openai
import pytest

from bus.powers.events import Emitter, Error
from bus.runs.runs import Runs
from bus.wire.messages import QuestionAsked
from bus.wire.settled import Settled
from runtime.settings import EdgeSettings, Settings
from tests.polling import cancel, ended
from tests.runtime.edge.conftest import TIMEOUTS, Bus, Pipeline
from tests.runtime.served import edge_of, open_edge

CHAT = "/v1/chat/completions"
RETRY = {"x-stainless-retry-count": "1"}


class Slow:
    """A script that answers when it is told to, however many runs there are of it."""

    def __init__(self) -> None:
        self.runs: asyncio.Queue[str] = asyncio.Queue()
        self.asked: list[str] = []
        self.go = asyncio.Event()
        self.fails = False

    async def __call__(self, pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        self.asked.append(run_id)
        self.runs.put_nowait(run_id)
        emitter = Emitter(pipeline.bus.journal, run_id)
        await self.go.wait()
        await emitter.tokens(["Done."])
        if self.fails:
            settled = Settled(outcome="failed", reason="model_unavailable", question=question.question)
            await pipeline.end(emitter, settled, Error(code="model_unavailable", content="no model"))
        else:
            await pipeline.end(emitter, Settled(outcome="answered", question=question.question, answer="Done."))


@pytest.fixture
def slow(pipeline: Pipeline, request: pytest.FixtureRequest) -> Slow:
    pipeline.scripts[request.node.name] = script = Slow()
    return script


@pytest.fixture
def body(request: pytest.FixtureRequest) -> dict[str, object]:
    return {"model": "general", "messages": [{"role": "user", "content": request.node.name}]}


def impatient_edge(bus: Bus, folder: Path) -> contextlib.AbstractAsyncContextManager[str]:
    """An edge whose JSON answers have a deadline that no run here meets."""
    settings = Settings(bus=bus.settings, edge=EdgeSettings(port=0, json_deadline_s=0.01), state=str(folder))
    return open_edge(settings, TIMEOUTS)


async def test_whole_answer_waits_for_the_run(
    bus: Bus, pipeline: Pipeline, slow: Slow, body: dict[str, object], tmp_path: Path
) -> None:
    async with impatient_edge(bus, tmp_path) as address, aiohttp.ClientSession(address) as session:
        asking = asyncio.create_task(session.post(CHAT, json=body))
        run_id = await slow.runs.get()
        assert (await pipeline.asked(run_id)).deadline_s is None
        done, _ = await asyncio.wait([asking], timeout=1.0)  # the deadline of /v1/runs, and its grace
        assert not done
        slow.go.set()
        answer = await (await asking).json()
        assert answer["choices"][0]["message"]["content"] == "Done."


async def test_openais_own_retry_joins_the_run(edge: str, slow: Slow, body: dict[str, object]) -> None:
    again = asyncio.Event()

    async def sent(request: object) -> None:
        if slow.asked:
            again.set()

    http = openai.DefaultAsyncHttpxClient(event_hooks={"request": [sent]})
    async with openai.AsyncOpenAI(
        base_url=f"{edge}/v1", api_key="none", timeout=1.0, max_retries=2, http_client=http
    ) as client:
        asking = asyncio.create_task(client.chat.completions.create(**body))  # type: ignore[call-overload]
        await again.wait()
        slow.go.set()
        answer = await asking
    assert answer.choices[0].message.content == "Done."
    assert [answer.id] == [f"chatcmpl-{run_id}" for run_id in slow.asked]


async def test_retry_after_the_client_left(
    http: aiohttp.ClientSession, runs: Runs, slow: Slow, body: dict[str, object]
) -> None:
    asking = asyncio.create_task(http.post(CHAT, json=body))
    run_id = await slow.runs.get()
    await cancel(asking)
    again = asyncio.create_task(http.post(CHAT, json=body, headers=RETRY))
    await asyncio.wait([again], timeout=TIMEOUTS.rejoin_s + 1)  # longer than a run without a client goes on
    slow.go.set()
    response = await again
    assert (response.headers["X-Run-Id"], slow.asked) == (run_id, [run_id])
    assert (await runs.record(run_id)).outcome == "answered"  # type: ignore[union-attr]


async def test_equal_requests_are_two_runs(bus: Bus, slow: Slow, body: dict[str, object], tmp_path: Path) -> None:
    """At an edge of its own: one that slow tests have asked before may have learned to do one question at a time."""
    async with edge_of(bus.settings, tmp_path) as address, aiohttp.ClientSession(address) as session:
        both = [asyncio.create_task(session.post(CHAT, json=body)) for _ in range(2)]
        await slow.runs.get(), await slow.runs.get()
        slow.go.set()
        ids = {(await each).headers["X-Run-Id"] for each in both}
    assert ids == set(slow.asked)
    assert len(ids) == 2


async def test_retry_shares_the_run_of_a_waiting_request(
    http: aiohttp.ClientSession, slow: Slow, body: dict[str, object]
) -> None:
    """As behind a proxy that keeps the first connection."""
    first = asyncio.create_task(http.post(CHAT, json=body))
    run_id = await slow.runs.get()
    streamed = await http.post(CHAT, json=body | {"stream": True}, headers=RETRY)
    assert streamed.headers["X-Run-Id"] == run_id
    streamed.close()
    slow.go.set()
    assert (await (await first).json())["choices"][0]["message"]["content"] == "Done."
    late = await http.post(CHAT, json=body, headers=RETRY)
    assert (late.headers["X-Run-Id"], slow.asked) == (run_id, [run_id])


async def test_retry_joins_no_failed_run(http: aiohttp.ClientSession, slow: Slow, body: dict[str, object]) -> None:
    slow.fails = True
    slow.go.set()
    failed = await http.post(CHAT, json=body)
    assert failed.status == 503
    other = await http.post(CHAT, json=body | {"style": "synthesis"}, headers=RETRY)
    again = await http.post(CHAT, json=body, headers=RETRY)
    assert (other.status, again.status) == (503, 503)
    assert len(set(slow.asked)) == 3


@pytest.mark.parametrize(
    ("more", "outcome"),
    [
        ({"stream": True}, "cancelled"),
        ({}, "cancelled"),
        ({"stream": True, "on_disconnect": "continue"}, "answered"),
    ],
)
async def test_run_ends_with_its_chat_client(
    http: aiohttp.ClientSession, runs: Runs, slow: Slow, body: dict[str, object], more: dict[str, object], outcome: str
) -> None:
    asking = asyncio.create_task(http.post(CHAT, json=body | more))
    run_id = await slow.runs.get()
    if "stream" in more:
        (await asking).close()
    await cancel(asking)
    if outcome == "answered":
        slow.go.set()
    assert (await ended(runs, run_id)).outcome == outcome


# ---------------------------------------------------------------- keys


@pytest.mark.parametrize("path", [CHAT, "/v1/runs"])
async def test_idempotency_key_makes_one_run(
    http: aiohttp.ClientSession, slow: Slow, path: str, request: pytest.FixtureRequest
) -> None:
    name = request.node.name
    asked: dict[str, object] = {"question": name}
    if path == CHAT:
        asked = {"model": "general", "stream": True, "messages": [{"role": "user", "content": name}]}
    headers = {"Idempotency-Key": f"{name} – sent by *me*"}
    first = await http.post(path, json=asked, headers=headers)
    run_id = await slow.runs.get()
    first.close()  # who sends a key comes back
    slow.go.set()
    second = await http.post(path, json=asked, headers=headers)
    await second.read()
    assert (second.headers["X-Run-Id"], slow.asked) == (run_id, [run_id])
    other = asked | ({"question": name + " now"} if path == "/v1/runs" else {"style": "synthesis"})
    refused = await http.post(path, json=other, headers=headers)
    assert refused.status == 409
    assert refused.headers.get("X-Should-Retry") == (None if path == "/v1/runs" else "false")


@pytest.mark.parametrize("key", ["주문/7", "k" * 255])
async def test_idempotency_key_in_header_and_body(
    http: aiohttp.ClientSession, slow: Slow, request: pytest.FixtureRequest, key: str
) -> None:
    slow.go.set()
    asked = {"question": request.node.name[:200]}
    one = await http.post("/v1/runs", json=asked, headers={"Idempotency-Key": key})
    two = await http.post("/v1/runs", json=asked | {"idempotency_key": key})
    assert one.headers["X-Run-Id"] == two.headers["X-Run-Id"]
    both = await http.post("/v1/runs", json=asked | {"idempotency_key": key}, headers={"Idempotency-Key": "order-8"})
    assert both.status == 422
    assert "send one of them" in (await both.json(content_type=None))["detail"]


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb"])
async def test_bad_idempotency_key_is_refused(http: aiohttp.ClientSession, key: str) -> None:
    refused = await http.post("/v1/runs", json={"question": "How long?"}, headers={"Idempotency-Key": key})
    assert refused.status == 400
    assert "printable characters; send a UUID" in (await refused.json(content_type=None))["detail"]
