"""Work that is ended early, over a real nats-server: cancelled, too late, killed, superseded, without a notification."""

import asyncio
import secrets
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from bus.delivery import handling
from bus.delivery.actor import Actor, actor
from bus.delivery.graph import Graph
from bus.delivery.worker import Worker
from bus.journal.records import DEADLINE, encode
from bus.powers.events import Emitter
from bus.powers.protocols import Emit
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from bus.wire.messages import MAIN, QuestionAsked, QuestionReady, RunFinished
from bus.wire.settled import Settled
from bus.wire.subjects import Key, cancel_subject, finished
from tests.bus import toys
from tests.bus.toys import answered, ask, closed, done, end, ended, intake, record, settled_with, working
from tests.bus.toys import end as last
from tests.bus.wires import Server, Wire
from tests.polling import until

REPO = Path(__file__).parents[2]
DONE = b'{"type":"DONE"}'


# ---------------------------------------------------------------- cancellation and ends


class Hanging:
    """An actor that begins and waits; records whether it was cancelled, and its number of calls."""

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


async def test_end_of_a_run_stops_its_work(own_settings: BusSettings, own_wire: Wire) -> None:
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


async def test_empty_cancellation_ends_the_run(own_settings: BusSettings, own_wire: Wire) -> None:
    hanging = Hanging()
    async with working(own_settings, hanging.actor()):
        run_id = await ask(own_wire)
        await hanging.begun.wait()
        await own_wire.client.publish(cancel_subject(run_id), b"")
        settled = await ended(own_wire, run_id)
        assert (settled.outcome, settled.question) == ("cancelled", "How long?")
        await until(lambda: hanging.cancelled == 1)


async def test_cancelling_an_unknown_run_does_nothing(own_settings: BusSettings, own_wire: Wire) -> None:
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


async def test_message_of_a_finished_run_is_skipped(own_settings: BusSettings, own_wire: Wire) -> None:
    hanging = Hanging()
    async with working(own_settings, hanging.actor()):
        run_id = secrets.token_hex(6)
        await own_wire.journal.write(finished(run_id), RunFinished(settled=Settled(outcome="cancelled")))
        await closed(own_wire, run_id)
        await ask(own_wire, run_id)
        await settled_with(own_wire, "intake", delivered=1)
    assert hanging.calls == 0


async def test_unstored_end_ends_nothing(
    own_settings: BusSettings, own_wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, or a rule of the stream, refuses the record; subscribers receive it nevertheless."""
    monkeypatch.setattr(handling, "STORED_S", 0.2)
    hanging = Hanging()
    not_stored = {"Nats-Expected-Last-Sequence": "999999"}
    async with working(own_settings, hanging.actor()):
        before, under_way = secrets.token_hex(6), await ask(own_wire)
        await hanging.begun.wait()
        for run_id in (before, under_way):
            subject = finished(run_id).subject
            await own_wire.client.publish(subject, encode(answered("nothing")), headers=not_stored)
        await own_wire.client.flush()
        await ask(own_wire, before)
        hanging.go_on.set()
        for run_id in (before, under_way):
            assert (await ended(own_wire, run_id)).answer == "14 days"


@pytest.mark.parametrize(("fields", "headers"), [({"deadline_s": 0.000_001}, None), ({}, {DEADLINE: "1700000000.000"})])
async def test_run_past_its_deadline_times_out(
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


async def test_heartbeats_prevent_redelivery(impatient: BusSettings, own_wire: Wire) -> None:
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


async def test_presumed_dead_worker_changes_nothing(impatient: BusSettings, own_wire: Wire) -> None:
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


async def test_another_worker_repeats_killed_work(server: Server, impatient: BusSettings, own_wire: Wire) -> None:
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


async def test_work_continues_over_a_killed_server(server: Server, impatient: BusSettings, own_wire: Wire) -> None:
    async with working(impatient, intake, end):
        before = [await ask(own_wire) for _ in range(5)]
        server.kill()
        server.start()
        await until(lambda: own_wire.client.is_connected)
        after = [await ask(own_wire) for _ in range(5)]
        for run_id in (*before, *after):
            assert (await ended(own_wire, run_id)).outcome == "answered"
            assert (await closed(own_wire, run_id)).count(DONE) == 1


async def test_stored_output_is_not_made_again(own_settings: BusSettings, own_wire: Wire) -> None:
    """The worker died between its write and its ack."""
    calls = 0

    @actor(retries=0)
    async def intake(message: QuestionAsked) -> QuestionReady:
        nonlocal calls
        calls += 1
        await own_wire.journal.write(Key("question_ready", run_id, MAIN), toys.READY)
        raise Unavailable("died before the ack")

    run_id = secrets.token_hex(6)
    async with working(own_settings, intake, end):
        await ask(own_wire, run_id)
        await settled_with(own_wire, "intake", delivered=2)
    assert calls == 1


async def test_superseded_worker_is_redelivered_and_continues(own_settings: BusSettings, own_wire: Wire) -> None:
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


async def test_stopping_finishes_work_in_flight(own_settings: BusSettings, own_wire: Wire) -> None:
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


async def test_stopping_waits_for_a_stored_cancellation(
    own_settings: BusSettings, own_wire: Wire, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hanging, begun, go_on = Hanging(), asyncio.Event(), asyncio.Event()
    cancel = handling.Handling.cancel

    async def slowly(self: handling.Handling, run_id: str) -> None:
        begun.set()
        await go_on.wait()
        await cancel(self, run_id)

    monkeypatch.setattr(handling.Handling, "cancel", slowly)
    worker = Worker(Graph((hanging.actor(), done)), own_settings)
    await worker.start()
    run_id = await ask(own_wire)
    await hanging.begun.wait()
    await own_wire.client.publish(cancel_subject(run_id))
    await begun.wait()
    hanging.go_on.set()
    await ended(own_wire, run_id)
    stopping = asyncio.create_task(worker.stop())
    await asyncio.sleep(0.3)  # it would close by now what the cancellation is answered through
    go_on.set()
    await stopping
    assert "DrainTimeoutError" not in caplog.text
    assert worker.bugs == []


async def test_lost_ends_block_no_question(own_settings: BusSettings, own_wire: Wire) -> None:
    over: RunFinished = answered()
    async with working(own_settings, intake, last) as worker:
        held, question = 0, QuestionAsked(question="?")
        while worker.intake.limit.has_room("interactive"):
            run_id = f"unheard-{held}"
            await own_wire.journal.write(finished(run_id), over)
            await own_wire.client.flush()
            await worker.client.flush()  # this end belongs to a run that has not begun
            await worker.intake.enter(run_id, question, 3600.0)
            held += 1
        assert held == worker.intake.limit.at_once
        assert (await ended(own_wire, await ask(own_wire, deadline_s=60.0))).outcome == "answered"
