"""Fork a run: keep what it did before a stage, and run that stage and everything after it again, in this process."""

import asyncio
import dataclasses
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec

from actors.question.resolved import resolved, resolving_under
from bus.delivery.actor import Actor
from bus.delivery.execution import Services, check_bound, execute, outputs_of
from bus.delivery.graph import Graph, joined
from bus.journal.access import Groups, access_in
from bus.journal.journal import Journal
from bus.journal.records import CAUSE, DEADLINE, Record, as_now, encode, readable
from bus.powers.events import Emitter, decode_event
from bus.transport.envelope import count_in
from bus.wire.messages import AnswerRequested, AnswerSettled, Message, QuestionAsked, lane_of, stage_name, stage_names
from bus.wire.parts import Question
from bus.wire.subjects import Key, finished, key_of
from runtime.forking.live_powers import Live
from runtime.replay.recorded_powers import EventMemory
from runtime.replay.steps import steps_of
from runtime.replay.trace import ASKED, FINISHED, FORKED_AT, PARENT, TAKEN_OVER, Shown, Trace, own


class NothingToFork(ValueError):
    """The run never reached that stage; the message names those it reached."""


async def fork(
    trace: Trace, graph: Graph, stage: str, run_id: str, live: Live, *, profile: str = "", alone: bool = False
) -> Trace:
    """A new run with the given id: the records before `stage`, and what today's code makes of them with live powers.

    `profile` puts the question and the stage's input under another profile; `alone`: nothing after the stage is run. Raises
    NothingToFork, Poison.
    """
    at = next(actor for actor in graph.actors if stage in stage_names(actor.name, actor.takes))
    kept, shown = taken_over(trace, graph, at, stage)
    access = access_in(trace.records)
    run = _ForkedRun(run_id, graph, live, access.groups if access else None)
    defaults = trace.defaults if live.has_model is None else trace.defaults._replace(has_model=live.has_model)
    with resolving_under(defaults):
        run.take_over(trace, kept, shown, at, stage, profile)
        await run.go_on([record for record in run.records if at in run.takers(record)], only=at, alone=alone)
    return Trace(run_id, tuple(run.records), tuple(run.frames))


def taken_over(trace: Trace, graph: Graph, at: Actor, stage: str) -> tuple[list[Record], list[Shown]]:
    """The records that do not depend on that actor, and the frames shown while they were made. Raises NothingToFork."""
    steps = steps_of(trace, graph)
    dropped = {r.sequence for r in trace.records if r.key.type == FINISHED and CAUSE not in r.headers}
    until = 0.0
    for step in steps.taken:
        if step.actor is at or any(record.sequence in dropped for record in step.given):
            dropped |= {record.sequence for record in step.outputs}
        elif "emit" in step.actor.powers and step.outputs:
            until = max(until, step.outputs[0].time)
    types = {key_of(message, "").type for actor in graph.actors for message in actor.gives} | {ASKED}
    kept = [r for r in map(as_now, trace.records) if r.sequence not in dropped and r.key.type in types]
    if not any(at in graph.consumers(type(r.message)) and stage_name(at.name, r.message) == stage for r in kept):
        reached = ", ".join(dict.fromkeys(step.name for step in (*steps.taken, *steps.unfinished)))
        raise NothingToFork(f"run {trace.run_id} never reached {stage}; it reached {reached}")
    return kept, [frame for frame in trace.frames if frame.time <= until]


def _under(message: Message, asked: QuestionAsked | None, has_model: bool | None) -> Message:
    """The message as if that had been asked, and a model or rules answered; the text of its question stays. None: as it was."""
    if isinstance(message, QuestionAsked):
        return asked or message
    question = getattr(message, "question", None)
    if not isinstance(question, Question):
        return message
    new = question if asked is None else msgspec.structs.replace(resolved(asked), text=question.text)
    has_model = new.has_model if has_model is None else has_model
    return msgspec.structs.replace(message, question=msgspec.structs.replace(new, has_model=has_model))


@dataclass(slots=True)
class _ForkedRun:
    """A run in progress without a bus: its records and frames so far."""

    run_id: str
    graph: Graph
    live: Live
    groups: Groups = None
    records: list[Record] = field(default_factory=list)
    frames: list[Shown] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)

    def takers(self, record: Record) -> tuple[Actor, ...]:
        return self.graph.consumers(type(record.message))

    def take_over(
        self, trace: Trace, kept: Sequence[Record], shown: Sequence[Shown], at: Actor, stage: str, profile: str
    ) -> None:
        """Copy the parent's records and frames, renumbered; a given profile is applied to the stage's input."""
        numbers: dict[int, int] = {}
        self.frames += shown
        self.lines += [line for frame in shown if frame.fenced for line in frame.data.split(b"\n")]
        for n, record in enumerate(kept, start=1):
            numbers[record.sequence] = n
            headers = {**own(record.headers), PARENT: trace.run_id}
            if (cause := numbers.get(count_in(record.headers, CAUSE, 0))) is not None:
                headers[CAUSE] = str(cause)
            if record.key.type == ASKED:
                headers |= {FORKED_AT: stage, TAKEN_OVER: str(len(self.lines))}
            data = record.data
            if record.key.type == ASKED or at.takes is type(record.message):
                asked = msgspec.structs.replace(trace.story.question, profile=profile) if profile else None
                message = _under(record.message, asked, self.live.has_model)
                data = data if message == record.message else encode(message, record.stage)
            key = Key(record.key.type, self.run_id, record.key.lane)
            self.records.append(Record(key, n, record.time, data, headers))

    async def go_on(self, first: Sequence[Record], *, only: Actor, alone: bool = False) -> None:
        """Run the actor that takes these records, then, unless `alone`, those that take its outputs, until no actor takes any."""
        wave = [(actor, record) for record in first for actor in self.takers(record) if actor is only]
        while wave:
            given = await asyncio.gather(*(self._step(actor, record) for actor, record in wave))
            made = [record for outputs in given for record in outputs]
            wave = []
            for record in made:
                self.records.append(dataclasses.replace(record, sequence=len(self.records) + 1))
                wave += [] if alone else [(actor, self.records[-1]) for actor in self.takers(self.records[-1])]

    async def _step(self, actor: Actor, record: Record) -> list[Record]:
        given: tuple[Record, ...] = (record,)
        if actor.joins and not (given := joined(self.records, record.message, record.sequence)):
            return []
        messages = tuple(each.message for each in given)
        events = EventMemory(self.lines)
        result, stage = await execute(
            actor,
            messages if actor.joins else messages[0],
            record.key,
            Services(self.live.answer, self.live.search, events),
            deadline=time.time() + self.live.deadline_s,
            groups=self.groups,
        )
        aside = (Shown(0, time.time(), line, fenced=False, headers={}) for line in events.asides)
        self.frames += [*events.added, *aside]
        outputs = outputs_of(actor, result)
        check_bound(self.graph, actor, outputs, self.records, record.sequence)
        keys = (key_of(type(output), self.run_id, lane_of(output)) for output in outputs)
        datas = (encode(output, None if n else stage) for n, output in enumerate(outputs))
        cause = {CAUSE: str(record.sequence)}
        return [Record(key, 0, time.time(), data, cause) for key, data in zip(keys, datas, strict=True)]


async def keep(journal: Journal, trace: Trace) -> None:
    """Write a fork's events and records. Raises Unavailable.

    No actor may work on it again: running actors learn that the run has ended before its first record arrives, and for those
    that start later its deadline has passed.
    """
    emitter = Emitter(journal, trace.run_id, everything=True)
    for frame in trace.frames:
        events = [decode_event(line) for line in frame.data.split(b"\n")]
        if frame.fenced:
            await emitter.events(*events)
        else:
            for event in events:
                await emitter.aside(event)
    # Addressed to another stream, so the server stores it nowhere, yet every subscriber to the ends of runs receives it.
    await journal.client.publish(finished(trace.run_id).subject, b"", headers={"Nats-Expected-Stream": "none"})
    numbers: dict[str, str] = {}
    over = f"{time.time():.3f}"
    for record in trace.records:
        headers = {**own(record.headers), DEADLINE: over}
        if CAUSE in headers:
            headers[CAUSE] = numbers[headers[CAUSE]]
        await journal.publish(record.key.subject, record.data, headers=headers)
        written = await journal.latest([record.key.subject])
        numbers[str(record.sequence)] = str(written[0].sequence)


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
    start, end = (item.get(f"char_{at}", item.get(f"source_{at}")) for at in ("start", "end"))
    return any(source == item["source_id"] and start < last and first < end for source, first, last in places)
