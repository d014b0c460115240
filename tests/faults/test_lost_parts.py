"""What the server loses is made again within seconds, and every accepted question that it still has ends once."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from nats.aio.msg import Msg

from bus.runs.runs import Runs
from bus.transport import restoring
from bus.wire.errors import Unavailable
from bus.wire.messages import Message, QuestionAsked
from bus.wire.subjects import EVENTS, RUNS, Key
from runtime.engines.extractive.engine import ExtractiveEngine
from tests.bus.wires import Server
from tests.chaos.schedule import DURABLES
from tests.polling import ended, until
from tests.whole import Whole, whole

QUESTION = "How many days until refunds are paid?"
#: A deadline that no queue here is held against: what was lost makes the first runs slow, and those behind them seem too many.
LONG_S = 1000.0


@pytest.fixture
async def run(server: Server, tmp_path: Path) -> AsyncIterator[Whole]:
    async with whole(tmp_path, ExtractiveEngine(), url=server.url) as made:
        yield made


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Soon after something has happened, and never by itself."""
    monkeypatch.setattr(restoring, "LOOK_S", 0.2)
    monkeypatch.setattr(restoring, "QUIET_LOOK_S", 1000.0)


async def consumers(run: Whole) -> set[str]:
    return {info.name for info in await run.journal.js.consumers_info(RUNS)}


async def ends(runs: Runs, run_id: str) -> str | None:
    """How the run ended."""
    return (await ended(runs, run_id)).outcome


@pytest.mark.parametrize("lost", [("classify_intent",), ("stream_references",), ()], ids=["first", "last", "all"])
async def test_deleted_consumer_is_created_again(run: Whole, lost: tuple[str, ...]) -> None:
    names = {*DURABLES}
    _, before = await run.ask(QUESTION)
    served = run.inference.served
    for name in lost or names:
        await run.journal.js.delete_consumer(RUNS, name)
    asked = [(await run.runs.submit(QuestionAsked(question=QUESTION, deadline_s=LONG_S))).run_id for _ in range(5)]
    sent = run.worker.client.stats["out_msgs"]
    assert await asyncio.gather(*(ends(run.runs, run_id) for run_id in asked)) == ["answered"] * 5
    assert (
        run.worker.client.stats["out_msgs"] - sent < 5000
    )  # without its consumer, no loop asks for messages without a pause

    async def made_again() -> bool:
        return names <= await consumers(run)

    await until(made_again)
    for run_id in asked:
        assert [line async for _, line in run.runs.events(run_id)][-1] == b'{"type":"DONE"}'
        kinds = [record.key.type for record in await run.journal.run(run_id)]
        assert len(kinds) == len(set(kinds)), "a record was written twice"
    # What was over before is not done again.
    assert run.inference.served <= served * 6
    await until(lambda: not any(watch.down for watch in run.watches))
    assert (await run.runs.record(before.run_id)) == before


async def test_run_continues_without_its_consumers(run: Whole) -> None:
    asked = []
    for number in range(30):
        asked.append((await run.runs.submit(QuestionAsked(question=QUESTION, deadline_s=LONG_S))).run_id)
        if number == 10:
            for name in DURABLES:
                await run.journal.js.delete_consumer(RUNS, name)
    assert await asyncio.gather(*(ends(run.runs, run_id) for run_id in asked)) == ["answered"] * 30
    for run_id in asked:
        lines = [line async for _, line in run.runs.events(run_id)]
        assert lines.count(b'{"type":"DONE"}') == 1


@pytest.mark.parametrize("lost", [(RUNS,), (EVENTS,), (RUNS, EVENTS)], ids="+".join)
async def test_deleted_stream_is_created_again(run: Whole, lost: tuple[str, ...]) -> None:
    await run.ask(QUESTION)
    for name in lost:
        await run.journal.js.delete_stream(name)
    submitted = await run.runs.submit(QuestionAsked(question=QUESTION, deadline_s=LONG_S))
    assert await ends(run.runs, submitted.run_id) == "answered"
    events, record = await run.ask(QUESTION)
    assert (record.outcome, events[-1]) == ("answered", {"type": "DONE"})


async def test_idle_consumers_are_not_listed(run: Whole) -> None:
    await run.ask(QUESTION)
    seen: list[str] = []

    async def take(msg: Msg) -> None:
        seen.append(msg.subject)

    await run.runs.client.subscribe("$JS.API.CONSUMER.>", cb=take)
    fetch = f"$JS.API.CONSUMER.MSG.NEXT.{RUNS}.classify_intent"
    await until(lambda: fetch in seen)
    seen.clear()
    await until(lambda: seen.count(fetch) == 2, what="two fetches, of two seconds each")
    assert f"$JS.API.CONSUMER.LIST.{RUNS}" not in seen


async def test_empty_server_is_filled_again(run: Whole, server: Server, tmp_path: Path) -> None:
    await run.ask(QUESTION)
    server.kill()
    shutil.rmtree(tmp_path / "nats" / "jetstream")
    server.start()

    async def answered() -> bool:
        submitted = await run.runs.submit(QuestionAsked(question=QUESTION, deadline_s=30.0))
        return await ends(run.runs, submitted.run_id) == "answered"

    assert await answered()
    assert {*DURABLES} <= await consumers(run)
    events, _ = await run.ask(QUESTION)
    assert events[-1] == {"type": "DONE"}


@pytest.mark.parametrize("last", [
    "question_ready", "sub_query_planned", "passages_ready", "answer_requested", "answer_verified", "answer_settled",
])  # fmt: skip
async def test_run_continues_after_each_record(run: Whole, monkeypatch: pytest.MonkeyPatch, last: str) -> None:
    """The process dies behind one of its records: nothing before it is done again, and the answer is the same."""
    _, whole_run = await run.ask(QUESTION)
    journal, died = run.worker.journal, asyncio.Event()
    write = journal.write

    async def dies(key: Key, message: Message, **more: Any) -> int | None:
        sequence = await write(key, message, **more)
        if key.type == last and not died.is_set():
            died.set()
            raise Unavailable("died")
        return sequence

    monkeypatch.setattr(journal, "write", dies)
    lines, record = await run.ask(QUESTION)
    assert died.is_set()
    assert (record.outcome, record.answer) == ("answered", whole_run.answer)
    assert [line["type"] for line in lines].count("DONE") == 1
    assert [stage.stage for stage in record.stages] == [stage.stage for stage in whole_run.stages]
    assert [stage.attempt for stage in record.stages].count(2) == 1, "only the stage behind the record begins again"
