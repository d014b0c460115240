"""Take a run from stage to stage, in the process that took its question.

Each output is written under a key of its own, once, and the next stage begins meanwhile; what it shows waits for the record. Lanes
go side by side. From the second delivery of a question on, the records that exist already are taken as they are.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
import nats.errors
from cachetools import FIFOCache
from nats.aio.msg import Msg

from bus.delivery.actor import Actor, Taken
from bus.delivery.execution import Services, check_bound, execute, outputs_of
from bus.delivery.graph import Graph, joined
from bus.delivery.memory import Events, RunMemory
from bus.journal.access import Groups
from bus.journal.journal import Journal
from bus.journal.records import CAUSE, DEADLINE, TRACEPARENT, VIA, WHOLE, Record, Stage, only_while_there
from bus.powers.asking import Answer
from bus.powers.searching import SearchClient
from bus.runs.citing import was_cut_off, with_sentences
from bus.runs.run_record import record_of
from bus.runs.story import RunStory
from bus.transport.envelope import Place
from bus.wire.messages import MAIN, Message, RunFinished, lane_of
from bus.wire.subjects import RECORD, Key, key_of

log = logging.getLogger("groundwire.actors")

#: How many runs that ended here are remembered; the oldest are forgotten first.
REMEMBERED = 512


class TooLate(Exception):
    """The run's deadline has passed."""


class Step(msgspec.Struct, frozen=True):
    """An actor, and the record or the lanes that it takes. `attempt`: from 2 on, it may have taken them before.

    `early`: its work, begun while its record was being stored.
    """

    actor: Actor
    key: Key
    sequence: int
    taken: Taken
    attempt: int
    early: asyncio.Task[tuple[tuple[Message, ...], Stage]] | None = None


class Written(msgspec.Struct, frozen=True):
    """A record that a stage has written. `attempt`: of the stages that follow."""

    key: Key
    sequence: int
    message: Message
    attempt: int = 1


@dataclass(slots=True, eq=False)
class Delivery:
    """A question or the end of a run, as the server delivered it, with all the work that follows from it, in its own task.

    `again`: its consumer was made again, so it may have been handled before. `ending`: this work ends its own run, so the news
    of that end must not cancel it before it has settled its message. `later_s`: after how long a nak'ed message comes again.
    `before`: the records of an earlier delivery, by subject. `made`: what the stages have written. `failed`: the step that broke.
    """

    actor: Actor
    key: Key
    raw: Msg
    place: Place
    again: bool = False
    deadline: float = 0.0
    beat: float = field(default_factory=time.monotonic)
    ending: bool = False
    later_s: float = 0.5
    groups: Groups = None
    before: dict[str, Record] = field(default_factory=dict)
    made: dict[Key, Written] = field(default_factory=dict)
    failed: Step | None = None
    memory: RunMemory | None = None
    task: asyncio.Task[None] = field(init=False)

    @property
    def sequence(self) -> int:
        return self.place.sequence

    @property
    def from_edge(self) -> bool:
        return VIA in (self.raw.headers or {})

    @property
    def attempt(self) -> int:
        return max(self.place.delivered, 2 if self.again else 1)


def check_time(delivery: Delivery) -> None:
    """Raises TooLate."""
    if time.time() > delivery.deadline:
        raise TooLate


class Stages:
    """The way of runs through the graph. `ask` answers the asks of the actors."""

    def __init__(self, journal: Journal, graph: Graph, ask: Answer) -> None:
        self.client = journal.client
        self.journal = journal
        self.graph = graph
        #: Called with each run that this process has seen from its question to its stored end.
        self.on_end: Callable[[RunStory], None] = lambda story: None
        self._events: FIFOCache[str, Events] = FIFOCache(REMEMBERED)  # of runs that ended here, until they are taken
        self._ask = ask

    async def go_on(self, delivery: Delivery, step: Step) -> None:
        """Take this step and all that follow from it; lanes go side by side, and the last to arrive goes on with their join."""
        following = [step]
        while len(following) == 1:
            (step,) = following
            try:
                following = await self._step(delivery, step)
            except BaseException:
                delivery.failed = delivery.failed or step
                raise
        lanes = [asyncio.ensure_future(self.go_on(delivery, each)) for each in following]
        try:
            await asyncio.gather(*lanes)
        finally:
            for lane in lanes:
                lane.cancel()
            await asyncio.gather(*lanes, return_exceptions=True)

    async def _step(self, delivery: Delivery, step: Step) -> list[Step]:
        """Take a step, unless an earlier delivery has; the steps that follow. Raises TooLate."""
        try:
            check_time(delivery)
        except TooLate:
            if step.early is not None:
                step.early.cancel()
            raise
        written = self._done_before(delivery, step)
        early = None
        if not written:
            outputs, stage = await (step.early or self.execute(delivery, step))
            # Sent before the next stage begins.
            writing = asyncio.eager_task_factory(
                asyncio.get_running_loop(), self._write(delivery, step, outputs, stage)
            )
            early = self._begin_next(delivery, step, outputs, writing)
            try:
                written = await writing
            except BaseException:
                if early is not None:
                    early.cancel()
                raise
            if early is not None and any(record.attempt > 1 for record in written):  # another record was there first
                early.cancel()
                early = None
        following: list[Step] = []
        for record in written:
            delivery.made[record.key] = record
            for actor in self.graph.consumers(type(record.message)):
                if actor.takes is RunFinished:  # its own delivery, as other processes may end the run too
                    continue
                lanes = (record,) if not actor.joins else joined(tuple(delivery.made.values()), record.message)
                if lanes:
                    last = max(lanes, key=lambda lane: lane.sequence)
                    taken = tuple(lane.message for lane in lanes)
                    attempt = max(lane.attempt for lane in lanes)
                    following.append(
                        Step(actor, last.key, last.sequence, taken if actor.joins else taken[0], attempt, early)
                    )
        return following

    def _begin_next(
        self, delivery: Delivery, step: Step, outputs: tuple[Message, ...], writing: asyncio.Task[list[Written]]
    ) -> asyncio.Task[tuple[tuple[Message, ...], Stage]] | None:
        """Begin the next stage while its record is being stored, which takes longer than most stages.

        What it shows waits until the record is stored.
        """
        if len(outputs) != 1 or step.attempt > 1:
            return None
        following = self.graph.consumers(type(outputs[0]))
        if len(following) != 1 or following[0].joins or following[0].takes is RunFinished:
            return None
        key = key_of(type(outputs[0]), step.key.run_id, lane_of(outputs[0]))
        if delivery.memory is not None:
            delivery.memory.events.after = writing
        work = self.execute(delivery, Step(following[0], key, 0, outputs[0], 1))
        early = asyncio.create_task(work, name=f"{following[0].name}, early")
        early.add_done_callback(lambda task: task.cancelled() or task.exception())  # may never be awaited
        return early

    async def execute(self, delivery: Delivery, step: Step) -> tuple[tuple[Message, ...], Stage]:
        """The outputs of the step's actor, and how they were made."""
        actor, memory = step.actor, delivery.memory
        events = memory.events if memory else self._events.pop(step.key.run_id, Events(self.journal))
        result, stage = await execute(
            actor,
            step.taken,
            step.key,
            Services(self._ask, SearchClient(self.client, delivery.deadline), events),
            deadline=delivery.deadline,
            attempt=step.attempt,
            groups=delivery.groups,
        )
        if stage.fallback:
            log.warning("%s %s: %s; its fallback answers", actor.name, step.key.run_id, stage.fallback)
        return outputs_of(actor, result), stage

    def _done_before(self, delivery: Delivery, step: Step) -> list[Written]:
        """What an earlier delivery has written in this step. Fan-outs and joins are taken again, and written key by key."""
        actor, key = step.actor, step.key
        if step.attempt == 1 or actor.fans_out or actor.joins:
            return []
        outputs = [key_of(given, key.run_id, lane) for given in actor.gives for lane in (key.lane, MAIN)]
        stored = [delivery.before[output.subject] for output in outputs if output.subject in delivery.before]
        return [_again(stored[0], step.attempt)] if stored else []

    async def _write(self, delivery: Delivery, step: Step, outputs: tuple[Message, ...], stage: Stage) -> list[Written]:
        """Write the actor's outputs, each key once; the record of a key that exists already is the stored one."""
        actor, run_id = step.actor, step.key.run_id
        if any(isinstance(output, self.graph.again(actor)) for output in outputs):
            earlier = await self.journal.latest(
                [key_of(t, run_id, "*").subject for t in self.graph.again(actor)],
                behind=(step.key.subject, step.sequence),
            )
            check_bound(self.graph, actor, outputs, earlier, step.sequence)
        # The news of an end that this delivery writes comes before the acknowledgement of that write.
        delivery.ending = delivery.ending or any(isinstance(output, RunFinished) for output in outputs)
        headers = {DEADLINE: f"{delivery.deadline:.3f}", CAUSE: str(step.sequence)}
        headers |= only_while_there(step.key, step.sequence)
        if trace := (delivery.raw.headers or {}).get(TRACEPARENT):
            headers[TRACEPARENT] = trace
        written = []
        for n, output in enumerate(outputs):
            key = key_of(type(output), run_id, lane_of(output))
            record = Record(key, 0, time.time(), b"", headers)
            story = self._remember(delivery, record, output, stage if n == 0 else None)
            sequence = await self.journal.write(key, output, stage=stage if n == 0 else None, headers=headers)
            if sequence is not None:
                written.append(Written(key, sequence, output))
                if story is not None:
                    self.on_end(story)
                    await self._report(story)
            else:
                written += [_again(record, 2) for record in await self.journal.latest([key.subject])]
        return written

    def _remember(self, delivery: Delivery, record: Record, output: Message, stage: Stage | None) -> RunStory | None:
        """Keep what is written, before the news of it. Returns the whole run at its end."""
        memory, run_id = delivery.memory, record.key.run_id
        if memory is None or record.key.subject in delivery.before:
            return None
        memory.add(record, output, stage)
        if not isinstance(output, RunFinished):
            return None
        self._events[run_id] = memory.events
        return memory.story(run_id, output, record.time)

    async def _report(self, story: RunStory) -> None:
        """Send the record to the edge if its client waits for it, so that the edge need not read it back."""
        record = record_of(story) if story.via == WHOLE else None
        if record is not None and not was_cut_off(record):
            with contextlib.suppress(nats.errors.Error):  # as for one that is too large
                await self.client.publish(f"{RECORD}.{story.run_id}", msgspec.json.encode(with_sentences(record)))


def _again(record: Record, attempt: int) -> Written:
    return Written(record.key, record.sequence, record.message, attempt)
