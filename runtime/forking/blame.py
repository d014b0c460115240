"""Which part of the pipeline turns a run: fork it from the gate, the answer, the choice and the retrieval, each as it is today.

A part turns the run if the fork from it ends otherwise, and the forks from the parts behind it do not. Everything that a part does
not decide comes from the record, as far as it is there.
"""

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from bus.delivery.graph import Graph
from bus.powers.searching import reply_of
from bus.runs.run_record import RunRecord, ending
from bus.wire.parts import Passage
from runtime.forking.fork import NothingToFork, fork
from runtime.forking.live_powers import Live, NotRecorded, has_changed, replies_of
from runtime.replay.steps import steps_of
from runtime.replay.trace import Trace

GATE, ANSWER, CHOICE, RETRIEVAL = "gate", "answer", "choice", "retrieval"
#: What a part is called where the cause lies outside of the code.
PROMPT, DOCUMENT = "prompt", "document"
OUTCOME = "outcome"


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """A fork from one part. `changes`: how it ends otherwise than the run, what counts most first; `problem`: why there is none."""

    part: str
    stage: str
    changes: tuple[str, ...] = ()
    problem: str = ""


class Blamed(msgspec.Struct, frozen=True, kw_only=True):
    """`part` turns the run; empty where none does."""

    run_id: str
    part: str
    tried: tuple[Tried, ...]


async def blame(trace: Trace, graph: Graph, live: Live) -> Blamed:
    """Try each part. `live`: the engine and the index of today; without one of them, parts that need it have a problem.

    Raises Poison.
    """
    steps = steps_of(trace, graph)
    reached = (step.name for step in (*steps.taken, *steps.unfinished))
    answering = next((name for name in reached if name.startswith("answer_")), "answer_simple")
    replies, hits = replies_of(trace), trace.story.searches
    recorded = replace(live, find=None, replies=replies, hits=hits)
    as_they_were = {
        key: reply if isinstance(reply, str) else msgspec.structs.replace(reply, version="")
        for key, reply in replies.items()
    }
    others = {key: reply for key, reply in replies.items() if not key[0].startswith("answer_")}
    ways = (
        (GATE, answering, replace(recorded, replies=as_they_were)),
        (ANSWER, answering, replace(recorded, replies=others)),
        (CHOICE, "select_evidence", recorded),
        (RETRIEVAL, "retrieve", replace(live, replies=replies)),
    )
    forks: dict[str, Trace] = {}
    tried = [await _try(trace, graph, part, stage, way, forks) for part, stage, way in ways]
    outcomes = (each for each in tried if each.changes and each.changes[0].startswith(OUTCOME))
    turning = next(outcomes, None) or next((each for each in tried if each.changes), None)
    part = _named(turning.part, trace, forks[turning.part]) if turning else ""
    return Blamed(run_id=trace.run_id, part=part, tried=tuple(tried))


async def _try(trace: Trace, graph: Graph, part: str, stage: str, live: Live, forks: dict[str, Trace]) -> Tried:
    try:
        forked = await fork(trace, graph, stage, f"{part}-of-{trace.run_id}"[:64], live)
    except NothingToFork:
        return Tried(part=part, stage=stage, problem="the run did not come to it")
    except NotRecorded as missing:
        return Tried(part=part, stage=stage, problem=f"{missing}; name one with --{missing.needs}")
    forks[part] = forked
    return Tried(part=part, stage=stage, changes=tuple(_changes(trace.record, forked.record)))


def _changes(one: RunRecord, other: RunRecord) -> Iterator[str]:
    if (one.outcome, one.reason) != (other.outcome, other.reason):
        yield f"{OUTCOME} {ending(one.outcome, one.reason)} -> {ending(other.outcome, other.reason)}"
    cited = [", ".join(dict.fromkeys(c.source_id for c in record.citations)) or "nothing" for record in (one, other)]
    if cited[0] != cited[1]:
        yield f"cites {cited[0]} -> {cited[1]}"
    if one.answer != other.answer:
        yield "other words"


def _named(part: str, trace: Trace, forked: Trace) -> str:
    """The part, or what it was given: a prompt that changed, or a document whose text did."""
    story = trace.story
    profile = story.question.profile
    if part == ANSWER and any(has_changed(ask, profile) for ask in story.asks if ask.prompt.startswith("answer_")):
        return PROMPT
    if part == RETRIEVAL and any(_differ(one, other) for one in _found(trace) for other in _found(forked)):
        return DOCUMENT
    return part


def _found(trace: Trace) -> list[Passage]:
    return [passage for search in trace.story.searches for passage in reply_of(search).passages]


def _differ(one: Passage, other: Passage) -> bool:
    """Whether they are one stretch of a source before and after it changed: passages of one text do not overlap otherwise."""
    overlap = one.char_start < other.char_end and other.char_start < one.char_end
    return one.source_id == other.source_id and overlap and one.text != other.text
