"""How much of the bus a simple question takes: each message costs its sender, nats-server and its receivers."""

from pathlib import Path

import msgspec
import pytest
from nats.aio.msg import Msg

from bus.journal.records import VIA, WHOLE
from bus.runs.run_record import RunRecord
from bus.wire.messages import QuestionAsked
from runtime.engines.extractive.engine import ExtractiveEngine
from tests.whole import whole

#: What the server says to itself, and what is asked whether there are questions or not.
PERIODIC = ("$JS.EVENT.", "$JS.API.STREAM.", "$JS.API.CONSUMER.LIST", "$JS.API.CONSUMER.INFO")
QUESTION = "How many days until refunds are paid?"
MOST_MESSAGES, MOST_BYTES = 45, 40_000


async def test_messages_and_bytes_of_a_question(tmp_path: Path) -> None:
    async with whole(tmp_path, ExtractiveEngine(), in_place=True) as run:
        await run.ask(QUESTION)
        seen: list[Msg] = []

        async def take(msg: Msg) -> None:
            if not msg.subject.startswith(PERIODIC):
                seen.append(msg)

        tap = await run.runs.client.subscribe(">", cb=take)
        await run.runs.client.flush()
        asked = await run.runs.submit(QuestionAsked(question=QUESTION))
        lines = [line async for _, line in run.runs.events(asked.run_id)]
        await run.runs.client.flush()
        await tap.unsubscribe()
    assert lines[-1] == b'{"type":"DONE"}'
    size = sum(len(msg.data) + len(msg.subject) + sum(map(len, (msg.headers or {}).values())) for msg in seen)
    listed = "\n".join(f"{msg.subject} {len(msg.data)}" for msg in seen)
    assert len(seen) <= MOST_MESSAGES, listed
    assert size <= MOST_BYTES, listed


async def test_record_comes_with_the_answer(tmp_path: Path) -> None:
    """For a client that waits for the whole run; it is the journal's, but for the time of a message to nats-server."""
    async with whole(tmp_path, ExtractiveEngine(), in_place=True) as run:
        _, reader = await run.runs.submit_and_read(QuestionAsked(question=QUESTION), headers={VIA: WHOLE})
        with reader:
            while await reader.batch():
                pass
        stored = await run.runs.record(reader.run_id)
    assert stored is not None
    sent = msgspec.json.decode(reader.record, type=RunRecord)
    assert [(each.stage, each.took_s) for each in sent.stages] == [(each.stage, each.took_s) for each in stored.stages]
    assert sent.asked_at == pytest.approx(stored.asked_at, abs=1e-5)
    for name in {*RunRecord.__struct_fields__} - {"stages", "asked_at", "finished_at", "took_s", "first_shown_s"}:
        assert getattr(sent, name) == getattr(stored, name)
