"""Runs on a real nats-server: every event once and in order, for readers that come at any time, across server failures."""

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Sequence

import pytest

from bus.journal.access import Access
from bus.journal.records import AskRecord, Record, Stage
from bus.powers.events import Done, Emitter, Event, Passages, References, StageEvent, Superseded, TokensEnd
from bus.runs.router import AHEAD, WAITING_BYTES, WAITING_FRAMES, Reader, TooSlow
from bus.runs.runs import EventsGone, KeyReused, NoSuchRun, Runs
from bus.transport.connection import declare_streams
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from bus.wire.messages import AnswerDrafted, QuestionAsked, RunFinished
from bus.wire.parts import Sentence
from bus.wire.settled import Settled, WithheldSentence
from bus.wire.subjects import EVENTS, BadId, Key, finished, key_of
from tests.bus.wires import Server, serving, wired
from tests.message_samples import question
from tests.polling import until

ASKED = QuestionAsked(question="환불은 며칠 안에?")


@pytest.fixture(scope="module")
async def runs(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runs]:
    """On a separate server: no worker may process these questions."""
    with serving(tmp_path_factory.mktemp("runs")) as server:
        async with started(BusSettings(url=server.url)) as made:
            yield made


@contextlib.asynccontextmanager
async def started(settings: BusSettings, **options: float) -> AsyncIterator[Runs]:
    async with wired(settings) as wire:
        runs = Runs(wire.journal, **options)
        await runs.start()
        yield runs
        await runs.stop()


async def test_router_follows_the_stream_within_its_limit(runs: Runs) -> None:
    """With filters a server looks up each message of a reader that lags behind, at ten times the cost."""
    consumers = await until(lambda: runs.journal.js.consumers_info(EVENTS), what="the router's consumer")
    assert {(each.config.filter_subject, each.config.filter_subjects is None) for each in consumers} == {(None, True)}
    assert AHEAD + AHEAD // 4 < WAITING_FRAMES


async def finish(runs: Runs, run_id: str, emitter: Emitter) -> None:
    settled = Settled(outcome="answered", question=ASKED.question)
    await runs.journal.write(finished(run_id), RunFinished(settled=settled))
    await emitter.events(TokensEnd(), Done())


async def drain(reader: Reader) -> None:
    while await reader.batch():
        pass


async def collect(runs: Runs, run_id: str, after: int = 0) -> list[tuple[int, bytes]]:
    return [event async for event in runs.events(run_id) if event[0] > after]


async def test_readers_at_any_time_read_the_same(runs: Runs) -> None:
    """Readers join before, between and after sixty frames of two subjects; the seam between stream and live must not show."""
    run_id = (await runs.submit(ASKED)).run_id
    emitter = Emitter(runs.journal, run_id, everything=True)
    readers = [asyncio.create_task(collect(runs, run_id))]
    for n in range(30):
        await emitter.aside(StageEvent(stage="retrieve", lane=f"sq_{n}", status="start"))
        await emitter.tokens([f"a{n}", f" b{n}"])
        readers.append(asyncio.create_task(collect(runs, run_id, after=n)))
    await finish(runs, run_id, emitter)
    readers.append(asyncio.create_task(collect(runs, run_id)))
    whole, *others = await asyncio.gather(*readers)
    assert [number for number, _ in whole] == list(range(1, 30 * 3 + 3))
    assert whole[-1][1] == b'{"type":"DONE"}'
    tokens = [event for _, event in whole if b'"in_progress"' in event]
    assert [b'"index":%d}' % n in event for n, event in enumerate(tokens, 1)] == [True] * 60
    for n, other in enumerate(others[:-1]):
        assert other == whole[n:]
    assert others[-1] == whole
    assert runs.router.readers == 0


async def test_slow_reader_is_dropped_and_resumes(runs: Runs) -> None:
    submitted, reader = await runs.submit_and_read(ASKED)
    emitter = Emitter(runs.journal, submitted.run_id)
    await emitter.tokens(["a"])
    first = await reader.batch()
    for _ in range(WAITING_FRAMES + 1):
        reader.put(b"{}")
    with pytest.raises(TooSlow):
        await reader.batch()
    assert runs.router.readers == 0
    await finish(runs, submitted.run_id, emitter)
    rest = await collect(runs, submitted.run_id, after=first[-1][0])
    assert [number for number, _ in rest] == [2, 3]


async def test_large_frames_drop_a_reader_sooner(runs: Runs) -> None:
    with runs.router.reader("large") as reader:
        for _ in range(WAITING_BYTES // 500_000 + 1):
            reader.put(b"x" * 500_000)
        with pytest.raises(TooSlow):
            await reader.batch()


async def test_readers_end_with_the_router(runs: Runs) -> None:
    other = Runs(runs.journal)
    await other.start()
    submitted, reader = await other.submit_and_read(ASKED)
    await Emitter(runs.journal, submitted.run_id).tokens(["a"])
    assert len(await reader.batch()) == 1
    await other.stop()
    for late in (reader, await other.read(submitted.run_id)):
        with pytest.raises(Unavailable, match="read on from the last event"):
            await drain(late)


async def test_an_idempotency_key_is_one_run(runs: Runs) -> None:
    asked = QuestionAsked(question="once", idempotency_key="key-1")
    first, again = await runs.submit(asked), await runs.submit(asked)
    assert (first.run_id, first.created, again.run_id, again.created) == (
        runs.run_id_for(asked),
        True,
        first.run_id,
        False,
    )
    delivered_otherwise = QuestionAsked(question="once", idempotency_key="key-1", events="all", deadline_s=9.0)
    assert not (await runs.submit(delivered_otherwise)).created
    for other in ({"question": "twice"}, {"question": "once", "profile": "library"}):
        with pytest.raises(KeyReused):
            await runs.submit(QuestionAsked(**other, idempotency_key="key-1"))
    assert runs.run_id_for(ASKED) != runs.run_id_for(ASKED)
    askers = (
        None,
        Access(key="ann"),
        Access(key="eve"),
        Access(key="ann", groups=()),
        Access(key="ann", groups=("sales",)),
    )
    assert len({runs.run_id_for(asked, access) for access in askers}) == len(askers)
    there, back = Access(key="ann", groups=("sales", "hr")), Access(key="ann", groups=("hr", "sales"))
    assert runs.run_id_for(asked, there) == runs.run_id_for(asked, back)


async def test_cancel_ends_a_run_once(runs: Runs) -> None:
    run_id = (await runs.submit(ASKED)).run_id
    told = await runs.client.subscribe(f"gw.cancel.{run_id}")
    assert await runs.cancel(run_id)
    assert not await runs.cancel(run_id)
    await told.next_msg(timeout=60)
    record = await runs.record(run_id)
    assert record is not None
    assert (record.status, record.outcome, record.question) == ("finished", "cancelled", ASKED.question)
    await told.unsubscribe()


async def test_missing_run_and_bad_id_are_refused(runs: Runs) -> None:
    assert await runs.record("nobody") is None
    for call in (runs.cancel("nobody"), collect(runs, "nobody")):
        with pytest.raises(NoSuchRun):
            await call
    for bad in ("a.b", "*", ">", "a b", "", "a/b", "x" * 65, "a\n"):
        for call in (runs.record(bad), runs.cancel(bad), collect(runs, bad)):
            with pytest.raises(BadId):
                await call


async def test_lagging_server_does_not_deny_a_run(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    submitted = await runs.submit(QuestionAsked(question="Is it there?"))

    async def nothing(filters: object, behind: object = None) -> list[Record]:
        return []

    monkeypatch.setattr(runs.journal, "latest", nothing)
    with pytest.raises(Unavailable, match="lags behind the others of its cluster; ask again"):
        await runs.access(submitted.run_id)
    for call in (runs.record(submitted.run_id), runs.cancel(submitted.run_id), runs.read(submitted.run_id)):
        with pytest.raises(Unavailable, match="lags behind"):
            await call
    assert await runs.access("never-asked") is None


async def test_concurrent_question_is_visible(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    submitted = await runs.submit(QuestionAsked(question="Is it there yet?"))
    whole, looks = runs.journal.latest, 0

    async def late(filters: Sequence[str], behind: tuple[str, int] | None = None) -> list[Record]:
        nonlocal looks
        looks += 1
        return await whole(filters, behind=behind) if looks > 1 else []

    monkeypatch.setattr(runs.journal, "latest", late)
    record = await runs.record(submitted.run_id)
    assert record is not None
    assert record.question == "Is it there yet?"
    assert looks == 2


async def test_run_with_expired_events_has_its_record(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = (await runs.submit(ASKED)).run_id
    await runs.cancel(run_id)
    monkeypatch.setattr("bus.runs.runs.EVENTS_LATE_S", 0.0)
    with pytest.raises(EventsGone):
        await runs.read(run_id)
    assert await runs.record(run_id) is not None


async def test_record_is_built_from_the_journal(runs: Runs) -> None:
    run_id = (await runs.submit(ASKED)).run_id
    running = await runs.record(run_id)
    assert running is not None
    assert (running.status, running.outcome, running.stages) == ("running", None, ())
    sentences = tuple(Sentence(text=text) for text in ("a. ", "b. ", "c. ", "d."))
    drafted = AnswerDrafted(
        question=question(language="ko"),
        evidence=(),
        conflicts=(),
        sentences=sentences,
        style="simple",
        snapshot="s1",
    )
    ask = AskRecord(
        prompt="answer_simple",
        variables="v",
        text="t",
        version="p1",
        engine="mlx",
        model="m",
        tokens_in=30,
        tokens_out=12,
    )
    stage = Stage(actor="answer_simple", took_s=0.2, asks=(ask, ask), first_shown_at=running.asked_at + 0.05)
    await runs.journal.write(key_of(AnswerDrafted, run_id), drafted, stage=stage)
    withheld = (WithheldSentence(text="b. ", flags=()),)
    settled = Settled(outcome="answered", answer="a. c. d.", withheld=withheld, confidence="high", re_gate="clean")
    await runs.journal.write(
        finished(run_id), RunFinished(settled=settled), stage=Stage(actor="stream_answer", took_s=0.001)
    )
    record = await runs.record(run_id)
    assert record is not None
    assert (record.status, record.outcome, record.answer, record.language) == ("finished", "answered", "a. c. d.", "ko")
    assert (record.tokens_in, record.tokens_out, record.model) == (60, 24, "mlx:m")
    assert record.prompt_versions == {"answer_simple": "p1"}
    assert record.withheld_share == 0.25
    assert record.first_shown_s == pytest.approx(0.05, abs=1e-3)
    assert [(s.stage, s.lane, s.took_s, s.tokens_out) for s in record.stages] == [
        ("answer_simple", "main", 0.2, 24),
        ("stream_answer", "main", 0.001, 0),
    ]
    assert record.took_s is not None


async def test_unreadable_question_has_a_record(runs: Runs) -> None:
    await runs.journal.publish("gw.question_asked.garbled", b"\xff{")
    await runs.journal.publish(Key("poison", "garbled", "question_asked-main").subject, b"\xff{\n\xff")
    await runs.journal.write(finished("garbled"), RunFinished(settled=Settled(outcome="failed", detail="unreadable")))
    record = await runs.record("garbled")
    assert record is not None
    assert (record.outcome, record.detail, record.question) == ("failed", "unreadable", "")


async def test_events_survive_the_server(server: Server) -> None:
    """SIGKILL between the tokens, twice; a steady reader and a later one have every token once."""
    async with started(BusSettings(url=server.url)) as runs:
        run_id = (await runs.submit(ASKED)).run_id
        steady = asyncio.create_task(collect(runs, run_id))
        emitter = Emitter(runs.journal, run_id)
        for n in range(60):
            if n in (20, 40):
                server.kill()
                server.start()
            await emitter.tokens([f"w{n} "])
        await finish(runs, run_id, emitter)
        whole = await asyncio.wait_for(steady, 60)
        assert [number for number, _ in whole] == list(range(1, 63))
        assert [event.split(b'"')[7] for _, event in whole[:-2]] == [b"w%d " % n for n in range(60)]
        assert await collect(runs, run_id) == whole


async def test_recreated_stream_needs_no_restart(own_settings: BusSettings) -> None:
    async with started(own_settings) as runs:
        run_id = (await runs.submit(ASKED)).run_id
        emitter = Emitter(runs.journal, run_id)
        await emitter.tokens(["before "])
        with await runs.read(run_id) as reader:
            assert len(await reader.batch()) == 1
            await runs.journal.js.delete_stream(EVENTS)
            await declare_streams(runs.journal.js, own_settings)
            with pytest.raises(Unavailable, match="the events were lost"):
                await reader.batch()
        with pytest.raises(Superseded):  # what it would go on from is gone
            await emitter.tokens(["and "])
        again = Emitter(runs.journal, run_id)
        steady = asyncio.create_task(collect(runs, run_id))
        await again.tokens(["after "])
        await finish(runs, run_id, again)
        whole = await steady
        assert [number for number, _ in whole] == [1, 2, 3]
        assert await collect(runs, run_id) == whole


async def test_unreachable_server_is_reported(server: Server) -> None:
    async with started(BusSettings(url=server.url), patience_s=0.3) as runs:
        server.kill()
        with pytest.raises(Unavailable, match=r"nats-server|journal"):
            await runs.submit(ASKED)


async def test_full_journal_is_reported(server: Server) -> None:
    long = QuestionAsked(question="x" * 4000)
    async with started(BusSettings(url=server.url, runs_max_bytes=20_000)) as runs:
        accepted = [(await runs.submit(long)).run_id for _ in range(4)]
        with pytest.raises(Unavailable, match=r"the journal has no room.*free disk space"):
            await runs.submit(long)
        assert not (await runs.submit(long, accepted[0])).created  # an existing key, not a full journal


@pytest.mark.parametrize(
    ("event", "a_sign"), [(References(items=()), True), (Passages(items=()), False)], ids=["references", "passages"]
)
async def test_only_an_answer_counts_as_ready(runs: Runs, event: Event, a_sign: bool) -> None:
    """The closest passages are found without a model too."""
    runs.router.answered_at = -math.inf
    submitted = await runs.submit(ASKED)
    emitter = Emitter(runs.journal, submitted.run_id)
    await emitter.events(TokensEnd(), event, Done())
    assert len([line async for _, line in runs.events(submitted.run_id)]) == 3
    assert (runs.router.answered_at > -math.inf) == a_sign
