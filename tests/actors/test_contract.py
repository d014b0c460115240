"""The contract of every actor: declared types only, an answer for every failure, no memory, and cancellation passes through."""

import asyncio
from typing import Any, cast

import msgspec
import pytest

from actors.answering.styles import STYLES
from actors.pipeline import ACTORS, STAGES
from bus.delivery.actor import Actor
from bus.journal.records import decode, encode
from bus.powers.protocols import Ask, Powers, Search
from bus.wire.errors import BadReply, Failure, NoReply, OverQuota, Unavailable
from bus.wire.messages import AnswerRequested, AnswerSettled, Message, PassagesJudged, message_type, stage_name
from bus.wire.parts import Question
from index.languages import LANGUAGES
from prompts.contracts import PROMPTS
from tests.actors.scripted_powers import Failing, Hanging, Hits, Screen, ScriptedAsk
from tests.message_samples import SAMPLES, passage

FAILURES = [NoReply("silent"), BadReply("no JSON"), OverQuota("no tokens left"), Unavailable("not there")]
FAILING = [a for a in ACTORS if {"ask", "search"} & set(a.powers)]


def given(actor: Actor, style: str = "", **changes: object) -> Any:
    """The sample that an actor takes, in that style, or the lanes of it; `changes` to its question."""
    message = SAMPLES[actor.takes]
    if style:
        message = msgspec.structs.replace(message, style=style)
    asked = getattr(message, "question", None)
    if changes and isinstance(asked, Question):
        message = msgspec.structs.replace(message, question=msgspec.structs.replace(asked, **changes))
    if actor.joins:
        first = cast(PassagesJudged, message)
        return tuple(
            msgspec.structs.replace(first, sub_query=q, plan=(first.sub_query, *first.plan[1:])) for q in first.plan
        )
    return message


#: Every actor, the answering one once for each style.
CALLS = [(actor, style) for actor in ACTORS for style in (STYLES if actor.takes is AnswerRequested else ("",))]
each_call = pytest.mark.parametrize(("actor", "style"), CALLS, ids=lambda part: getattr(part, "name", part))


def powers(*, ask: Ask | None = None, search: Search | None = None) -> Powers:
    return Powers(ask or ScriptedAsk(), search or Hits((passage(),)), Screen())


def results(result: object) -> tuple[object, ...]:
    return result if isinstance(result, tuple) else () if result is None else (result,)


def check_declared(actor: Actor, result: object) -> None:
    found = results(result)
    assert isinstance(result, tuple) <= actor.fans_out
    assert bool(found) == bool(actor.gives)
    for each in found:
        assert isinstance(each, Message)
        assert type(each) in actor.gives
        assert decode(message_type(type(each)), encode(each)) == each


@pytest.mark.parametrize("language", LANGUAGES)
@each_call
async def test_actor_returns_only_its_declared_types(actor: Actor, style: str, language: str) -> None:
    check_declared(actor, await actor.run(given(actor, style, language=language), powers()))


@pytest.mark.parametrize("actor", ACTORS, ids=lambda a: a.name)
async def test_same_message_gives_the_same_answer(actor: Actor) -> None:
    """And it is not changed."""
    message = given(actor)
    before = msgspec.json.encode(message)
    first, second = [await actor.run(message, powers()) for _ in range(2)]
    assert first == second
    assert msgspec.json.encode(message) == before


@pytest.mark.parametrize("failure", FAILURES, ids=lambda f: type(f).__name__)
@pytest.mark.parametrize("actor", FAILING, ids=lambda a: a.name)
async def test_failure_is_answered_by_the_fallback(actor: Actor, failure: Failure) -> None:
    """The powers fail; what the actor does not answer by itself, its fallback does, with a declared type."""
    body = Failing(failure)
    try:
        result = await actor.run(given(actor), powers(ask=body, search=body))
    except Failure as raised:
        assert actor.fallback is not None
        result = actor.fallback(given(actor), raised)
    check_declared(actor, result)


@pytest.mark.parametrize("failure", FAILURES, ids=lambda f: type(f).__name__)
@pytest.mark.parametrize("actor", [a for a in ACTORS if a.priority == "answer"], ids=lambda a: a.name)
def test_without_a_model_there_is_no_answer(actor: Actor, failure: Failure) -> None:
    assert actor.fallback is not None
    settled = cast(AnswerSettled, actor.fallback(given(actor), failure)).settled
    assert settled.outcome == "failed"
    assert settled.reason == failure.reason
    assert settled.answer == ""


@pytest.mark.parametrize("actor", FAILING, ids=lambda a: a.name)
async def test_cancellation_passes_through(actor: Actor) -> None:
    body = Hanging()
    task = asyncio.ensure_future(actor.run(given(actor), powers(ask=body, search=body)))
    waiting = asyncio.ensure_future(body.begun.wait())
    await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not [left for left in asyncio.all_tasks() if "CheckedStream" in repr(left)]


class Bug(Exception):
    pass


@pytest.mark.parametrize("actor", FAILING, ids=lambda a: a.name)
async def test_a_bug_is_nobodys_failure(actor: Actor) -> None:
    class Buggy(Failing):
        def __init__(self) -> None:
            self.failure = cast(Failure, Bug("a bug"))

    with pytest.raises(Bug):
        await actor.run(given(actor), powers(ask=Buggy(), search=Buggy()))


@each_call
async def test_actor_asks_only_its_declared_prompts(actor: Actor, style: str) -> None:
    ask = ScriptedAsk()
    for release in ("sentence", "draft", "token"):
        await actor.run(given(actor, style, release=release), powers(ask=ask))
    prompts = {type(asked).name for asked in ask.asked}
    assert prompts <= set(actor.prompts) <= {prompt.name for prompt in PROMPTS}
    assert "ask" not in actor.powers or stage_name(actor.name, given(actor, style)) in actor.prompts


@pytest.mark.parametrize("actor", ACTORS, ids=lambda a: a.name)
def test_exactly_failing_actors_have_a_fallback(actor: Actor) -> None:
    assert (actor.fallback is not None) == (actor in FAILING)


def test_every_prompt_has_an_actor_of_its_name() -> None:
    assert {prompt.name for prompt in PROMPTS} <= {*STAGES}
