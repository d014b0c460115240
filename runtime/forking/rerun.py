"""A run again, from its question or from a stage, as it would go today or with something changed: without a source, under another
profile or prompt, by another engine, over another index.

The replies and hits of the record are used wherever what is asked is the same, and what gave each is noted.

`changed_since` tells what a run depended on and is another today: prompts, models, settings. A replay takes all three from the
record.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import msgspec

from actors.question.resolved import RULES, Defaults, resolved, resolving_under
from bus.delivery.graph import Graph
from bus.journal.records import AskRecord, Record, SearchRecord, encode
from bus.powers.searching import reply_of
from bus.runs.story import RunStory
from bus.wire.errors import Invalid
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Question
from index.plugins import installed
from runtime.engines.rendering import model_for
from runtime.forking.fork import NothingToFork, fork
from runtime.forking.live_powers import RECORDED, Given, Live, NotRecorded, engine_of, replies_of, version_of
from runtime.replay.replayer import Changed
from runtime.replay.trace import ASKED, Trace
from runtime.settings import InferenceSettings

PROMPT = "prompt "
_SETTINGS = ("voice", "numeric_promote", "masked", "has_model")


def changed_since(trace: Trace, inference: InferenceSettings, defaults: Defaults) -> tuple[Changed, ...]:
    """The differences between the record and today's prompts, and these settings. Raises Poison for a profile that is gone."""
    story = trace.story
    question = next(iter(story.questions), None)
    if question is None:
        return ()
    found = [change for ask in story.asks for change in _changed(ask, question.profile, inference)]
    return tuple(dict.fromkeys([*found, *_settings(story, question, defaults)]))


def _changed(ask: AskRecord, profile: str, inference: InferenceSettings) -> Iterator[Changed]:
    version = version_of(ask.prompt, profile) if ask.version else ""
    if ask.version != version:
        yield Changed(PROMPT + ask.prompt, ask.version, version or "there is none")
    named = model_for(ask.prompt, profile)
    engine, _, model = named.partition(":")
    if engine not in installed("engines"):
        engine, model = inference.engine, named or inference.model
    now = engine if engine == RULES or not (model and ask.model) else f"{engine}:{model}"
    recorded = engine_of(ask) if ":" in now else ask.engine
    if recorded and recorded != now:
        yield Changed("model", engine_of(ask), now)


def _settings(story: RunStory, question: Question, defaults: Defaults) -> Iterator[Changed]:
    with resolving_under(defaults):
        now = resolved(story.question)
    for name in _SETTINGS:
        before, today = getattr(question, name), getattr(now, name)
        if before != today:
            yield Changed(name, str(before), str(today))


_REMEDIES = {
    "engine": "--fill ENGINE lets an engine answer that alone",
    "index": "--index lets today's index give them",
}


@dataclass(frozen=True, slots=True)
class Again:
    """What became of a run. `given`: what gave each reply. `problem`: what it lacks, with the remedy, where there is no `after`."""

    before: Trace
    after: Trace | None
    given: tuple[Given, ...] = ()
    problem: str = ""

    @property
    def elsewhere(self) -> list[Given]:
        """What did not come from the record, or answers a prompt that is another now. The rules of a run by rules are code."""
        rules = by_rules(self.before)
        every = dict.fromkeys(each for each in self.given if each.by != RECORDED or each.prompt_changed)
        return [each for each in every if not (rules and each.made_by == RULES)]

    @property
    def kind(self) -> str:
        if self.after is None:
            return "not told"
        before, after = self.before.record, self.after.record
        if (before.outcome, before.reason) != (after.outcome, after.reason):
            return "with another outcome"
        return "the same" if before.answer == after.answer else "with another answer"


async def rerun(
    trace: Trace,
    graph: Graph,
    engine: Live,
    *,
    stage: str = "",
    run_id: str = "again",
    without: tuple[str, ...] = (),
    fields: Mapping[str, object] | None = None,
    profile: str = "",
    search: bool = False,
) -> Again:
    """The run from a stage on; without a `stage`, from its question on, where rules answer anew.

    `engine`: for what is not recorded. `without`: ids of sources or their ends. `fields`: other ones of the question. `search`:
    the index of `engine`, in place of the recorded hits. Raises Poison.
    """
    recorded = engine.has_model is None and (bool(stage) or not by_rules(trace))
    live = replace(engine, given=[], replies=replies_of(trace) if recorded else {})
    if not search:
        live.hits = [_without(record, without) for record in trace.story.searches]
    asked = replace(trace, records=tuple(_asked(record, without, fields or {}) for record in trace.records))
    try:
        made = await fork(asked, graph, stage or "classify_intent", run_id, live, profile=profile)
    except NotRecorded as missing:
        return Again(trace, None, problem=f"{missing}; {_REMEDIES[missing.needs]}")
    except (Invalid, NothingToFork) as problem:
        return Again(trace, None, problem=str(problem))
    return Again(trace, made, tuple(live.given))


def by_rules(trace: Trace) -> bool:
    """Whether no model took part: rules are code, and answer as they do today."""
    asked = any(not isinstance(ask, str) and ask.engine != RULES for ask in replies_of(trace).values())
    return not asked and not any(question.has_model for question in trace.story.questions)


def _without(record: SearchRecord, sources: tuple[str, ...]) -> SearchRecord:
    if not sources:
        return record
    reply = reply_of(record)
    passages = tuple(passage for passage in reply.passages if not passage.source_id.endswith(sources))
    new = msgspec.structs.replace(reply, passages=passages)
    return msgspec.structs.replace(record, hits=msgspec.Raw(msgspec.json.encode(new)))


def _asked(record: Record, without: tuple[str, ...], fields: Mapping[str, object]) -> Record:
    message = record.message if record.key.type == ASKED else None
    if not isinstance(message, QuestionAsked) or not (without or fields):
        return record
    contexts = message.contexts
    if contexts is not None:
        contexts = tuple(each for each in contexts if not each.metadata.source_id.endswith(without))
    return replace(record, data=encode(msgspec.structs.replace(message, contexts=contexts, **fields)))
