"""The power `ask` from both ends over a real nats-server: deltas, silence, refusals, cancellation, deadline."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import ClassVar

import msgspec
import pytest

from bus.journal.records import AskRecord
from bus.powers import asking
from bus.powers.asker import Asker, digest
from bus.powers.asking import Answer, AskClient, AskRequest, AskServer, Piece, Whole
from bus.transport.connection import Msg
from bus.wire.errors import BadReply, Busy, Failure, NoReply, Unavailable
from bus.wire.subjects import ASK
from prompts.vocabulary import Priority
from tests.bus.wires import Opener, Wire
from tests.polling import until

TEXT = "Refunds are paid within 14 days [1]."


class Greeting(msgspec.Struct, frozen=True):
    words: str


class Greet(msgspec.Struct, frozen=True):
    name: ClassVar[str] = "greet"
    who: str = "world"

    @classmethod
    def reply_type(cls) -> type[Greeting]:
        return Greeting


class Prose(Greet, frozen=True):
    @classmethod
    def reply_type(cls) -> type[str]:  # type: ignore[override]
        return str


def asker(
    wire: Wire, *, deadline_s: float = 60.0, allowed: tuple[str, ...] = (), priority: Priority = "judge"
) -> Asker:
    answer = AskClient(wire.client)
    return Asker(answer, "run1", "greeter", time.time() + deadline_s, priority, allowed, "library")


@contextlib.asynccontextmanager
async def device(wire: Wire, answer: Answer) -> AsyncIterator[AskServer]:
    server = AskServer(wire.client, answer)
    close = await server.start()
    await wire.client.flush()
    try:
        yield server
    finally:
        await close()


async def says_words(ask: AskRequest) -> AsyncIterator[str | AskRecord]:
    """The rest of TEXT, a word a delta, then the whole."""
    rest = TEXT.removeprefix(ask.already_shown)
    for word in rest.split(" ") if rest else []:
        yield word if word == rest.split(" ")[0] else f" {word}"
    yield AskRecord(prompt=ask.prompt, variables="", text=TEXT, tokens_out=6)


async def says_json(ask: AskRequest) -> AsyncIterator[str | AskRecord]:
    who = msgspec.json.decode(ask.variables, type=Greet).who
    yield AskRecord(prompt=ask.prompt, variables="", text=f'{{"words":"hello {who}"}}')


def fails(failure: Failure) -> Answer:
    async def answer(ask: AskRequest) -> AsyncIterator[str | AskRecord]:
        raise failure
        yield ""

    return answer


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "SILENCE_S", 1.0)
    monkeypatch.setattr(asking, "ALIVE_S", 0.1)


# ---------------------------------------------------------------- replies


async def test_valid_reply_is_parsed_and_recorded(wire: Wire) -> None:
    ask = asker(wire)
    async with device(wire, says_json):
        assert await ask(Greet(who="세계")) == Greeting("hello 세계")
    (record,) = ask.records
    assert (record.prompt, record.text, record.failure) == ("greet", '{"words":"hello 세계"}', "")
    assert record.variables == digest(msgspec.json.encode(Greet(who="세계")))


async def test_a_prose_reply_is_its_text(wire: Wire) -> None:
    async with device(wire, says_words):
        assert await asker(wire)(Prose()) == TEXT


async def test_many_prompts_are_answered_in_order(wire: Wire) -> None:
    ask, waiting, all_here = asker(wire), 0, asyncio.Event()

    async def together(request: AskRequest) -> AsyncIterator[str | AskRecord]:
        nonlocal waiting
        waiting += 1
        if waiting == 5:
            all_here.set()
        await all_here.wait()
        async for part in says_json(request):
            yield part

    async with device(wire, together):
        replies = await asyncio.gather(*(ask(Greet(who=str(n))) for n in range(5)))
    assert [reply.words for reply in replies] == [f"hello {n}" for n in range(5)]
    assert [record.text for record in ask.records] == [f'{{"words":"hello {n}"}}' for n in range(5)]


async def test_deltas_arrive_as_they_are_made(wire: Wire) -> None:
    step = asyncio.Event()

    async def slowly(ask: AskRequest) -> AsyncIterator[str | AskRecord]:
        yield "Refunds"
        await step.wait()
        yield " are paid"
        yield AskRecord(prompt="greet", variables="", text="Refunds are paid")

    ask = asker(wire)
    async with device(wire, slowly):
        stream = ask.stream(Prose())
        assert await anext(stream) == "Refunds"
        step.set()
        assert [piece async for piece in stream] == [" are paid"]
    assert ask.records[0].text == "Refunds are paid"


async def test_whole_reply_completes_missing_deltas(wire: Wire) -> None:
    async def short(ask: AskRequest) -> AsyncIterator[str | AskRecord]:
        yield "Refunds"
        yield AskRecord(prompt="greet", variables="", text="Refunds are paid")

    async with device(wire, short):
        assert [piece async for piece in asker(wire).stream(Prose())] == ["Refunds", " are paid"]


async def test_lost_delta_is_requested_again(wire: Wire) -> None:
    told: list[str] = []

    async def lossy(msg: Msg) -> None:
        """A device that loses its second delta, the first time."""
        told.append(shown := msgspec.json.decode(msg.data, type=AskRequest).already_shown)
        whole = Whole(record=AskRecord(prompt="greet", variables="", text=TEXT))
        frames = [Piece(text=TEXT[7:], at=0)] if shown else [Piece(text=TEXT[:7], at=0), Piece(text=TEXT[20:], at=20)]
        for frame in (*frames, whole):
            await wire.client.publish(msg.reply, msgspec.json.encode(frame))

    subscription = await wire.client.subscribe(ASK, cb=lossy)
    assert [piece async for piece in asker(wire).stream(Prose())] == ["Refunds", TEXT[7:]]
    assert told == ["", "Refunds"]
    await subscription.unsubscribe()


async def test_request_names_caller_and_priority(wire: Wire) -> None:
    heard: list[AskRequest] = []

    async def listen(ask: AskRequest) -> AsyncIterator[str | AskRecord]:
        heard.append(ask)
        yield AskRecord(prompt=ask.prompt, variables="", text="x")

    ask = asker(wire, priority="answer")
    async with device(wire, listen):
        assert [p async for p in ask.stream(Prose(), already_shown="")] == ["x"]
        await ask(Prose())
    first, second = heard
    assert (first.run_id, first.actor, first.priority, first.profile) == ("run1", "greeter", "answer", "library")
    assert first.deadline == pytest.approx(ask.deadline)
    assert (first.pieces, second.pieces) == (True, False)


# ---------------------------------------------------------------- failures


@pytest.mark.parametrize("failure", [NoReply("too late"), BadReply("no JSON"), Unavailable("no model is loaded")])
async def test_refusal_keeps_its_failure_class(wire: Wire, failure: Failure) -> None:
    ask = asker(wire)
    async with device(wire, fails(failure)):
        with pytest.raises(type(failure), match=str(failure)):
            await ask(Greet())
        with pytest.raises(type(failure)):
            [piece async for piece in ask.stream(Prose())]
    assert [record.failure for record in ask.records] == [str(failure)] * 2


@pytest.mark.usefixtures("impatient")
async def test_a_busy_device_is_asked_again(wire: Wire) -> None:
    calls = 0

    async def busy_once(ask: AskRequest) -> AsyncIterator[str | AskRecord]:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise Busy("the queue is full")
        async for part in says_json(ask):
            yield part

    async with device(wire, busy_once):
        assert await asker(wire)(Greet()) == Greeting("hello world")
    assert calls == 2


async def test_busy_device_is_no_reply_at_the_deadline(wire: Wire) -> None:
    async with device(wire, fails(Busy("the queue is full"))):
        with pytest.raises(NoReply, match="the queue is full"):
            await asker(wire, deadline_s=2.0)(Greet())


@pytest.mark.parametrize("text", ["", "not json", '{"word":"x"}', '{"words":1}', '{"words":"x"'])
async def test_reply_outside_its_schema_is_bad(wire: Wire, text: str) -> None:
    async def answer(ask: AskRequest) -> AsyncIterator[str | AskRecord]:
        yield AskRecord(prompt=ask.prompt, variables="", text=text)

    async with device(wire, answer):
        with pytest.raises(BadReply, match="greet: the reply is not in the prompt's schema"):
            await asker(wire)(Greet())


async def test_engine_bug_is_reported_at_once(wire: Wire) -> None:
    async def broken(ask: AskRequest) -> AsyncIterator[str | AskRecord]:
        raise ZeroDivisionError
        yield ""

    async with device(wire, broken) as server:
        with pytest.raises(Unavailable, match="the engine broke"):
            await asker(wire)(Greet())
    assert [type(bug) for bug in server.bugs] == [ZeroDivisionError]


async def test_undeclared_prompt_is_a_bug(wire: Wire) -> None:
    with pytest.raises(TypeError, match="greeter asks greet but declares only verify_answer"):
        await asker(wire, allowed=("verify_answer",))(Greet())


@pytest.mark.usefixtures("impatient")
async def test_missing_device_is_no_reply_at_the_deadline(wire: Wire) -> None:
    ask = asker(wire, deadline_s=2.0)
    with pytest.raises(NoReply, match="groundwire up"):
        await ask(Greet())
    assert "before" not in ask.records[0].text
    assert ask.records[0].failure


async def test_late_inference_process_is_used(wire: Wire) -> None:
    asked = asyncio.create_task(asker(wire)(Greet()))
    await wire.client.flush()
    async with device(wire, says_json):
        assert await asked == Greeting("hello world")


@pytest.mark.usefixtures("impatient")
async def test_working_device_is_no_reply_at_the_deadline(wire: Wire) -> None:
    stopped = asyncio.Event()
    async with device(wire, works_until_cancelled(stopped)):
        with pytest.raises(NoReply, match="deadline"):
            await asker(wire, deadline_s=2.0)(Greet())
        await asyncio.wait_for(stopped.wait(), 60)


def works_until_cancelled(stopped: asyncio.Event, *words: str) -> Answer:
    async def answer(ask: AskRequest) -> AsyncIterator[str | AskRecord]:
        try:
            for word in words:
                yield word
            await asyncio.Event().wait()
        finally:
            stopped.set()

    return answer


@pytest.mark.usefixtures("impatient")
async def test_work_longer_than_the_silence_is_awaited(wire: Wire) -> None:
    """The device signals that it is alive: only silence counts, not slowness."""
    calls = 0

    async def slow(ask: AskRequest) -> AsyncIterator[str | AskRecord]:
        nonlocal calls
        calls += 1
        began = time.monotonic()
        await until(lambda: time.monotonic() - began > 2 * asking.SILENCE_S)
        yield AskRecord(prompt=ask.prompt, variables="", text='{"words":"at last"}')

    async with device(wire, slow):
        assert await asker(wire)(Greet()) == Greeting("at last")
    assert calls == 1


# ---------------------------------------------------------------- silence in mid-answer


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("said", [0, 1, 3, 6])
async def test_dead_device_is_retried_without_repetition(wire: Wire, another_wire: Opener, said: int) -> None:
    dying, next_one = await another_wire(), await another_wire()
    words = TEXT.replace(" ", "\x00 ").split("\x00")[:said]
    spoke, stopped = asyncio.Event(), asyncio.Event()
    shown: list[str] = []

    async def read() -> None:
        if not said:
            spoke.set()
        async for piece in ask.stream(Prose()):
            shown.append(piece)
            if "".join(shown) == "".join(words):
                spoke.set()

    ask = asker(wire)
    async with device(dying, works_until_cancelled(stopped, *words)):
        reading = asyncio.create_task(read())
        await spoke.wait()
        await dying.client.close()  # its process is gone: neither a word nor a sign of life
    async with device(next_one, says_words):
        await asyncio.wait_for(reading, 60)
    assert "".join(shown) == TEXT
    assert ask.records[0].text == TEXT
    assert len(ask.records) == 1


@pytest.mark.usefixtures("impatient")
async def test_resumed_answer_continues_after_the_shown_text(wire: Wire) -> None:
    async with device(wire, says_words):
        pieces = [piece async for piece in asker(wire).stream(Prose(), already_shown="Refunds are")]
    assert "".join(pieces) == TEXT.removeprefix("Refunds are")


# ---------------------------------------------------------------- no caller waits any more


async def cancel_the_call(wire: Wire, begun: Callable[[], bool]) -> None:
    task = asyncio.create_task(asker(wire)(Greet()))
    await until(begun)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def leave_the_stream(wire: Wire, begun: Callable[[], bool]) -> None:
    stream = asker(wire).stream(Prose())
    assert await anext(stream) == "word"
    await stream.aclose()  # type: ignore[attr-defined]


@pytest.mark.parametrize("leave", [cancel_the_call, leave_the_stream])
async def test_leaving_frees_the_device_at_once(wire: Wire, leave: Callable[..., object]) -> None:
    stopped = asyncio.Event()
    async with device(wire, works_until_cancelled(stopped, "word")) as server:
        await leave(wire, lambda: bool(server._tasks))  # type: ignore[misc]
        await asyncio.wait_for(stopped.wait(), 60)
        await until(lambda: not server._tasks)


async def test_closing_the_device_ends_requests_in_flight(wire: Wire) -> None:
    stopped = asyncio.Event()
    async with device(wire, works_until_cancelled(stopped)) as server:
        task = asyncio.create_task(asker(wire)(Greet()))
        await until(lambda: bool(server._tasks))
    assert stopped.is_set()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_unreadable_prompt_request_is_refused(wire: Wire) -> None:
    async with device(wire, says_json):
        msg = await wire.client.request(asking.ASK, b"nonsense", timeout=60)
    assert msgspec.json.decode(msg.data)["kind"] == "bad_reply"


async def test_two_devices_share_the_asks(wire: Wire, another_wire: Opener) -> None:
    served: list[str] = []

    def named(name: str) -> Answer:
        async def answer(ask: AskRequest) -> AsyncIterator[str | AskRecord]:
            served.append(name)
            async for part in says_json(ask):
                yield part

        return answer

    async with device(await another_wire(), named("one")), device(await another_wire(), named("two")):
        ask = asker(wire)
        await asyncio.gather(*(ask(Greet(who=str(n))) for n in range(40)))
    assert len(served) == 40
    assert set(served) == {"one", "two"}
