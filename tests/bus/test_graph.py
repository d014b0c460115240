"""Signatures of actors and the pipeline that they make, refused with a hint; lanes are opened together and joined once."""

import asyncio
import functools
import itertools
import re
import sys
from pathlib import Path

import msgspec
import pytest

from actors.pipeline import ACTORS, pipeline
from bus.delivery.actor import Actor, DeclarationError, actor
from bus.delivery.graph import Graph, GraphError
from bus.powers.protocols import Ask, Emit, Search
from bus.transport.settings import BusSettings
from bus.wire.errors import Failure
from bus.wire.messages import (
    CATALOGUE,
    AnswerSettled,
    ComplexQuestionFound,
    Draft,
    FollowUpAsked,
    Message,
    PassagesJudged,
    PassagesReady,
    QueryDecomposed,
    QuestionAsked,
    QuestionReady,
    RunFinished,
    SubQueryPlanned,
)
from bus.wire.subjects import finished
from tests.bus import toys
from tests.bus.toys import (
    answered,
    ask,
    closed,
    judged,
    planned,
    settled_with,
    working,
)
from tests.bus.wires import Wire
from tests.polling import until

GOLDEN = Path(__file__).with_name("golden") / "pipeline.mmd"


@actor()
async def intake(message: QuestionAsked) -> QuestionReady: ...  # type: ignore[empty-body]
@actor()
async def end(message: QuestionReady) -> RunFinished: ...  # type: ignore[empty-body]
@actor()
async def done(message: RunFinished) -> None: ...
@actor()
async def lost(message: PassagesJudged) -> None: ...
@actor()
async def branching(message: QuestionReady) -> RunFinished | AnswerSettled: ...  # type: ignore[empty-body]
@actor()
async def again(message: QuestionReady) -> ComplexQuestionFound | RunFinished: ...  # type: ignore[empty-body]
@actor()
async def back(message: ComplexQuestionFound) -> QuestionReady: ...  # type: ignore[empty-body]
@actor(bound=1)
async def back_once(message: ComplexQuestionFound) -> QuestionReady: ...  # type: ignore[empty-body]
@actor(bound=1)
async def end_once(message: QuestionReady) -> RunFinished: ...  # type: ignore[empty-body]
@actor()
async def island(message: ComplexQuestionFound) -> QueryDecomposed: ...  # type: ignore[empty-body]
@actor()
async def bridge(message: QueryDecomposed) -> ComplexQuestionFound: ...  # type: ignore[empty-body]
@actor()
async def endless(message: QuestionAsked) -> None: ...


SMALLEST = (intake, end, done)


@pytest.mark.parametrize("actors", [SMALLEST, (intake, again, back_once, done)])
def test_what_holds_together_is_accepted(actors: tuple[object, ...]) -> None:
    assert Graph(actors).actors == actors  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("actors", "what", "remedy"),
    [
        ((intake, branching, done), "nobody consumes AnswerSettled", "write an actor that takes it"),
        ((intake, end), "nobody consumes RunFinished", "write an actor that takes it"),
        ((), "nobody consumes QuestionAsked", "write an actor that takes it"),
        ((*SMALLEST, lost), "actor lost is unreachable", "nobody produces PassagesJudged"),
        ((*SMALLEST, island, bridge), "actor bridge is unreachable from QuestionAsked", "wire it or remove it"),
        ((intake, again, back, done), "the loop again -> back has no bound", "declare bound="),
        ((intake, end_once, done), "actor end_once declares bound= but closes no loop", "leave it out"),
        ((*SMALLEST, intake), "two actors are called intake", "rename one"),
        ((endless,), "no actor produces RunFinished", "no run would ever end"),
    ],
)
def test_bad_graph_is_refused_with_a_remedy(actors: tuple[object, ...], what: str, remedy: str) -> None:
    with pytest.raises(GraphError, match=re.escape(what)) as caught:
        Graph(actors)  # type: ignore[arg-type]
    assert remedy in str(caught.value)


def test_real_pipeline_is_valid_and_uses_every_message() -> None:
    graph = pipeline()
    assert graph.actors == ACTORS
    assert {a.takes for a in graph.actors} == set(CATALOGUE)


def test_actor_files_have_their_name_and_purpose() -> None:
    for each in ACTORS:
        assert each.run.__module__ == f"actors.{each.name}"
        assert sys.modules[each.run.__module__].__doc__


def test_the_picture_is_stable() -> None:
    assert pipeline().mermaid() + "\n" == GOLDEN.read_text(encoding="utf-8")


if __name__ == "__main__":  # renew the golden file: PYTHONPATH=. python tests/bus/test_graph.py
    GOLDEN.write_text(pipeline().mermaid() + "\n", encoding="utf-8")


DONE = b'{"type":"DONE"}'


class Lanes:
    """Three lanes that finish on the test's command, joined into the end of the run."""

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


async def stored(wire: Wire, run_id: str, lanes: int) -> bool:
    return len(await wire.journal.latest([f"gw.passages_judged.{run_id}.*"])) == lanes


async def test_lanes_join_once_in_the_order_of_the_plan(own_settings: BusSettings, own_wire: Wire) -> None:
    """Every order in which three lanes may finish, one run after the other over one server."""
    lanes = Lanes()
    async with working(own_settings, *lanes.actors()):
        for order in itertools.permutations(IDS):
            lanes.reset()
            run_id = await ask(own_wire)
            await until(lambda: len(lanes.calls) == 3)
            for n, each in enumerate(order, start=1):
                assert lanes.joins == []
                lanes.gate(each).set()
                await until(functools.partial(stored, own_wire, run_id, n), what=f"{n} lanes")
            await closed(own_wire, run_id)
            assert lanes.joins == [IDS]


async def test_simultaneous_lanes_join_once(own_settings: BusSettings, own_wire: Wire) -> None:
    lanes = Lanes()
    for each in IDS:
        lanes.gate(each).set()
    async with working(own_settings, *lanes.actors()), working(own_settings, *lanes.actors()):
        runs = await asyncio.gather(*(ask(own_wire) for _ in range(30)))
        for run_id in runs:
            await closed(own_wire, run_id)
    assert lanes.joins == [IDS] * 30


async def test_a_run_done_twice_counts_once(impatient: BusSettings, own_wire: Wire) -> None:
    """A worker that counted as dead continues after all: every key is written once."""
    lanes = Lanes()
    deaf = msgspec.structs.replace(impatient, heartbeat_s=1000.0)
    async with working(deaf, *lanes.actors()):
        run_id = await ask(own_wire)
        await until(lambda: len(lanes.calls) >= 6, what="every lane to be delivered twice")
        for each in IDS:
            lanes.gate(each).set()
        await closed(own_wire, run_id)
        await settled_with(own_wire, "intake", delivered=2)
    assert {*lanes.joins} == {IDS}
    assert len(await own_wire.journal.latest([finished(run_id).subject])) == 1
    assert len(await own_wire.journal.latest([f"gw.passages_judged.{run_id}.*"])) == 3


async def one(message: QuestionAsked) -> QuestionReady: ...  # type: ignore[empty-body]
async def branch(message: QuestionAsked) -> QuestionReady | FollowUpAsked | AnswerSettled: ...  # type: ignore[empty-body]
async def fan_out(message: ComplexQuestionFound) -> tuple[SubQueryPlanned, ...]: ...  # type: ignore[empty-body]
async def fan_or_not(message: ComplexQuestionFound) -> tuple[SubQueryPlanned, ...] | AnswerSettled: ...  # type: ignore[empty-body]
async def sink(message: RunFinished) -> None: ...
async def sometimes(message: QuestionAsked) -> QuestionReady | None: ...
async def join(lanes: tuple[PassagesJudged, ...]) -> PassagesReady: ...  # type: ignore[empty-body]


@pytest.mark.parametrize(
    ("handle", "takes", "gives", "joins", "fans_out"),
    [
        (one, QuestionAsked, (QuestionReady,), False, False),
        (branch, QuestionAsked, (QuestionReady, FollowUpAsked, AnswerSettled), False, False),
        (fan_out, ComplexQuestionFound, (SubQueryPlanned,), False, True),
        (fan_or_not, ComplexQuestionFound, (SubQueryPlanned, AnswerSettled), False, True),
        (sink, RunFinished, (), False, False),
        (sometimes, QuestionAsked, (QuestionReady,), False, False),
        (join, PassagesJudged, (PassagesReady,), True, False),
    ],
)
def test_the_signature_is_the_wiring(handle: object, takes: object, gives: object, joins: bool, fans_out: bool) -> None:
    declared = actor()(handle)  # type: ignore[type-var]
    assert (declared.name, declared.takes, declared.gives, declared.joins, declared.fans_out) == (
        handle.__name__,  # type: ignore[attr-defined]
        takes,
        gives,
        joins,
        fans_out,
    )


async def test_actor_is_still_callable() -> None:
    @actor()
    async def intake(message: QuestionAsked) -> None:
        heard.append(message.question)

    heard: list[str] = []
    await intake(QuestionAsked(question="Hello?"))
    assert heard == ["Hello?"]


def test_parameters_after_the_message_name_powers() -> None:
    def unheard(message: QuestionAsked, failure: Failure) -> QuestionReady: ...  # type: ignore[empty-body]

    @actor(fallback=unheard, prompts=("p",), priority="check", retries=3, bound=2)
    async def all_three(message: QuestionAsked, emit: Emit, search: Search, ask: Ask) -> QuestionReady: ...  # type: ignore[empty-body]

    assert all_three.powers == ("emit", "search", "ask")
    assert (all_three.prompts, all_three.priority, all_three.retries, all_three.bound) == (("p",), "check", 3, 2)


async def no_result(message: QuestionAsked): ...  # type: ignore[no-untyped-def]
async def no_message() -> QuestionReady: ...  # type: ignore[empty-body]
async def untyped_message(message) -> QuestionReady: ...  # type: ignore[no-untyped-def, empty-body]
async def foreign_message(message: dict[str, str]) -> QuestionReady: ...  # type: ignore[empty-body]
async def base_message(message: Draft) -> QuestionReady: ...  # type: ignore[empty-body]
async def foreign_result(message: QuestionAsked) -> str: ...  # type: ignore[empty-body]
async def list_result(message: QuestionAsked) -> list[QuestionReady]: ...  # type: ignore[empty-body]
async def pair_result(message: QuestionAsked) -> tuple[QuestionReady, FollowUpAsked]: ...  # type: ignore[empty-body]
async def fixed_join(lanes: tuple[PassagesJudged]) -> PassagesReady: ...  # type: ignore[empty-body]
async def clock_power(message: QuestionAsked, clock: object) -> QuestionReady: ...  # type: ignore[empty-body]
async def asks_alone(message: QuestionAsked, ask: Ask) -> QuestionReady: ...  # type: ignore[empty-body]
async def searches_alone(message: QuestionAsked, search: Search) -> QuestionReady: ...  # type: ignore[empty-body]
def not_async(message: QuestionAsked) -> QuestionReady: ...  # type: ignore[empty-body]


@pytest.mark.parametrize(
    ("handle", "hint"),
    [
        (no_result, "annotate its message and its result with types"),
        (no_message, "annotate its message and its result with types"),
        (untyped_message, "annotate its message and its result with types"),
        (foreign_message, "add it to bus/wire/messages.py"),
        (base_message, "add it to bus/wire/messages.py"),
        (foreign_result, "add it to bus/wire/messages.py"),
        (list_result, "add it to bus/wire/messages.py"),
        (pair_result, r"tuple\[QuestionReady, \.\.\.\]"),
        (fixed_join, r"tuple\[PassagesJudged, \.\.\.\]"),
        (clock_power, "there are ask, search, emit"),
        (asks_alone, "declare fallback="),
        (searches_alone, "declare fallback="),
        (not_async, "async def"),
    ],
)
def test_bad_wiring_is_refused_with_a_hint(handle: object, hint: str) -> None:
    with pytest.raises(DeclarationError, match=hint) as caught:
        actor()(handle)  # type: ignore[type-var]
    assert str(caught.value).startswith(f"actor {handle.__name__}: ")  # type: ignore[attr-defined]


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError, match="retry"):
        actor(retry=2)  # type: ignore[call-arg]


def from_nothing() -> QuestionReady: ...  # type: ignore[empty-body]
def from_message_alone(message: QuestionAsked) -> QuestionReady: ...  # type: ignore[empty-body]
def of_another(message: QuestionReady, failure: Failure) -> QuestionReady: ...  # type: ignore[empty-body]
def of_one_lane(message: PassagesJudged, failure: Failure) -> PassagesReady: ...  # type: ignore[empty-body]
def of_no_failure(message: QuestionAsked, failure: str) -> QuestionReady: ...  # type: ignore[empty-body]
def gives_another(message: QuestionAsked, failure: Failure) -> RunFinished: ...  # type: ignore[empty-body]
def gives_several(message: QuestionAsked, failure: Failure) -> tuple[QuestionReady, ...]: ...  # type: ignore[empty-body]
def gives_nothing(message: QuestionAsked, failure: Failure) -> QuestionReady | None: ...
def asks_itself(message: QuestionAsked, failure: Failure, ask: Ask) -> QuestionReady: ...  # type: ignore[empty-body]
async def later(message: QuestionAsked, failure: Failure) -> QuestionReady: ...  # type: ignore[empty-body]


@pytest.mark.parametrize(
    ("handle", "fallback", "hint"),
    [
        (one, lambda message, failure: message, "annotate its message and its result with types"),
        (one, from_nothing, "annotate its message and its result with types"),
        (one, from_message_alone, "takes the actor's message and a Failure"),
        (one, of_another, "takes the actor's message and a Failure"),
        (one, of_no_failure, "takes the actor's message and a Failure"),
        (one, asks_itself, "takes the actor's message and a Failure"),
        (join, of_one_lane, "takes the actor's message and a Failure"),
        (one, gives_another, "gives RunFinished, which the actor does not"),
        (one, gives_several, r"gives .*QuestionReady.*, which the actor does not"),
        (one, gives_nothing, "gives NoneType, which the actor does not"),
        (one, later, "write it as `def`"),
    ],
)
def test_fallback_that_does_not_fit_is_refused(handle: object, fallback: object, hint: str) -> None:
    with pytest.raises(DeclarationError, match=hint) as caught:
        actor(fallback=fallback)(handle)  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"the fallback of actor {handle.__name__}: ")  # type: ignore[attr-defined]


def anything(message: Message, failure: Exception) -> QuestionReady: ...  # type: ignore[empty-body]
def lanes_of(lanes: tuple[Message, ...], failure: Failure) -> PassagesReady: ...  # type: ignore[empty-body]


@pytest.mark.parametrize(("handle", "fallback"), [(one, anything), (branch, anything), (join, lanes_of)])
def test_fallback_may_take_more_and_give_less(handle: object, fallback: object) -> None:
    assert actor(fallback=fallback)(handle).fallback is fallback  # type: ignore[arg-type]


@pytest.mark.parametrize("bound", [0, -1])
def test_bound_of_zero_is_refused(bound: int) -> None:
    with pytest.raises(DeclarationError, match="use 1 or more"):
        actor(bound=bound)(one)
