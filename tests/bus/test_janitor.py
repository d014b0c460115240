"""The janitor ends runs that nothing else will: past their deadline, or delivered too often; an existing end stays."""

import contextlib
import dataclasses
import secrets
import time
from collections.abc import AsyncIterator, Callable

import msgspec
import pytest

from bus.delivery.actor import actor
from bus.journal import janitor as janitor_module
from bus.journal.janitor import Janitor
from bus.journal.records import DEADLINE, LONGEST_S
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from bus.wire.messages import QuestionAsked, QuestionReady, RunFinished
from bus.wire.settled import Settled
from bus.wire.subjects import RUNS, finished, key_of
from tests.bus.toys import ask, closed, done, ended, working
from tests.bus.wires import Wire
from tests.polling import until


@pytest.fixture(autouse=True)
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(janitor_module, "GRACE_S", 0.05)


@contextlib.asynccontextmanager
async def watching(
    wire: Wire, settings: BusSettings, at_work: Callable[[], bool] = lambda: True
) -> AsyncIterator[Janitor]:
    janitor = Janitor(wire.journal, settings, at_work)
    await janitor.start()
    yield janitor
    await janitor.stop()


async def test_run_past_its_deadline_is_ended(own_settings: BusSettings, own_wire: Wire) -> None:
    async with watching(own_wire, own_settings) as janitor:
        late = await ask(own_wire, deadline_s=0.05, question="환불은?")
        other = await ask(own_wire, deadline_s=100.0)
        settled = await ended(own_wire, late)
        await until(lambda: other in janitor.open and late not in janitor.open)
    assert (settled.outcome, settled.reason, settled.question) == ("failed", "timeout", "환불은?")
    assert await own_wire.journal.latest([finished(other).subject]) == []


async def test_run_older_than_the_janitor_is_ended(own_settings: BusSettings, own_wire: Wire) -> None:
    late = await ask(own_wire, deadline_s=0.05)
    async with watching(own_wire, own_settings):
        assert (await ended(own_wire, late)).reason == "timeout"


async def test_one_takes_over_from_the_other(own_settings: BusSettings, own_wire: Wire) -> None:
    first = True
    async with (
        watching(own_wire, own_settings, lambda: first) as one,
        watching(own_wire, own_settings, lambda: not first) as other,
    ):
        asked = await ask(own_wire, deadline_s=100.0)
        await until(lambda: asked in one.open)
        assert not other.open
        first = False
        late = await ask(own_wire, deadline_s=0.05)
        assert (await ended(own_wire, late)).reason == "timeout"
        await until(lambda: asked in other.open and not one.open)


async def test_header_deadline_has_priority(own_settings: BusSettings, own_wire: Wire) -> None:
    async with watching(own_wire, own_settings):
        late = await ask(own_wire, deadline_s=100.0, headers={DEADLINE: "1700000000.0"})
        assert (await ended(own_wire, late)).reason == "timeout"


@pytest.mark.parametrize("deadline", ["abc", "nan", "inf", "-inf", "1e400", "", "9" * 400])
async def test_bad_deadline_is_ignored(own_settings: BusSettings, own_wire: Wire, deadline: str) -> None:
    """The janitor that was watching first, and the one that starts after it."""
    for late in ("first", "second"):
        async with watching(own_wire, own_settings) as janitor:
            bad = await ask(own_wire, f"bad-{late}", deadline_s=100.0, headers={DEADLINE: deadline})
            assert (await ended(own_wire, await ask(own_wire, late, deadline_s=0.05))).reason == "timeout"
            assert 0 < janitor.open[bad][0] - time.monotonic() <= 100.0
            assert (janitor.watch.down, dict(janitor.watch.restarts)) == ({}, {})


async def test_every_deadline_ends_a_run(own_settings: BusSettings, own_wire: Wire) -> None:
    async with watching(own_wire, own_settings) as janitor:
        far = await ask(own_wire, headers={DEADLINE: "1e300"})
        await until(lambda: far in janitor.open)
        assert janitor.open[far][0] - time.monotonic() <= LONGEST_S


async def test_unwritten_end_is_written_later(
    own_settings: BusSettings, own_wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    js = own_wire.journal.js
    config = (await js.stream_info(RUNS)).config
    async with watching(own_wire, own_settings):
        await js.update_stream(dataclasses.replace(config, max_msgs=1))  # the question fits, its end does not
        run_id = await ask(own_wire, deadline_s=0.01)
        await until(lambda: "cannot be ended" in caplog.text)
        await js.update_stream(config)
        assert (await ended(own_wire, run_id)).reason == "timeout"


@pytest.mark.parametrize("data", [b"\xff\xfe", b'{"type":"question_asked","question":1}'])
async def test_unreadable_question_has_the_default_deadline(
    own_settings: BusSettings, own_wire: Wire, data: bytes
) -> None:
    run_id = secrets.token_hex(6)
    async with watching(own_wire, msgspec.structs.replace(own_settings, deadline_s=0.05)):
        await own_wire.journal.publish(key_of(QuestionAsked, run_id).subject, data)
        assert (await ended(own_wire, run_id)).outcome == "failed"


async def test_an_end_that_is_there_stays(own_settings: BusSettings, own_wire: Wire) -> None:
    async with watching(own_wire, own_settings) as janitor:
        run_id = await ask(own_wire, deadline_s=100.0)
        await until(lambda: run_id in janitor.open)
        await own_wire.journal.write(finished(run_id), RunFinished(settled=Settled(outcome="answered")))
        await until(lambda: run_id not in janitor.open)
        late = await ask(own_wire, deadline_s=0.01)
        await ended(own_wire, late)
    assert (await ended(own_wire, run_id)).outcome == "answered"


async def test_several_janitors_end_a_run_once(own_settings: BusSettings, own_wire: Wire) -> None:
    async with watching(own_wire, own_settings), watching(own_wire, own_settings):
        runs = [await ask(own_wire, deadline_s=0.01) for _ in range(10)]
        for run_id in runs:
            await ended(own_wire, run_id)
    for run_id in runs:
        assert [r.key.type for r in await own_wire.journal.run(run_id)] == ["question_asked", "run_finished"]


async def test_too_many_deliveries_end_the_run(own_settings: BusSettings, own_wire: Wire) -> None:
    calls = 0

    @actor(retries=0)
    async def intake(message: QuestionAsked) -> QuestionReady:
        nonlocal calls
        calls += 1
        raise Unavailable("never")

    @actor()
    async def end(message: QuestionReady) -> RunFinished: ...  # type: ignore[empty-body]

    few = msgspec.structs.replace(own_settings, max_deliver=2)
    async with watching(own_wire, few), working(few, intake, end):
        run_id = await ask(own_wire, question="How long?")
        settled = await ended(own_wire, run_id)
        assert b'{"type":"DONE"}' in await closed(own_wire, run_id)
    assert (settled.outcome, settled.question) == ("failed", "How long?")
    assert settled.detail == "intake gave up after 2 tries"
    assert calls == 2
    assert done.name == "done"
