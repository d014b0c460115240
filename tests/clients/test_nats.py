"""Four clients of NATS with the integration's password: nats-py, FastStream, and NATS's own for Node and for Go."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator

import pytest

from runtime.engines.engine import Delta, Finished, Request
from runtime.engines.extractive.engine import ExtractiveEngine
from tests.clients.installed import go_program, node_in
from tests.clients.nats_clients import Events, FastStream, NatsPy, Steps
from tests.clients.table import Row
from tests.clients.talking import client
from tests.polling import ended
from tests.whole import Whole, whole

ROWS = (
    Row(keys=("nats-py",), name="nats-py", package="nats-py", over="NATS"),
    Row(keys=("faststream",), name="FastStream", package="faststream", over="NATS"),
    Row(keys=("node",), name="nats.js", package="@nats-io/transport-node", pins="node/nats", over="NATS"),
    Row(keys=("go",), name="nats.go", package="github.com/nats-io/nats.go", pins="go/nats", over="NATS"),
)
QUESTION = "How many days until refunds are paid?"
#: What the engine is asked in two halves.
HALVES = "Are refunds paid within 14 days, and is the shipping fee refunded?"
SENTENCES = (
    "Refunds are paid within 14 days of the return [1].",
    " The shipping fee of 3,000 won is not refunded [1].",
)


class Halves(ExtractiveEngine):
    """Answers one question in two sentences, the second when the test lets it."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        variables = request.variables
        if not (variables.name.startswith("answer_") and "shipping fee refunded?" in str(variables)):
            async for part in super().generate(request):
                yield part
            return
        yield Delta(SENTENCES[0])
        yield Delta(SENTENCES[1][:5])
        await self.go_on.wait()
        yield Delta(SENTENCES[1][5:])
        yield Finished(text="".join(SENTENCES), finish_reason="stop", engine=self.name, model=self.model)


@pytest.fixture(scope="module")
async def engine() -> Halves:
    return Halves()


@pytest.fixture(autouse=True)
def held(engine: Halves) -> None:
    engine.go_on.clear()


@pytest.fixture(scope="module")
async def run(tmp_path_factory: pytest.TempPathFactory, engine: Halves) -> AsyncIterator[Whole]:
    async with whole(tmp_path_factory.mktemp("nats-clients"), engine, cache_entries=0) as made:
        yield made


@pytest.fixture(scope="module", params=[row.keys[0] for row in ROWS])
async def steps(request: pytest.FixtureRequest, run: Whole) -> AsyncIterator[Steps]:
    async with contextlib.AsyncExitStack() as stack:
        made: Steps
        if request.param == "node":
            node, folder = await asyncio.to_thread(node_in, "nats")
            made = await stack.enter_async_context(client(node, folder / "client.mjs"))
        elif request.param == "go":
            made = await stack.enter_async_context(client(await asyncio.to_thread(go_program, "nats")))
        else:
            made = NatsPy() if request.param == "nats-py" else FastStream()
        await made.do("open", url=run.users.url_of("integration"))
        yield made
        await made.do("close")


@pytest.fixture
def run_id() -> str:
    return secrets.token_hex(8)


def text_of(events: Events) -> str:
    return "".join(event["content"] for event in events if event["type"] == "token")


async def test_ask(steps: Steps, run: Whole, run_id: str) -> None:
    await steps.do("ask", run_id=run_id, question="환불은 며칠 안에 지급되나요?")
    assert "14일" in text_of(await steps.do("until"))
    record = await run.runs.record(run_id)
    assert record is not None
    assert (record.outcome, record.question) == ("answered", "환불은 며칠 안에 지급되나요?")


async def test_stream(steps: Steps, engine: Halves, run_id: str) -> None:
    await steps.do("ask", run_id=run_id, question=HALVES)
    first = await steps.do("until", text=" 14")
    engine.go_on.set()
    assert text_of(first + await steps.do("until")) == "".join(SENTENCES)


async def test_cite(steps: Steps, run_id: str) -> None:
    await steps.do("ask", run_id=run_id, question=QUESTION)
    *_, references, done = await steps.do("until")
    assert done == {"type": "DONE"}
    (source,) = references["items"]
    assert (source["source_id"], source["url"]) == ("refunds.md", "https://example.org/0")


async def test_cancel(steps: Steps, run: Whole, run_id: str) -> None:
    await steps.do("ask", run_id=run_id, question=HALVES)
    await steps.do("until", text='"token"')
    await steps.do("cancel", run_id=run_id)
    last = [event for event in await steps.do("until") if event["type"] != "token"]
    assert [(event["type"], event.get("code")) for event in last] == [("error", "cancelled"), ("DONE", None)]
    assert (await ended(run.runs, run_id)).outcome == "cancelled"


async def test_resume(steps: Steps, run: Whole, engine: Halves, run_id: str) -> None:
    """A returning client reads back the missed events: all, or those after its last one."""
    await steps.do("ask", run_id=run_id, question=HALVES)
    heard = await steps.do("until", text='"token"')
    await steps.do("close")
    engine.go_on.set()
    written = [line async for _, line in run.runs.events(run_id)]
    await steps.do("open", url=run.users.url_of("integration"))
    again = await steps.do("read_back", run_id=run_id)
    assert text_of(again) == "".join(SENTENCES)
    assert len(again) == len(written)
    assert again[: len(heard)] == heard
    assert heard + await steps.do("read_back", run_id=run_id, after=len(heard)) == again


async def test_error(steps: Steps, run_id: str) -> None:
    await steps.do("ask", run_id=run_id, question=" ")
    error, done = await steps.do("until")
    assert (error["type"], error["code"], done["type"]) == ("error", "invalid", "DONE")
    assert "is empty" in error["content"]
