"""One writer per run's stream: its events appear in order, once; a second writer is refused, and nothing follows DONE."""

import secrets

import msgspec
import pytest
from groundwire.wire import Reference
from hypothesis import example, given
from hypothesis import strategies as st

from bus.journal.journal import EventFrame, Journal
from bus.powers.events import (
    DONE_LINE,
    EVENT_TYPES,
    Done,
    Emitter,
    Error,
    Event,
    References,
    StageEvent,
    Superseded,
    Token,
    TokensEnd,
    decode_event,
    shown_text,
    tokens_of,
)
from bus.wire.errors import Unavailable
from bus.wire.settled import UnverifiedSentence
from bus.wire.subjects import EVENTS
from tests.bus.wires import Wire


@pytest.fixture
def run_id() -> str:
    return secrets.token_hex(6)


async def lines(wire: Wire, run_id: str) -> list[bytes]:
    return [line for frame in await wire.journal.frames(run_id) for line in frame.data.split(b"\n")]


# ---------------------------------------------------------------- the pieces of a text


@given(st.text())
@example("환불은 14일 안에 [1].")
@example("退款在14天内支付，运费不退。[1]")
@example("تُرَدّ المبالغ خلال ١٤ يومًا.")
@example("«Remboursement» : 14 jours…\n\n- un\n- deux\n")
@example(" \n\t ")
def test_the_pieces_are_the_text(text: str) -> None:
    pieces = tokens_of(text)
    assert "".join(pieces) == text
    assert all(pieces)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        ("환불은 14일 안에", ["환불은", " 14일", " 안에"]),
        ("a  b\n", ["a", "  b", "\n"]),
        ("退款，14天", ["退款", "，14", "天"]),
    ],
)
def test_text_is_split_before_words(text: str, pieces: list[str]) -> None:
    assert tokens_of(text) == pieces


# ---------------------------------------------------------------- the event types

st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))


def test_every_event_type_is_in_the_union() -> None:
    of_runs = [each for each in Event.__subclasses__() if each.__module__ == Event.__module__]
    assert sorted(map(str, EVENT_TYPES)) == sorted(map(str, of_runs))


@given(st.sampled_from(EVENT_TYPES).flatmap(st.from_type))
def test_every_event_round_trips(event: Event) -> None:
    assert decode_event(msgspec.json.encode(event)) == event


# ---------------------------------------------------------------- the stream


async def test_the_default_stream_byte_for_byte(wire: Wire, run_id: str) -> None:
    emit = Emitter(wire.journal, run_id)
    await emit.text("환불은 14일.")
    await emit.tokens(["[1]"])
    await emit.events(TokensEnd())
    await emit.events(
        References(items=(Reference(source_id="환불.md", title="환불", url="", score=0.5, n=(1,)),)),
        Done(),
    )
    assert await lines(wire, run_id) == [
        '{"type":"token","content":"환불은","status":"in_progress","index":1}'.encode(),
        '{"type":"token","content":" 14일.","status":"in_progress","index":2}'.encode(),
        b'{"type":"token","content":"[1]","status":"in_progress","index":3}',
        b'{"type":"token","content":"","status":"end"}',
        '{"type":"references","items":[{"source_id":"환불.md","title":"환불","url":"","score":0.5,"n":[1]}],"status":"end"}'.encode(),
        DONE_LINE,
    ]


async def test_unverified_tokens_are_marked(wire: Wire, run_id: str) -> None:
    emit = Emitter(wire.journal, run_id)
    await emit.tokens(["One", " two.", " Three"], unverified=[(4, 8)])
    await emit.text(" four. Five", unverified=[(-6, 6)])
    await emit.events(TokensEnd(unverified_at=((4, 8), (9, 20))))
    found = await lines(wire, run_id)
    assert [b'"unverified":true' in line for line in found] == [False, True, False, True, False, False]
    assert found[1] == b'{"type":"token","content":" two.","status":"in_progress","index":2,"unverified":true}'
    assert found[-1] == b'{"type":"token","content":"","status":"end","unverified_at":[[4,8],[9,20]]}'
    assert await Emitter(wire.journal, run_id).unverified() == (
        UnverifiedSentence(text=" two.", answer_start=3, answer_end=8),
        UnverifiedSentence(text=" four.", answer_start=14, answer_end=20),
    )


def test_error_has_code_and_text() -> None:
    error = msgspec.json.encode(Error(code="timeout", content="too late"))
    assert error == b'{"type":"error","code":"timeout","content":"too late","status":"end"}'


async def test_next_attempt_continues_the_numbers(wire: Wire, run_id: str) -> None:
    await Emitter(wire.journal, run_id).text("one two")
    second = Emitter(wire.journal, run_id)
    assert await second.shown() == "one two"
    await second.text(" three")
    events = [msgspec.json.decode(line, type=Token) for line in await lines(wire, run_id)]
    assert [(event.index, event.content) for event in events] == [(1, "one"), (2, " two"), (3, " three")]
    assert shown_text(await wire.journal.frames(run_id)) == "one two three"


async def test_progress_counts_events(wire: Wire, run_id: str) -> None:
    emit, reader = Emitter(wire.journal, run_id), Emitter(wire.journal, run_id)
    seen = [await reader.progress()]
    await emit.text("one two")
    seen.append(await reader.progress())
    await emit.events(TokensEnd())
    seen.append(await reader.progress())
    await emit.events(Done())
    seen.append(await reader.progress())
    assert [(at.events, at.tokens, at.phase) for at in seen] == [
        (0, 0, "open"),
        (2, 2, "open"),
        (3, 2, "ended"),
        (4, 2, "closed"),
    ]


async def test_no_token_follows_an_error(wire: Wire, run_id: str) -> None:
    emit = Emitter(wire.journal, run_id)
    await emit.text("one")
    await emit.events(Error(code="withdrawn", content="not so"))
    assert (await emit.progress()).phase == "ended"


async def test_nothing_to_say_writes_nothing(wire: Wire, run_id: str) -> None:
    emit = Emitter(wire.journal, run_id)
    await emit.tokens([])
    await emit.text("")
    await emit.events()
    assert await wire.journal.frames(run_id) == []
    assert emit.first_shown_at == 0.0


# ---------------------------------------------------------------- fencing


async def test_second_of_two_writers_supersedes(wire: Wire, run_id: str) -> None:
    first, second = Emitter(wire.journal, run_id), Emitter(wire.journal, run_id)
    await first.text("mine")
    with pytest.raises(Superseded, match=run_id):
        await second.text("yours")
    await first.text(" still")
    assert await first.shown() == "mine still"


async def test_presumed_dead_writer_is_superseded(wire: Wire, run_id: str) -> None:
    stale = Emitter(wire.journal, run_id)
    await stale.text("one")
    heir = Emitter(wire.journal, run_id)
    await heir.progress()
    await heir.text(" two")
    with pytest.raises(Superseded):
        await stale.text(" TWO")
    assert await heir.shown() == "one two"


async def test_nothing_follows_done(wire: Wire, run_id: str) -> None:
    emit, other = Emitter(wire.journal, run_id), Emitter(wire.journal, run_id)
    await emit.events(TokensEnd(), Done())
    for writer in (emit, other):
        with pytest.raises(Superseded):
            await writer.text("late")
    await other.progress()
    with pytest.raises(Superseded, match="over"):
        await other.events(Done())
    assert (await lines(wire, run_id)).count(DONE_LINE) == 1


async def test_frame_with_a_lost_ack_is_written_once(wire: Wire, run_id: str) -> None:
    lost, again = Emitter(wire.journal, run_id), Emitter(wire.journal, run_id)
    await lost.text("one two")  # as if by `again` with a lost ack
    await again.text("one two")
    await again.text(" three")
    assert len(await wire.journal.frames(run_id)) == 2
    assert await again.shown() == "one two three"


async def test_repeated_words_are_not_a_lost_ack(wire: Wire, run_id: str) -> None:
    first, second = Emitter(wire.journal, run_id), Emitter(wire.journal, run_id)
    await first.tokens(["again"])
    await second.progress()
    await first.tokens(["again"])
    await first.tokens(["again"])
    with pytest.raises(Superseded):
        await second.tokens(["again"])


async def test_frames_missing_on_a_server_are_awaited(wire: Wire, run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    emit = Emitter(wire.journal, run_id)
    for word in ("one", " two", " three"):
        await emit.text(word)
    real, lags = wire.journal._events, 2

    async def behind(subject: str) -> list[EventFrame]:
        nonlocal lags
        lags -= 1
        return (await real(subject))[: 1 if lags >= 0 else None]

    monkeypatch.setattr(wire.journal, "_events", behind)
    monkeypatch.setattr(Journal, "in_cluster", True)
    assert await emit.shown() == "one two three"
    ahead = (await wire.journal.usage(EVENTS)).last + 1
    with pytest.raises(Unavailable, match="lags behind"):
        await wire.journal.frames(run_id, up_to=ahead)


# ---------------------------------------------------------------- what only events=all shows


async def test_progress_events_need_a_request(wire: Wire, run_id: str) -> None:
    for everything in (False, True):
        emit = Emitter(wire.journal, run_id, everything=everything)
        await emit.aside(StageEvent(stage="retrieve", lane="sq_1", status="start"))
        await wire.client.flush()
    frames = await wire.journal.frames(run_id, progress=True)
    assert [frame.data for frame in frames] == [b'{"type":"stage","stage":"retrieve","lane":"sq_1","status":"start"}']
    assert await wire.journal.frames(run_id) == []
