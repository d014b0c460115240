"""A trace with no passages but those that its evidence, its citations or its closest passages come from.

The stages up to the choice of the evidence worked on more than is left, so they count as taken over from a parent, as in a fork,
and a replay compares the stages after them.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import msgspec

from bus.delivery.graph import Graph
from bus.journal.records import Record
from bus.runs.story import readable
from bus.wire.messages import AnswerRequested, AnswerSettled, Message, stage_name
from runtime.forking.fork import taken_over
from runtime.replay.trace import ASKED, FORKED_AT, PARENT, TAKEN_OVER, Trace

type Place = tuple[str, int, int]
_LISTS: Final = frozenset(("passages", "near"))


def cited_only(trace: Trace, graph: Graph) -> Trace:
    """The trace without the other passages. Raises NothingToFork for a run that never came to an answer."""
    first = next((m for r in trace.records if isinstance(m := readable(r), AnswerRequested | AnswerSettled)), None)
    at = next(actor for actor in graph.actors if actor.takes is (type(first) if first else AnswerSettled))
    stage = stage_name(at.name, first) if first else at.name
    kept, shown = taken_over(trace, graph, at, stage)
    places = {place for record in trace.records for place in _places(readable(record))}
    count = sum(frame.data.count(b"\n") + 1 for frame in shown if frame.fenced)
    old = {record.sequence for record in kept}
    records = []
    for record in trace.records:
        if record.sequence in old:
            headers = {**record.headers, PARENT: trace.run_id}
            if record.key.type == ASKED:
                headers |= {FORKED_AT: stage, TAKEN_OVER: str(count)}
            records.append(replace(record, headers=headers, data=_without(record, places)))
        else:
            records.append(record)
    return replace(trace, records=tuple(records))


def _places(message: Message | None) -> Iterator[Place]:
    if isinstance(message, AnswerRequested):
        yield from ((span.source_id, span.source_start, span.source_end) for span in message.evidence)
    settled = getattr(message, "settled", None)
    for part in (*settled.passages, *settled.citations) if settled else ():
        yield part.source_id, part.source_start, part.source_end


def _without(record: Record, places: set[Place]) -> bytes:
    """The record without passages that hold none of the places, and without what a model said of the others."""
    if record.key.type == ASKED:
        return record.data
    message, _, stage = record.data.partition(b"\n")
    data = msgspec.json.encode(_kept(msgspec.json.decode(message), places))
    if not stage:
        return data
    told = msgspec.json.decode(stage)
    told["asks"] = [{**ask, "text": "", "already_shown": ""} for ask in told.get("asks", ())]
    return data + b"\n" + msgspec.json.encode(_kept(told, places))


def _kept(value: Any, places: set[Place], name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _kept(inner, places, key) for key, inner in value.items() if key != "analyses"} | (
            {"analyses": []} if "analyses" in value else {}
        )
    if not isinstance(value, list):
        return value
    items = value if name not in _LISTS else [item for item in value if _holds(item, places)]
    return [_kept(item, places, name) for item in items]


def _holds(item: Any, places: set[Place]) -> bool:
    start, end = item.get("char_start"), item.get("char_end")
    if start is None:  # a closest passage is shown, so it stays
        return True
    return any(source == item["source_id"] and start < last and first < end for source, first, last in places)
