"""The pipeline: every actor, in the order in which a run passes through them."""

from actors.answer import answer
from actors.classify_intent import classify_intent
from actors.classify_query import classify_query
from actors.decompose_query import decompose_query
from actors.guard_language import guard_language
from actors.judge_relevance import judge_relevance
from actors.judge_sufficiency import judge_sufficiency
from actors.open_lanes import open_lanes
from actors.retrieve import retrieve
from actors.rewrite_query import rewrite_query
from actors.select_evidence import select_evidence
from actors.settle_answer import settle_answer
from actors.stream_answer import stream_answer
from actors.stream_references import stream_references
from actors.verify_answer import verify_answer
from bus.delivery.actor import Actor
from bus.delivery.graph import Graph
from bus.wire.messages import stage_names

ACTORS: tuple[Actor, ...] = (
    classify_intent,
    rewrite_query,
    classify_query,
    decompose_query,
    open_lanes,
    retrieve,
    judge_relevance,
    judge_sufficiency,
    select_evidence,
    answer,
    guard_language,
    verify_answer,
    settle_answer,
    stream_answer,
    stream_references,
)

#: The name of each stage in events, records and metrics.
STAGES: tuple[str, ...] = tuple(name for actor in ACTORS for name in stage_names(actor.name, actor.takes))


def pipeline() -> Graph:
    """The checked graph of all actors. Raises GraphError."""
    return Graph(ACTORS)
