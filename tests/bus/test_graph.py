"""A broken pipeline is refused at start; the real one is accepted, and its diagram is stable."""

import re
from pathlib import Path

import pytest

from actors.pipeline import ACTORS, pipeline
from bus.delivery.actor import actor
from bus.delivery.graph import Graph, GraphError
from bus.wire.messages import (
    CATALOGUE,
    AnswerSettled,
    ComplexQuestionFound,
    PassagesJudged,
    QueryDecomposed,
    QuestionAsked,
    QuestionReady,
    RunFinished,
)

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
        assert each.doc


def test_the_picture_is_stable() -> None:
    assert pipeline().mermaid() + "\n" == GOLDEN.read_text(encoding="utf-8")


if __name__ == "__main__":  # renew the golden file: PYTHONPATH=. python tests/bus/test_graph.py
    GOLDEN.write_text(pipeline().mermaid() + "\n", encoding="utf-8")
