"""A run again, from its question or from a stage, as it would go today or with something changed: without a source, under another
profile or prompt, by another engine, over another index.

The replies and hits of the record are used wherever what is asked is the same, and what gave each is noted.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import msgspec

from actors.question.resolved import RULES
from bus.delivery.graph import Graph
from bus.journal.records import Record, SearchRecord, encode
from bus.powers.searching import reply_of
from bus.wire.errors import Invalid
from bus.wire.messages import QuestionAsked
from runtime.forking.fork import NothingToFork, fork
from runtime.forking.live_powers import RECORDED, Given, Live, NotRecorded, hits_of, replies_of
from runtime.replay.trace import ASKED, Trace


@dataclass(frozen=True, slots=True)
class Changes:
    """What is changed. `without`: ids of sources or their ends. `fields`: of the question. `profile`: empty for that of the run."""

    without: tuple[str, ...] = ()
    fields: Mapping[str, object] = field(default_factory=dict)
    profile: str = ""


NONE = Changes()
_REMEDIES = {
    "engine": "--fill ENGINE lets an engine answer that alone",
    "index": "--index lets today's index give them",
}


class Again(NamedTuple):
    """What became of a run. `given`: what gave each reply. `problem`: what it lacks, with the remedy, where there is no `after`."""

    after: Trace | None
    given: tuple[Given, ...] = ()
    problem: str = ""


async def rerun(
    trace: Trace,
    graph: Graph,
    engine: Live,
    *,
    stage: str = "",
    run_id: str = "again",
    changes: Changes = NONE,
    search: bool = False,
) -> Again:
    """The run from a stage on; without a `stage`, from its question on, where rules answer anew.

    `engine`: for what is not recorded. `search`: its index, in place of the recorded hits. Raises Poison.
    """
    recorded = engine.has_model is None and (bool(stage) or not by_rules(trace))
    live = replace(engine, given=[], replies=replies_of(trace) if recorded else {})
    if not search:
        live.hits = [_without(record, changes.without) for record in hits_of(trace)]
    asked = replace(trace, records=tuple(_asked(record, changes) for record in trace.records))
    try:
        made = await fork(asked, graph, stage or "classify_intent", run_id, live, profile=changes.profile)
    except NotRecorded as missing:
        return Again(None, problem=f"{missing}; {_REMEDIES[missing.needs]}")
    except (Invalid, NothingToFork) as problem:
        return Again(None, problem=str(problem))
    return Again(made, tuple(live.given))


def by_rules(trace: Trace) -> bool:
    """Whether no model took part: rules are code, and answer as they do today."""
    asked = any(not isinstance(ask, str) and ask.engine != RULES for ask in replies_of(trace).values())
    return not asked and not any(question.has_model for question in trace.story.questions)


def elsewhere(given: Iterable[Given], *, rules: bool) -> list[Given]:
    """What did not come from the record, or answers a prompt that is another now. `rules`: of a run by rules, which are code."""
    every = (each for each in given if each.by != RECORDED or each.prompt_changed)
    return [each for each in dict.fromkeys(every) if not (rules and each.made_by == RULES)]


def _without(record: SearchRecord, sources: tuple[str, ...]) -> SearchRecord:
    if not sources:
        return record
    reply = reply_of(record)
    passages = tuple(passage for passage in reply.passages if not passage.source_id.endswith(sources))
    return msgspec.structs.replace(
        record, hits=msgspec.Raw(msgspec.json.encode(msgspec.structs.replace(reply, passages=passages)))
    )


def _asked(record: Record, changes: Changes) -> Record:
    message = record.message if record.key.type == ASKED else None
    if not isinstance(message, QuestionAsked) or not (changes.without or changes.fields):
        return record
    contexts = message.contexts
    if contexts is not None:
        contexts = tuple(each for each in contexts if not each.metadata.source_id.endswith(changes.without))
    fields = {"contexts": contexts, **changes.fields}
    return replace(record, data=encode(msgspec.structs.replace(message, **fields)))
