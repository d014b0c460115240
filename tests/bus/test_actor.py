"""Which signatures are allowed, and which are refused at declaration, with a hint."""

import pytest

from bus.delivery.actor import DeclarationError, actor
from bus.powers.protocols import Ask, Emit, Search
from bus.wire.errors import Failure
from bus.wire.messages import (
    AnswerSettled,
    ComplexQuestionFound,
    Draft,
    FollowUpAsked,
    Message,
    PassagesJudged,
    PassagesReady,
    QuestionAsked,
    QuestionReady,
    RunFinished,
    SubQueryPlanned,
)


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
        """Take it in.

        And no more.
        """
        heard.append(message.question)

    heard: list[str] = []
    await intake(QuestionAsked(question="Hello?"))
    assert heard == ["Hello?"]
    assert intake.doc == "Take it in."


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
