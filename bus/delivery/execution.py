"""Run an actor: give it its powers, retry it, take its fallback, and record what the powers returned.

The only place that does so. What answers the powers is passed in: the bus, or the record of a run.
"""

import time
from collections.abc import Iterable

import msgspec

from bus.delivery.actor import Actor, Result, Taken
from bus.delivery.graph import Graph
from bus.journal.access import Groups
from bus.journal.records import CAUSE, ChoiceRecord, Record, Stage
from bus.powers.asker import Asker
from bus.powers.asking import Answer
from bus.powers.events import Emitter, EventStore, StageEvent
from bus.powers.protocols import Powers
from bus.powers.searching import Find, Finder
from bus.wire.errors import BadReply, Failure
from bus.wire.messages import BY_TYPE, AnswerRequested, Message, question_about, stage_name
from bus.wire.subjects import Key


class Services(msgspec.Struct, frozen=True):
    """What answers asks and searches, and where the run's events go."""

    answer: Answer
    find: Find
    events: EventStore


async def execute(
    actor: Actor,
    taken: Taken,
    key: Key,
    services: Services,
    *,
    deadline: float,
    attempt: int = 1,
    retries: int | None = None,
    groups: Groups = None,
) -> tuple[Result, Stage]:
    """The actor's result for a message, or for the lanes of a join; its fallback after all declared attempts have failed, or
    after a BadReply, for which the engine has asked again.

    `key` is the key of the message that came last, `deadline` is in epoch seconds. From the second `attempt` on, an
    earlier one may have shown something. `groups`: those whose documents a search may find. Raises Superseded, and the Failure
    of an actor without a fallback.
    """
    began = time.monotonic()
    message = taken if isinstance(taken, Message) else taken[-1]
    question = question_about(message)
    profile, everything = (question.profile, question.events == "all") if question else ("", False)
    retries = actor.retries if retries is None else retries
    # An answering actor shows the first words.
    first = attempt == 1 and isinstance(message, AnswerRequested)
    emit = Emitter(services.events, key.run_id, everything=everything, first=first)
    name = stage_name(actor.name, message)
    fallback, earlier_calls = "", 0
    for tried in range(retries + 1):
        ask = Asker(services.answer, key.run_id, name, deadline, actor.priority, actor.prompts, profile, began)
        search = Finder(services.find, groups, began, key.run_id)
        noted: list[ChoiceRecord] = []
        if attempt > 1 or tried:
            await emit.progress()
        await emit.aside(StageEvent(stage=name, lane=key.lane, status="start"))
        try:
            result = await actor.run(taken, Powers(ask, search, emit, noted.append))
            break
        except Failure as failure:
            if tried < retries and not isinstance(failure, BadReply) and time.time() < deadline:
                earlier_calls += sum(record.calls for record in ask.records)
                continue
            if actor.fallback is None:
                raise
            result = actor.fallback(taken, failure)
            fallback = f"{type(failure).__name__}: {failure}"
            break
    await emit.aside(StageEvent(stage=name, lane=key.lane, status="end"))
    stage = Stage(
        actor=name,
        took_s=round(time.monotonic() - began, 6),
        attempt=attempt,
        fallback=fallback,
        earlier_calls=earlier_calls,
        asks=tuple(ask.records),
        searches=tuple(search.records),
        choice=noted[-1] if noted else None,
        first_shown_at=emit.first_shown_at,
    )
    return result, stage


def outputs_of(actor: Actor, result: Result) -> tuple[Message, ...]:
    """The messages of a result. Raises TypeError when they do not match the actor's signature."""
    outputs = result if isinstance(result, tuple) else () if result is None else (result,)
    for output in outputs:
        if type(output) not in actor.gives:
            raise TypeError(f"{actor.name} returned {type(output).__name__}, which its signature does not declare")
    return outputs


class BoundReached(Exception):
    """An actor sends a run round its loop more often than it declares: a bug in the actor."""


def check_bound(graph: Graph, actor: Actor, outputs: Iterable[Message], written: Iterable[Record], cause: int) -> None:
    """Check an actor's outputs against its earlier ones in this run. `cause`: the record it works on now.

    Raises BoundReached.
    """
    again = graph.again(actor)
    if actor.bound is None or not any(isinstance(output, again) for output in outputs):
        return
    rounds = {
        record.headers.get(CAUSE)
        for record in written
        if BY_TYPE.get(record.key.type) in again and (stage := record.stage) is not None and stage.actor == actor.name
    } - {str(cause)}
    if len(rounds) >= actor.bound:
        raise BoundReached(f"{actor.name} would send the run round its loop again, but its bound is {actor.bound}")
