"""A journal that fills up: the oldest finished runs are removed whole, active and pinned runs stay, questions are answered."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable

import msgspec
import pytest

from bus.delivery.actor import actor
from bus.journal import sweeping
from bus.journal.pruner import Pruner, journal_state
from bus.journal.pruning import Rule, pin, prune, remove_run, unpin
from bus.journal.room import Room
from bus.journal.sweeping import sweep
from bus.runs.run_record import record_of
from bus.runs.runs import QuestionRun, Runs
from bus.runs.story import story_of
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from bus.wire.messages import QuestionAsked, QuestionReady, RunFinished
from bus.wire.subjects import finished, key_of
from tests.bus.toys import READY, answered, ask, closed, end, ended, intake, settled_with, working
from tests.bus.wires import Server, Wire, wired
from tests.polling import until

LONG = "How long do refunds take? " * 150
CLOSERS = ("done",)


@pytest.fixture
def small(server: Server) -> BusSettings:
    """A journal of 1 MB, which some two hundred long questions fill."""
    return BusSettings(
        url=server.url, runs_max_bytes=1_000_000, ack_wait_s=60.0, heartbeat_s=1.0, janitor_period_s=0.02
    )


@pytest.fixture
async def wire(small: BusSettings) -> AsyncIterator[Wire]:
    async with wired(small) as made:
        yield made


@contextlib.asynccontextmanager
async def pruning(wire: Wire, settings: BusSettings) -> AsyncIterator[Pruner]:
    pruner = Pruner(wire.journal, settings, CLOSERS)
    await pruner.start()
    try:
        yield pruner
    finally:
        await pruner.stop()


async def over(wire: Wire, question: str = "How long?") -> str:
    """A run that has ended, without actors."""
    run_id = await ask(wire, question=question)
    await wire.journal.write(key_of(QuestionReady, run_id), READY)
    await wire.journal.write(finished(run_id), answered())
    return run_id


async def runs_there(wire: Wire) -> set[str]:
    return await sweeping.runs_in(wire.journal, "gw.question_asked.*")


async def test_questions_are_answered_in_a_full_journal(small: BusSettings, wire: Wire) -> None:
    """Three times what the journal holds, with a run under way and a pinned one from the beginning."""
    let_go = asyncio.Event()

    @actor()
    async def slow_end(message: QuestionReady) -> RunFinished:
        return answered()

    @actor()
    async def waits(message: QuestionAsked) -> QuestionReady:
        if message.question == "slow":
            await let_go.wait()
        return READY

    runs = Runs(wire.journal)
    await runs.start()
    async with working(small, waits, slow_end):
        async with pruning(wire, small):
            slow = (await runs.submit(QuestionAsked(question="slow"))).run_id
            pinned = (await runs.submit(QuestionAsked(question="pinned"))).run_id
            await ended(wire, pinned)
            await pin(wire.journal, pinned)
            left = iter(range(600))

            async def submitted(asked: QuestionAsked) -> QuestionRun:
                """Asked as a client does: a refused question is asked again."""
                while True:
                    with contextlib.suppress(Unavailable):
                        return await runs.submit(asked)
                    await wire.client.flush()

            async def client() -> None:
                for number in left:
                    asked = QuestionAsked(question=f"{number} {LONG}", idempotency_key=f"key-{number}")
                    run_id = (await submitted(asked)).run_id
                    assert b'{"type":"DONE"}' in [line async for _, line in runs.events(run_id)]

            await asyncio.gather(*(client() for _ in range(4)))
        # Nothing is pruned now: the slow run is the oldest, and would go as soon as it has ended.
        let_go.set()
        assert (await ended(wire, slow)).outcome == "answered"
        state = await journal_state(wire.client)
    await runs.stop()
    assert state is not None
    assert state.pruned_runs > 300
    there = await runs_there(wire)
    assert {slow, pinned} <= there
    assert len(there) < 220
    for run_id in there:  # none is there in part
        record = record_of(story_of(await wire.journal.run(run_id)))
        assert record is not None
        assert record.status == "finished"


async def test_pinned_runs_alone_fill_the_journal(small: BusSettings, wire: Wire) -> None:
    pinned: list[str] = []

    async def fill() -> None:
        while True:
            run_id = await over(wire, question=LONG)
            await pin(wire.journal, run_id)
            pinned.append(run_id)

    with pytest.raises(Unavailable):
        await fill()
    runs = Runs(wire.journal)
    with pytest.raises(Unavailable, match="no actors process removes old runs"):
        await runs.submit(QuestionAsked(question="How long?"))
    async with pruning(wire, small):
        await until(lambda: journal_state(wire.client))

        async def why() -> str:
            try:
                await Room(wire.journal).check()
            except Unavailable as error:
                return str(error)
            return ""

        await until(lambda: _says(why(), f"{len(pinned)} pinned"))
        assert "groundwire trace unpin" in await why()
        for run_id in pinned[:30]:
            await unpin(wire.journal, run_id)
        await until(lambda: _says(why(), ""))
    assert (await Runs(wire.journal).submit(QuestionAsked(question="How long?"))).created


async def _says(why: Awaitable[str], words: str) -> bool:
    """Whether the reason holds these words; without words, whether there is none."""
    said = await why
    return words in said if words else not said


@pytest.mark.parametrize("cut", range(6))
async def test_interrupted_pruning_leaves_whole_runs(wire: Wire, monkeypatch: pytest.MonkeyPatch, cut: int) -> None:
    run_id = await over(wire)
    await wire.journal.publish(f"gw.access.{run_id}.main", b'{"key":"a"}')
    remove, removed = wire.journal.remove, 0

    async def dies(sequence: int) -> bool:
        nonlocal removed
        removed += 1
        if removed > cut:
            raise Unavailable("killed")
        return await remove(sequence)

    monkeypatch.setattr(wire.journal, "remove", dies)
    with contextlib.suppress(Unavailable):
        await remove_run(wire.journal, run_id)
    left = await wire.journal.run(run_id)
    record = record_of(story_of(left))
    assert record is None or record.outcome == "answered"
    if record is not None:
        assert any(each.key.type == "access" for each in left), "it lost its owner first"
    monkeypatch.setattr(wire.journal, "remove", remove)
    monkeypatch.setattr(sweeping, "YOUNG_S", 0.0)
    await sweep(wire.journal, 120.0)
    await prune(wire.journal, Rule(before=time.time() + 1), closers=())
    assert await wire.journal.run(run_id) == []


async def test_late_actor_of_a_removed_run_writes_nothing(small: BusSettings, wire: Wire) -> None:
    at_work, let_go = asyncio.Event(), asyncio.Event()

    @actor()
    async def sleeper(message: QuestionAsked) -> QuestionReady:
        at_work.set()
        await asyncio.shield(let_go.wait())
        return READY

    async with working(small, sleeper, end) as worker:
        run_id = await ask(wire)
        await at_work.wait()
        # As when the process was stopped for a while: it does not hear that the run has ended.
        quiet = {"Nats-Msg-Id": "x"}
        for deliveries in list(worker._in_flight.values()):
            for delivery in deliveries:
                delivery.ending = True
        await wire.journal.write(finished(run_id), answered(), headers=quiet)
        await closed(wire, run_id)
        await until(lambda: _gone(wire, run_id))
        let_go.set()
        await settled_with(wire, "sleeper", delivered=1)
        assert await wire.journal.run(run_id) == []


async def _gone(wire: Wire, run_id: str) -> bool:
    await prune(wire.journal, Rule(before=time.time() + 1), closers=CLOSERS)
    return await wire.journal.run(run_id) == []


async def test_run_stays_until_its_end_is_delivered(small: BusSettings, wire: Wire) -> None:
    """Its client waits for DONE, which a stage writes that takes the end."""
    async with working(small, intake, end):
        first = await ask(wire)
        await closed(wire, first)
    late = await over(wire)
    done = await prune(wire.journal, Rule(before=time.time() + 1), closers=CLOSERS)
    assert [run.run_id for run in done.runs] == [first]
    assert done.seen.unread == 1
    async with working(small, intake, end):
        await closed(wire, late)
        await until(lambda: _gone(wire, late))


async def test_oldest_runs_leave_and_a_dry_run_keeps_all(wire: Wire) -> None:
    old = [await over(wire) for _ in range(3)]
    running = await ask(wire)
    (last,) = await wire.journal.latest([key_of(QuestionAsked, running).subject])
    young = await over(wire)
    rule = Rule(before=last.time)
    would = await prune(wire.journal, rule, closers=(), dry_run=True)
    assert [run.run_id for run in would.runs] == old
    assert await runs_there(wire) == {*old, running, young}
    before = (await wire.journal.usage()).size_bytes
    did = await prune(wire.journal, rule, closers=())
    assert did.runs == would.runs
    assert await runs_there(wire) == {running, young}
    assert did.size_bytes == pytest.approx(before - (await wire.journal.usage()).size_bytes, rel=0.1)


async def test_several_at_once_do_no_harm(wire: Wire) -> None:
    there = [await over(wire, question=LONG) for _ in range(30)]
    keep = (await wire.journal.usage()).size_bytes // 2
    await asyncio.gather(*(prune(wire.journal, Rule(keep_bytes=keep), closers=()) for _ in range(3)))
    left = await runs_there(wire)
    assert 8 <= len(left) <= 16
    assert left == set(there[-len(left) :])
    for run_id in left:
        assert len(await wire.journal.run(run_id)) == 3


async def test_one_pruner_works_and_another_takes_over(small: BusSettings, wire: Wire) -> None:
    async with pruning(wire, small) as first:
        async with pruning(wire, small) as second:
            await until(lambda: first.working != second.working)
            one = first if first.working else second
            assert not (second if one is first else first).working
        await until(lambda: first.working)


@pytest.mark.parametrize("subject", ["gw.question_asked.환불", "gw.run_finished.환불.main", "gw.pinned.환불.x"])
async def test_pruning_continues_over_any_record(small: BusSettings, wire: Wire, subject: str) -> None:
    await wire.client.jetstream().publish(subject, b"\xff")
    run_id = await over(wire)
    async with pruning(wire, msgspec.structs.replace(small, runs_max_age_s=0.001)) as pruner:
        await until(lambda: pruner.state.pruned_runs == 1)
        assert await wire.journal.run(run_id) == []


async def test_abandoned_run_is_ended(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "LATE_S", 0.0)
    left = await ask(wire, question="환불은?", deadline_s=0.001)
    running = await ask(wire)
    await sweep(wire.journal, 120.0)
    settled = await ended(wire, left)
    assert (settled.outcome, settled.detail, settled.question) == ("failed", sweeping.LEFT, "환불은?")
    assert await wire.journal.latest([finished(running).subject]) == []
