"""Messages through actors over a real nats-server: processed once despite failures, and reported to the client."""

import asyncio
import secrets
import time

import msgspec
import pytest

from bus.delivery.actor import Actor, actor
from bus.journal.records import CAUSE, DEADLINE
from bus.powers.protocols import Ask
from bus.transport.settings import BusSettings
from bus.wire.errors import BadReply, Failure, NoReply, Poison, Unavailable
from bus.wire.messages import QuestionAsked, RunFinished
from bus.wire.subjects import Key, finished, key_of
from tests.bus import toys
from tests.bus.toys import (
    answered,
    ask,
    closed,
    end,
    ended,
    intake,
    record,
    settled_with,
    working,
)
from tests.bus.wires import Wire
from tests.polling import until

DONE = b'{"type":"DONE"}'


# ---------------------------------------------------------------- the straight way


async def test_run_passes_every_actor_and_leaves_its_trace(own_settings: BusSettings, own_wire: Wire) -> None:
    async with working(own_settings, intake, end):
        run_id = await ask(own_wire, headers={"traceparent": "00-a-b-01"}, deadline_s=90.0)
        assert await closed(own_wire, run_id) == [b'{"type":"token","content":"","status":"end"}', DONE]
        for durable in ("intake", "done"):
            await settled_with(own_wire, durable, delivered=1)
    asked, ready, over = await own_wire.journal.run(run_id)
    assert [r.key.type for r in (asked, ready, over)] == ["question_asked", "question_ready", "run_finished"]
    assert (ready.headers[CAUSE], over.headers[CAUSE]) == (str(asked.sequence), str(ready.sequence))
    assert float(ready.headers[DEADLINE]) == pytest.approx(asked.time + 90.0, abs=0.01)
    assert over.headers[DEADLINE] == ready.headers[DEADLINE]
    assert over.headers["traceparent"] == "00-a-b-01"
    assert ready.stage is not None
    assert (ready.stage.actor, ready.stage.attempt, ready.stage.fallback) == ("intake", 1, "")


async def test_two_workers_share_one_durable(own_settings: BusSettings, own_wire: Wire) -> None:
    async with working(own_settings, intake, end), working(own_settings, intake, end):
        runs = await asyncio.gather(*(ask(own_wire) for _ in range(50)))
        streams = await asyncio.gather(*(closed(own_wire, run_id) for run_id in runs))
        info = await settled_with(own_wire, "intake", delivered=50)
    assert info.delivered is not None
    assert info.delivered.consumer_seq == 50
    assert all(lines.count(DONE) == 1 for lines in streams)


async def test_stages_reach_clients_of_all_events(own_settings: BusSettings, own_wire: Wire) -> None:
    async with working(own_settings, intake, end):
        run_id = await ask(own_wire, events="all")
        await closed(own_wire, run_id)
        frames = await until(lambda: own_wire.journal.frames(run_id, progress=True))
    stages = [msgspec.json.decode(frame.data) for frame in frames if not frame.fenced]
    assert [(s["stage"], s["status"]) for s in stages][:2] == [("intake", "start"), ("intake", "end")]


# ---------------------------------------------------------------- failures, bugs, poison


def failing(failure: Failure, *, times: int, retries: int = 1) -> tuple[Actor, list[float]]:
    calls: list[float] = []

    def last_resort(message: QuestionAsked, failure: Failure) -> RunFinished:
        return answered(f"fallback after {type(failure).__name__}")

    @actor(fallback=last_resort, retries=retries)
    async def intake(message: QuestionAsked, ask: Ask) -> RunFinished:
        calls.append(time.monotonic())
        if len(calls) <= times:
            raise failure
        return answered()

    return intake, calls


@pytest.mark.parametrize(
    ("failure", "times", "retries", "calls", "fell"),
    [
        (NoReply("silent"), 1, 1, 2, False),
        (BadReply("no JSON"), 9, 1, 1, True),
        (Unavailable("no model"), 9, 0, 1, True),
        (Failure("bad"), 9, 2, 3, True),
    ],
)
async def test_failure_is_retried_then_the_fallback_answers(
    own_settings: BusSettings, own_wire: Wire, failure: Failure, times: int, retries: int, calls: int, fell: bool
) -> None:
    intake, made = failing(failure, times=times, retries=retries)
    async with working(own_settings, intake):
        run_id = await ask(own_wire)
        settled = await ended(own_wire, run_id)
    assert len(made) == calls
    assert settled.answer == (f"fallback after {type(failure).__name__}" if fell else "14 days")
    stage = (await record(own_wire, finished(run_id).subject)).stage
    assert stage is not None
    assert stage.fallback == (f"{type(failure).__name__}: {failure}" if fell else "")


async def test_without_a_fallback_the_message_is_redelivered(own_settings: BusSettings, own_wire: Wire) -> None:
    calls: list[float] = []

    @actor(retries=0)
    async def intake(message: QuestionAsked) -> RunFinished:
        calls.append(time.monotonic())
        if len(calls) == 1:
            raise Unavailable("not yet")
        return answered()

    async with working(own_settings, intake):
        run_id = await ask(own_wire)
        assert (await ended(own_wire, run_id)).outcome == "answered"
    assert len(calls) == 2
    assert calls[1] - calls[0] > 0.3
    stage = (await record(own_wire, finished(run_id).subject)).stage
    assert stage is not None
    assert stage.attempt == 2


def buggy(bug: BaseException | None) -> Actor:
    """Raises for a question that names an error, or returns an undeclared type."""

    def last_resort(message: QuestionAsked, failure: Failure) -> RunFinished:
        return answered("must not answer a bug")

    @actor(fallback=last_resort)
    async def intake(message: QuestionAsked, ask: Ask) -> RunFinished:
        if message.question != "bug":
            return answered()
        if bug is not None:
            raise bug
        return toys.READY  # type: ignore[return-value]

    return intake


@pytest.mark.parametrize("bug", [ValueError("x"), TimeoutError(), None])
async def test_bug_ends_only_its_own_run(own_settings: BusSettings, own_wire: Wire, bug: BaseException | None) -> None:
    async with working(own_settings, buggy(bug), bugs=True) as worker:
        run_id = await ask(own_wire, question="bug")
        settled = await ended(own_wire, run_id)
        assert (settled.outcome, settled.reason, settled.question) == ("failed", None, "bug")
        assert settled.detail == f"internal error in intake: {type(bug or TypeError()).__name__}"
        assert DONE in await closed(own_wire, run_id)
        other = await ask(own_wire)
        assert (await ended(own_wire, other)).outcome == "answered"
        info = await settled_with(own_wire, "intake", delivered=2)
    assert info.num_redelivered == 0
    assert [type(each) for each in worker.bugs] == [type(bug or TypeError())]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty_body"),
        (b"\xff\xfe\x00", "not_json"),
        (b'{"type":"question_asked","question":17}', "invalid"),
    ],
)
async def test_poison_is_set_aside_and_fails_its_run(
    own_settings: BusSettings, own_wire: Wire, data: bytes, code: str
) -> None:
    run_id = secrets.token_hex(6)
    async with working(own_settings, intake, end):
        await own_wire.journal.publish(key_of(QuestionAsked, run_id).subject, data)
        settled = await ended(own_wire, run_id)
        assert (settled.outcome, settled.unrun, settled.code) == ("failed", "invalid", code)
        assert DONE in await closed(own_wire, run_id)
        info = await settled_with(own_wire, "intake", delivered=1)
        assert info.num_redelivered == 0
        assert info.delivered is not None
        assert info.delivered.consumer_seq == 1
    kept = await record(own_wire, Key("poison", run_id, "question_asked-main").subject)
    assert kept.data == data


async def test_broken_invariant_is_poison(own_settings: BusSettings, own_wire: Wire) -> None:
    @actor()
    async def intake(message: QuestionAsked) -> RunFinished:
        raise Poison("no profile is called 'librray'; did you mean 'library'?")

    async with working(own_settings, intake):
        run_id = await ask(own_wire)
        assert (await ended(own_wire, run_id)).detail == "no profile is called 'librray'; did you mean 'library'?"
        await settled_with(own_wire, "intake", delivered=1)
    assert await record(own_wire, Key("poison", run_id, "question_asked-main").subject)


async def test_subject_without_a_key_is_dropped(own_settings: BusSettings, own_wire: Wire) -> None:
    async with working(own_settings, intake, end):
        await own_wire.journal.publish("gw.question_asked.run$1", b"{}")
        await settled_with(own_wire, "intake", delivered=1)
        run_id = await ask(own_wire)
        assert (await ended(own_wire, run_id)).outcome == "answered"
