"""Messages through actors over a real nats-server: done once, whatever fails, and every run comes to an end."""

import asyncio
import itertools
import secrets
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import nats.js.errors
import pytest

from bus.actor import Actor, actor
from bus.delivery import Worker
from bus.errors import BadReply, Failure, NoReply, Poison, Unavailable
from bus.events import Emitter
from bus.graph import Graph
from bus.journal import CAUSE, DEADLINE
from bus.messages import (
    MAIN,
    PassagesJudged,
    QuestionAsked,
    QuestionReady,
    RunFinished,
    Settled,
    SubQueryPlanned,
)
from bus.powers import Ask, Emit
from bus.settings import BusSettings
from bus.subjects import RUNS, Key, cancel_subject, finished, key_of
from tests.bus import toys
from tests.bus.toys import (
    answered,
    ask,
    closed,
    done,
    end,
    ended,
    intake,
    judged,
    planned,
    record,
    settled_with,
    working,
)
from tests.bus.wires import Server, Wire
from tests.polling import until

REPO = Path(__file__).parents[2]
DONE = b'{"type":"DONE"}'


# ---------------------------------------------------------------- the straight way


async def test_a_run_passes_every_actor_and_leaves_its_trace(own_settings: BusSettings, own_wire: Wire) -> None:
    async with working(own_settings, intake, end):
        run_id = await ask(own_wire, headers={"traceparent": "00-a-b-01"}, deadline_s=90.0)
        assert await closed(own_wire, run_id) == [b'{"type":"token","content":"","status":"end"}', DONE]
        for durable in ("intake", "end", "done"):
            await settled_with(own_wire, durable, delivered=1)
    asked, ready, over = await own_wire.journal.run(run_id)
    assert [r.key.type for r in (asked, ready, over)] == ["question_asked", "question_ready", "run_finished"]
    assert (ready.headers[CAUSE], over.headers[CAUSE]) == (str(asked.sequence), str(ready.sequence))
    assert float(ready.headers[DEADLINE]) == pytest.approx(asked.time + 90.0, abs=0.01)
    assert over.headers[DEADLINE] == ready.headers[DEADLINE]
    assert over.headers["traceparent"] == "00-a-b-01"
    assert ready.stage is not None
    assert (ready.stage.actor, ready.stage.attempt, ready.stage.fallback) == ("intake", 1, "")


async def test_many_runs_at_once_each_end_once(own_settings: BusSettings, own_wire: Wire) -> None:
    async with working(own_settings, intake, end):
        runs = await asyncio.gather(*(ask(own_wire) for _ in range(200)))
        streams = await asyncio.gather(*(closed(own_wire, run_id) for run_id in runs))
    assert all(lines.count(DONE) == 1 for lines in streams)


async def test_two_workers_share_one_durable(own_settings: BusSettings, own_wire: Wire) -> None:
    async with working(own_settings, intake, end), working(own_settings, intake, end):
        runs = await asyncio.gather(*(ask(own_wire) for _ in range(50)))
        for run_id in runs:
            await closed(own_wire, run_id)
        info = await settled_with(own_wire, "intake", delivered=50)
    assert info.delivered is not None
    assert info.delivered.consumer_seq == 50


async def test_only_some_of_the_actors(own_settings: BusSettings, own_wire: Wire) -> None:
    async with working(own_settings, intake, end, only=("intake",)):
        run_id = await ask(own_wire)
        await record(own_wire, key_of(QuestionReady, run_id).subject)
        with pytest.raises(nats.js.errors.NotFoundError):
            await own_wire.journal.js.consumer_info(RUNS, "end")
    async with working(own_settings, intake, end, only=("end", "done")):
        await closed(own_wire, run_id)


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
        (BadReply("no JSON"), 9, 1, 2, True),
        (Unavailable("no model"), 9, 0, 1, True),
        (Failure("bad"), 9, 2, 3, True),
    ],
)
async def test_a_failure_is_tried_again_and_then_the_fallback_answers(
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


async def test_without_a_fallback_the_message_comes_again_after_a_delay(
    own_settings: BusSettings, own_wire: Wire
) -> None:
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
    """Raises for a question that says so, or gives what its signature does not."""

    @actor(fallback=lambda message, failure: answered("must not answer a bug"))
    async def intake(message: QuestionAsked, ask: Ask) -> RunFinished:
        if message.question != "bug":
            return answered()
        if bug is not None:
            raise bug
        return toys.READY  # type: ignore[return-value]

    return intake


@pytest.mark.parametrize("bug", [ValueError("x"), TimeoutError(), None])
async def test_a_bug_ends_its_run_with_an_error_and_no_other(
    own_settings: BusSettings, own_wire: Wire, bug: BaseException | None
) -> None:
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


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b'{"type":"question_asked","question":17}'])
async def test_poison_is_kept_aside_and_its_run_failed(own_settings: BusSettings, own_wire: Wire, data: bytes) -> None:
    run_id = secrets.token_hex(6)
    async with working(own_settings, intake, end):
        await own_wire.journal.publish(key_of(QuestionAsked, run_id).subject, data)
        settled = await ended(own_wire, run_id)
        assert settled.outcome == "failed"
        assert "cannot be read" in settled.detail
        assert DONE in await closed(own_wire, run_id)
        info = await settled_with(own_wire, "intake", delivered=1)
        assert info.num_redelivered == 0
        assert info.delivered is not None
        assert info.delivered.consumer_seq == 1
    kept = await record(own_wire, Key("poison", run_id, "question_asked-main").subject)
    assert kept.data == data


async def test_what_breaks_an_invariant_is_poison_too(own_settings: BusSettings, own_wire: Wire) -> None:
    @actor()
    async def intake(message: QuestionAsked) -> RunFinished:
        raise Poison("no profile is called 'librray'; did you mean 'library'?")

    async with working(own_settings, intake):
        run_id = await ask(own_wire)
        assert (await ended(own_wire, run_id)).detail == "no profile is called 'librray'; did you mean 'library'?"
        await settled_with(own_wire, "intake", delivered=1)
    assert await record(own_wire, Key("poison", run_id, "question_asked-main").subject)


async def test_a_subject_that_names_no_key_is_dropped(own_settings: BusSettings, own_wire: Wire) -> None:
    async with working(own_settings, intake, end):
        await own_wire.journal.publish("gw.question_asked.run$1", b"{}")
        await settled_with(own_wire, "intake", delivered=1)
        run_id = await ask(own_wire)
        assert (await ended(own_wire, run_id)).outcome == "answered"


# ---------------------------------------------------------------- fan-out and join


class Lanes:
    """Three lanes that finish when the test says so, joined into the end of the run."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.gates: dict[str, asyncio.Event] = {}
        self.joins: list[tuple[str, ...]] = []
        self.calls: list[str] = []

    def gate(self, lane: str) -> asyncio.Event:
        return self.gates.setdefault(lane, asyncio.Event())

    def actors(self) -> tuple[Actor, ...]:
        @actor()
        async def intake(message: QuestionAsked) -> tuple[SubQueryPlanned, ...]:
            return planned(toys.THREE)

        @actor()
        async def lane(message: SubQueryPlanned) -> PassagesJudged:
            self.calls.append(message.sub_query.id)
            await self.gate(message.sub_query.id).wait()
            return judged(message)

        @actor()
        async def join(lanes: tuple[PassagesJudged, ...]) -> RunFinished:
            self.joins.append(tuple(each.sub_query.id for each in lanes))
            return answered()

        return intake, lane, join


IDS = tuple(q.id for q in toys.THREE)


async def test_lanes_are_joined_once_in_the_order_of_their_plan(own_settings: BusSettings, own_wire: Wire) -> None:
    """Every order in which three lanes may finish, one run after the other over one server."""
    lanes = Lanes()
    async with working(own_settings, *lanes.actors()):
        for n, order in enumerate(itertools.permutations(IDS)):
            lanes.reset()
            run_id = await ask(own_wire)
            await until(lambda: len(lanes.calls) == 3)
            for m, each in enumerate(order):
                assert lanes.joins == []
                lanes.gate(each).set()
                await settled_with(own_wire, "join", delivered=3 * n + m + 1)
            await closed(own_wire, run_id)
            assert lanes.joins == [IDS]


async def test_lanes_that_finish_together_are_joined_once(own_settings: BusSettings, own_wire: Wire) -> None:
    lanes = Lanes()
    for each in IDS:
        lanes.gate(each).set()
    async with working(own_settings, *lanes.actors()), working(own_settings, *lanes.actors()):
        runs = await asyncio.gather(*(ask(own_wire) for _ in range(30)))
        for run_id in runs:
            await closed(own_wire, run_id)
        await settled_with(own_wire, "join", delivered=90)
    assert lanes.joins == [IDS] * 30


async def test_a_lane_done_twice_counts_once(impatient: BusSettings, own_wire: Wire) -> None:
    """A worker that was thought dead does its lane after all: the key is there, and nothing is joined again."""
    lanes = Lanes()
    deaf = msgspec.structs.replace(impatient, heartbeat_s=1000.0)
    async with working(deaf, *lanes.actors()):
        run_id = await ask(own_wire)
        await until(lambda: len(lanes.calls) >= 6, what="every lane to be delivered twice")
        for each in IDS:
            lanes.gate(each).set()
        await closed(own_wire, run_id)
        await settled_with(own_wire, "lane", delivered=6)
        await settled_with(own_wire, "join", delivered=3)
    assert lanes.joins == [IDS]
    assert len(await own_wire.journal.latest([f"gw.passages_judged.{run_id}.*"])) == 3


# ---------------------------------------------------------------- cancellation and ends


class Hanging:
    """An actor that begins and waits; says whether it was cancelled, and how often it was called."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.calls = 0
        self.cancelled = 0

    def actor(self) -> Actor:
        @actor()
        async def intake(message: QuestionAsked) -> RunFinished:
            self.calls += 1
            self.begun.set()
            try:
                await self.go_on.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            return answered()

        return intake


async def test_the_end_of_a_run_stops_the_work_on_it(own_settings: BusSettings, own_wire: Wire) -> None:
    hanging = Hanging()
    async with working(own_settings, hanging.actor()):
        run_id = await ask(own_wire)
        await hanging.begun.wait()
        await own_wire.journal.write(finished(run_id), RunFinished(settled=Settled(outcome="cancelled")))
        await until(lambda: hanging.cancelled == 1)
        info = await settled_with(own_wire, "intake", delivered=1)
        assert info.num_redelivered == 0
        assert DONE in await closed(own_wire, run_id)
    assert (await ended(own_wire, run_id)).outcome == "cancelled"


async def test_a_cancellation_without_words_ends_the_run_as_cancelled(
    own_settings: BusSettings, own_wire: Wire
) -> None:
    hanging = Hanging()
    async with working(own_settings, hanging.actor()):
        run_id = await ask(own_wire)
        await hanging.begun.wait()
        await own_wire.client.publish(cancel_subject(run_id), b"")
        settled = await ended(own_wire, run_id)
        assert (settled.outcome, settled.question) == ("cancelled", "How long?")
        await until(lambda: hanging.cancelled == 1)


async def test_cancelling_a_run_that_is_not_there_does_nothing(own_settings: BusSettings, own_wire: Wire) -> None:
    async with working(own_settings, intake, end):
        await own_wire.client.publish(cancel_subject("nobody"), b"")
        run_id = await ask(own_wire)
        await closed(own_wire, run_id)
        assert await own_wire.journal.latest([finished("nobody").subject]) == []


async def test_cancelling_after_the_end_changes_nothing(own_settings: BusSettings, own_wire: Wire) -> None:
    async with working(own_settings, intake, end):
        run_id = await ask(own_wire)
        lines = await closed(own_wire, run_id)
        await own_wire.client.publish(cancel_subject(run_id), b"")
        other = await ask(own_wire)
        await closed(own_wire, other)
    assert (await ended(own_wire, run_id)).outcome == "answered"
    assert await closed(own_wire, run_id) == lines


async def test_a_message_of_a_run_that_is_over_is_not_worked_on(own_settings: BusSettings, own_wire: Wire) -> None:
    hanging = Hanging()
    async with working(own_settings, hanging.actor()):
        run_id = secrets.token_hex(6)
        await own_wire.journal.write(finished(run_id), RunFinished(settled=Settled(outcome="cancelled")))
        await closed(own_wire, run_id)
        await ask(own_wire, run_id)
        await settled_with(own_wire, "intake", delivered=1)
    assert hanging.calls == 0


@pytest.mark.parametrize(("fields", "headers"), [({"deadline_s": 0.000_001}, None), ({}, {DEADLINE: "1700000000.000"})])
async def test_past_its_deadline_a_run_ends_with_a_timeout(
    own_settings: BusSettings, own_wire: Wire, fields: dict[str, object], headers: dict[str, str] | None
) -> None:
    hanging = Hanging()
    async with working(own_settings, hanging.actor()):
        run_id = await ask(own_wire, headers=headers, **fields)
        settled = await ended(own_wire, run_id)
        assert (settled.outcome, settled.reason, settled.question) == ("failed", "timeout", "How long?")
        await settled_with(own_wire, "intake", delivered=1)
    assert hanging.calls == 0


# ---------------------------------------------------------------- long work, death, being superseded


async def test_heartbeats_keep_long_work_from_coming_again(impatient: BusSettings, own_wire: Wire) -> None:
    hanging = Hanging()
    async with working(impatient, hanging.actor()):
        run_id = await ask(own_wire)
        began = time.monotonic()
        await until(lambda: time.monotonic() - began > 2 * impatient.ack_wait_s)
        hanging.go_on.set()
        await closed(own_wire, run_id)
        info = await settled_with(own_wire, "intake", delivered=1)
    assert hanging.calls == 1
    assert info.delivered is not None
    assert info.delivered.consumer_seq == 1


async def test_a_worker_that_was_thought_dead_changes_nothing(impatient: BusSettings, own_wire: Wire) -> None:
    paused, other = Hanging(), Hanging()
    other.go_on.set()
    deaf = msgspec.structs.replace(impatient, heartbeat_s=1000.0)
    async with working(deaf, paused.actor()):
        run_id = await ask(own_wire)
        await paused.begun.wait()
        async with working(impatient, other.actor()):
            await ended(own_wire, run_id)
        paused.go_on.set()
        assert (await closed(own_wire, run_id)).count(DONE) == 1
        await settled_with(own_wire, "intake", delivered=2)
    assert other.calls >= 1


async def test_what_a_killed_worker_had_begun_is_done_by_another(
    server: Server, impatient: BusSettings, own_wire: Wire
) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(Path(__file__).with_name("dying_worker.py")), server.url,
        stdout=subprocess.PIPE, cwd=REPO, env={"PYTHONPATH": str(REPO), "PATH": ""},
    )  # fmt: skip
    assert process.stdout is not None
    run_id = await ask(own_wire)
    assert await process.stdout.readline() == b"working\n"
    process.kill()
    await process.wait()
    hanging = Hanging()
    hanging.go_on.set()
    async with working(impatient, hanging.actor()):
        assert (await ended(own_wire, run_id)).outcome == "answered"
        assert (await closed(own_wire, run_id)).count(DONE) == 1
    stage = (await record(own_wire, finished(run_id).subject)).stage
    assert stage is not None
    assert stage.attempt >= 2


async def test_work_goes_on_over_a_server_that_is_killed(
    server: Server, impatient: BusSettings, own_wire: Wire
) -> None:
    async with working(impatient, intake, end):
        before = [await ask(own_wire) for _ in range(5)]
        server.kill()
        server.start()
        await until(lambda: own_wire.client.is_connected)
        after = [await ask(own_wire) for _ in range(5)]
        for run_id in (*before, *after):
            assert (await ended(own_wire, run_id)).outcome == "answered"
            assert (await closed(own_wire, run_id)).count(DONE) == 1


async def test_an_output_that_is_there_already_is_not_made_again(own_settings: BusSettings, own_wire: Wire) -> None:
    """The worker died between its write and its ack."""
    calls = 0

    @actor(retries=0)
    async def intake(message: QuestionAsked) -> QuestionReady:
        nonlocal calls
        calls += 1
        await own_wire.journal.write(Key("question_ready", run_id, MAIN), toys.READY)
        raise Unavailable("died before the ack")

    run_id = secrets.token_hex(6)
    async with working(own_settings, intake, end, only=("intake",)):
        await ask(own_wire, run_id)
        await settled_with(own_wire, "intake", delivered=2)
    assert calls == 1


async def test_whoever_is_superseded_comes_again_and_goes_on(own_settings: BusSettings, own_wire: Wire) -> None:
    shown: list[str] = []

    @actor()
    async def intake(message: QuestionAsked, emit: Emit) -> RunFinished:
        if not shown:
            shown.append("")
            await Emitter(own_wire.journal, run_id).text("theirs")
            await emit.text("mine")
        shown.append(await emit.shown())
        await emit.text(" and mine")
        return answered()

    run_id = secrets.token_hex(6)
    async with working(own_settings, intake):
        await ask(own_wire, run_id)
        lines = await closed(own_wire, run_id)
    assert shown == ["", "theirs"]
    contents = [msgspec.json.decode(line)["content"] for line in lines if b'"in_progress"' in line]
    assert "".join(contents) == "theirs and mine"


async def test_stopping_finishes_what_is_in_flight(own_settings: BusSettings, own_wire: Wire) -> None:
    hanging = Hanging()
    worker = Worker(Graph((hanging.actor(), done)), own_settings)
    await worker.start()
    run_id = await ask(own_wire)
    await hanging.begun.wait()
    stopping = asyncio.create_task(worker.stop())
    hanging.go_on.set()
    await stopping
    assert (await ended(own_wire, run_id)).outcome == "answered"
    assert worker.bugs == []


async def test_stages_are_told_to_whoever_wants_all_events(own_settings: BusSettings, own_wire: Wire) -> None:
    async with working(own_settings, intake, end):
        run_id = await ask(own_wire, events="all")
        await closed(own_wire, run_id)
        frames = await until(lambda: own_wire.journal.frames(run_id, progress=True))
    stages = [msgspec.json.decode(frame.data) for frame in frames if not frame.fenced]
    assert [(s["stage"], s["status"]) for s in stages][:2] == [("intake", "start"), ("intake", "end")]
