"""Small pipelines over real messages, with helpers: ask, wait for the end, inspect a durable consumer."""

import contextlib
import secrets
from collections.abc import AsyncIterator, Iterable
from typing import cast

from nats.js.api import ConsumerInfo

from bus.delivery.actor import Actor, actor
from bus.delivery.graph import Graph
from bus.delivery.worker import Worker
from bus.journal.records import Record
from bus.powers.events import Done, TokensEnd
from bus.powers.protocols import Emit
from bus.transport.settings import BusSettings
from bus.wire.messages import PassagesJudged, QuestionAsked, QuestionReady, RunFinished, SubQueryPlanned
from bus.wire.parts import SubQuery
from bus.wire.settled import Settled
from bus.wire.subjects import RUNS, finished, key_of
from tests.bus.wires import Wire
from tests.message_samples import ANALYSIS, LANES, question
from tests.polling import until

READY = QuestionReady(question=question())


@actor()
async def intake(message: QuestionAsked) -> QuestionReady:
    return READY


@actor()
async def end(message: QuestionReady) -> RunFinished:
    return answered()


@actor()
async def done(message: RunFinished, emit: Emit) -> None:
    if (await emit.progress()).phase != "closed":
        await emit.events(TokensEnd(), Done())


def answered(answer: str = "14 days") -> RunFinished:
    return RunFinished(settled=Settled(outcome="answered", answer=answer))


def planned(lanes: Iterable[SubQuery]) -> tuple[SubQueryPlanned, ...]:
    plan = tuple(lanes)
    return tuple(SubQueryPlanned(question=question(), sub_query=q, plan=plan, round=1, judged=True) for q in plan)


def judged(message: SubQueryPlanned) -> PassagesJudged:
    return PassagesJudged(
        question=message.question,
        sub_query=message.sub_query,
        plan=message.plan,
        round=message.round,
        passages=(),
        analysis=ANALYSIS,
        snapshot="",
    )


THREE = (*LANES, SubQuery(id="sq_3", statement="opening hours", focus=""))


@contextlib.asynccontextmanager
async def working(settings: BusSettings, *actors: Actor, bugs: bool = False) -> AsyncIterator[Worker]:
    """A worker over these actors, and `done`. Fails when there was a bug that the test did not expect."""
    worker = Worker(Graph((*actors, done)), settings)
    await worker.start()
    try:
        yield worker
    finally:
        await worker.stop()
    assert bool(worker.bugs) == bugs, worker.bugs


async def ask(wire: Wire, run_id: str = "", *, headers: dict[str, str] | None = None, **fields: object) -> str:
    """Write a question; its run's id."""
    run_id = run_id or secrets.token_hex(6)
    asked = QuestionAsked(**{"question": "How long?", **fields})  # type: ignore[arg-type]
    await wire.journal.write(key_of(QuestionAsked, run_id), asked, headers=headers)
    return run_id


async def ended(wire: Wire, run_id: str, *, within_s: float = 60.0) -> Settled:
    """How the run ended, once it has."""
    records = await until(
        lambda: wire.journal.latest([finished(run_id).subject]), within_s=within_s, what=f"the end of {run_id}"
    )
    return cast(RunFinished, records[0].message).settled


async def closed(wire: Wire, run_id: str) -> list[bytes]:
    """All the lines of the run's stream, once DONE is there."""

    async def lines() -> list[bytes]:
        found = [line for frame in await wire.journal.frames(run_id) for line in frame.data.split(b"\n")]
        return found if b'{"type":"DONE"}' in found else []

    return await until(lines, what=f"DONE of {run_id}")


async def record(wire: Wire, subject: str) -> Record:
    (found,) = await until(lambda: wire.journal.latest([subject]), what=subject)
    return found


async def settled_with(wire: Wire, durable: str, *, delivered: int) -> ConsumerInfo:
    """The durable's state once it has delivered that often and nothing waits for an ack."""

    async def idle() -> ConsumerInfo | None:
        info = await wire.journal.js.consumer_info(RUNS, durable)
        made = info.delivered.consumer_seq if info.delivered else 0
        return info if made >= delivered and not info.num_ack_pending and not info.num_pending else None

    found = await until(idle, what=f"{durable} to be done with {delivered}")
    assert found is not None
    return found
