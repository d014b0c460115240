"""How much of the bus a simple question takes: each message costs its sender, nats-server and its receivers."""

from pathlib import Path

from nats.aio.msg import Msg

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
