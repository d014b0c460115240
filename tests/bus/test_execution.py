"""A run goes round a loop at most as often as its actor declares, and asks carry what their actor declares."""

import pytest

from actors.pipeline import ACTORS, pipeline
from bus.delivery.actor import Actor, actor
from bus.delivery.graph import Graph
from bus.transport.settings import BusSettings
from bus.wire.messages import QueryDecomposed, QuestionAsked, RunFinished
from tests.bus.toys import answered, ask, done, ended, working
from tests.bus.wires import Wire
from tests.message_samples import question


def rounds(wanted: int, bound: int) -> tuple[Actor, Actor]:
    """Actors that go round a loop so many times."""

    @actor()
    async def intake(message: QuestionAsked) -> QueryDecomposed:
        return QueryDecomposed(lane="round0", question=question(), sub_queries=())

    @actor(bound=bound)
    async def again(message: QueryDecomposed) -> QueryDecomposed | RunFinished:
        n = int(message.lane.removeprefix("round"))
        if n == wanted:
            return answered()
        return QueryDecomposed(lane=f"round{n + 1}", question=question(), sub_queries=())

    return intake, again


@pytest.mark.parametrize(("wanted", "bound"), [(0, 1), (1, 1), (3, 3)])
async def test_loop_ends_at_its_bound(own_settings: BusSettings, own_wire: Wire, wanted: int, bound: int) -> None:
    async with working(own_settings, *rounds(wanted, bound)):
        assert (await ended(own_wire, await ask(own_wire))).outcome == "answered"


@pytest.mark.parametrize("bound", [1, 2])
async def test_and_no_more_often(own_settings: BusSettings, own_wire: Wire, bound: int) -> None:
    async with working(own_settings, *rounds(bound + 1, bound), bugs=True) as worker:
        run_id = await ask(own_wire)
        assert (await ended(own_wire, run_id)).detail == "internal error in again: BoundReached"
    assert [str(bug) for bug in worker.bugs] == [
        f"again would send the run round its loop again, but its bound is {bound}"
    ]
    assert len([r for r in await own_wire.journal.run(run_id) if r.key.type == "query_decomposed"]) == 1 + bound


def test_only_what_leads_back_is_counted() -> None:
    graph = Graph((*rounds(1, 1), done))
    assert [[message.__name__ for message in graph.again(each)] for each in graph.actors] == [
        [],
        ["QueryDecomposed"],
        [],
    ]
    judges = [(a.name, graph_again) for a in ACTORS if (graph_again := pipeline().again(a)) and a.bound]
    assert judges == [("judge_sufficiency", (QueryDecomposed,))]


def test_priorities_of_the_actors() -> None:
    """The streaming answers, then the checks of their sentences, then the judges."""
    by_priority = {p: [a.name for a in ACTORS if "ask" in a.powers and a.priority == p] for p in ("answer", "check")}
    assert by_priority == {
        "answer": ["answer"],
        "check": ["guard_language", "verify_answer"],
    }
