"""A trace as steps, each one call of an actor: which records it took and which it made.

A record names the record it was made from (`Gw-Cause`), so steps follow from the records alone.
"""

from collections import defaultdict
from dataclasses import dataclass

from bus.delivery.actor import Actor
from bus.delivery.graph import Graph, joined
from bus.journal.records import CAUSE, Record, Stage, as_now
from bus.runs.story import StageRun
from bus.transport.envelope import count_in
from bus.wire.errors import Poison
from bus.wire.messages import BY_TYPE, stage_name
from bus.wire.subjects import POISON
from runtime.replay.trace import FINISHED, PARENT, Trace


@dataclass(frozen=True, slots=True)
class Step:
    """One call of an actor. `given`: the record it took, or all the lanes of a join in the order of their plan."""

    actor: Actor
    source: Record
    given: tuple[Record, ...]
    outputs: tuple[Record, ...]

    @property
    def stage(self) -> Stage | None:
        return next((stage for record in self.outputs if (stage := record.stage) is not None), None)

    @property
    def run(self) -> StageRun | None:
        stage = self.stage
        return StageRun(self.outputs[0], stage) if stage is not None else None

    @property
    def name(self) -> str:
        """The stage's name: the actor's where its message cannot be read."""
        try:
            return stage_name(self.actor.name, self.source.message)
        except Poison:
            return self.actor.name

    @property
    def lane(self) -> str:
        return self.source.key.lane


@dataclass(frozen=True, slots=True)
class Orphan:
    """Records made from one that no actor takes any more. `stage`: the actor that made them."""

    stage: str
    source: Record
    outputs: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Steps:
    """All steps of a trace. `unfinished`: actors cut off by the end of the run; `inherited`: steps of a fork's parent."""

    done: tuple[Step, ...]
    orphans: tuple[Orphan, ...]
    unfinished: tuple[Step, ...]
    inherited: tuple[Step, ...]
    ended_otherwise: bool

    @property
    def taken(self) -> tuple[Step, ...]:
        """Inherited and own steps, in the order in which their inputs were written."""
        return tuple(sorted((*self.inherited, *self.done), key=lambda step: step.source.sequence))


def steps_of(trace: Trace, graph: Graph) -> Steps:
    """The steps of a trace, in the order in which their inputs were written."""
    made: dict[int, list[Record]] = defaultdict(list)
    records = tuple(map(as_now, trace.records))
    for record in records:
        if CAUSE in record.headers and record.key.type != POISON:
            made[count_in(record.headers, CAUSE, 0)].append(record)
    done, orphans, unfinished, inherited = [], [], [], []
    for record in records:
        if record.key.type == POISON:
            continue
        outputs = tuple(made[record.sequence])
        message = BY_TYPE.get(record.key.type)
        actors = graph.consumers(message) if message is not None else ()
        if not actors and outputs:
            stage = outputs[0].stage
            orphans.append(Orphan(stage.actor if stage else "", record, outputs))
        for actor in actors:
            own = outputs if len(actors) == 1 else tuple(o for o in outputs if BY_TYPE.get(o.key.type) in actor.gives)
            step = Step(actor, record, _given(records, record, actor), own)
            if own and all(PARENT in output.headers for output in own):
                inherited.append(step)
            elif own or not actor.gives:
                done.append(step)
            elif step.given:
                unfinished.append(step)
    ends = [record for record in records if record.key.type == FINISHED]
    return Steps(
        tuple(done), tuple(orphans), tuple(unfinished), tuple(inherited), bool(ends) and CAUSE not in ends[0].headers
    )


def _given(records: tuple[Record, ...], record: Record, actor: Actor) -> tuple[Record, ...]:
    if not actor.joins:
        return (record,)
    try:
        return joined(records, record.message, record.sequence)
    except Poison:
        return (record,)  # the actor that takes it will report what is wrong with it
