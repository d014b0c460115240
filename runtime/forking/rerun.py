"""A whole run again, as it would go today or with something changed: without a source, under another profile or prompt, by another
engine, over another index.

The replies and hits of the record are used wherever what is asked is the same, and what gave each is noted.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import msgspec

from actors.question.resolved import RULES
from bus.delivery.graph import Graph
from bus.journal.records import Record, SearchRecord, encode
from bus.powers.searching import reply_of
from bus.wire.messages import QuestionAsked
from runtime.forking.fork import fork
from runtime.forking.live_powers import Given, Live, hits_of, replies_of
from runtime.replay.trace import ASKED, Trace

_FIRST = "classify_intent"


@dataclass(frozen=True, slots=True)
class Changes:
    """What is changed. `without`: ids of sources. `fields`: of the question. `profile`: empty for that of the run."""

    without: Collection[str] = ()
    fields: Mapping[str, object] = field(default_factory=dict)
    profile: str = ""


NONE = Changes()


async def rerun(
    trace: Trace, graph: Graph, engine: Live, *, run_id: str = "again", changes: Changes = NONE, search: bool = False
) -> tuple[Trace, tuple[Given, ...]]:
    """The run from its question on, and what gave each reply. `engine`: for what is not recorded; of its own, for a run by rules.

    `search`: the index of `engine`, in place of the recorded hits. Raises NotRecorded, NothingToFork, Poison, Invalid.
    """
    recorded = engine.has_model is None and not by_rules(trace)
    live = replace(engine, given=[], replies=replies_of(trace) if recorded else {})
    if not search:
        live.hits = [_without(record, changes.without) for record in hits_of(trace)]
    asked = replace(trace, records=tuple(_asked(record, changes) for record in trace.records))
    made = await fork(asked, graph, _FIRST, run_id, live, profile=changes.profile)
    return made, tuple(live.given)


def by_rules(trace: Trace) -> bool:
    """Whether no model took part: rules are code, and answer as they do today."""
    return all(isinstance(ask, str) or ask.engine == RULES for ask in replies_of(trace).values())


def _without(record: SearchRecord, sources: Collection[str]) -> SearchRecord:
    if not sources:
        return record
    reply = reply_of(record)
    passages = tuple(passage for passage in reply.passages if passage.source_id not in sources)
    return msgspec.structs.replace(
        record, hits=msgspec.Raw(msgspec.json.encode(msgspec.structs.replace(reply, passages=passages)))
    )


def _asked(record: Record, changes: Changes) -> Record:
    message = record.message if record.key.type == ASKED else None
    if not isinstance(message, QuestionAsked) or not (changes.without or changes.fields):
        return record
    contexts = message.contexts
    if contexts is not None:
        contexts = tuple(each for each in contexts if each.metadata.source_id not in changes.without)
    fields = {"contexts": contexts, **changes.fields}
    return replace(record, data=encode(msgspec.structs.replace(message, **fields)))
