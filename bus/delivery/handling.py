"""Handle one message: a question with the whole run that follows from it, or the end of a run.

Each stage's record is written before the next stage begins. The question is acknowledged when its run has ended, so if this
process dies, another one gets the question: it reads the run's records and continues after them. A message that cannot be read
is set aside; any exception that is not a Failure is a bug and ends the run with an error.
"""

import asyncio
import contextlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import msgspec
import nats.errors
from msgspec import UNSET, UnsetType
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.delivery.actor import Actor, Taken
from bus.delivery.admission import Admission, Overloaded
from bus.delivery.elsewhere import announce
from bus.delivery.execution import Services, check_bound, execute, outputs_of
from bus.delivery.graph import Graph
from bus.delivery.joins import joined
from bus.delivery.memory import Ended, Events, Later, RunMemory
from bus.journal.access import Groups, access_in, access_key
from bus.journal.canary import check_canary
from bus.journal.deadlines import deadline_of
from bus.journal.journal import Journal
from bus.journal.packing import unpack
from bus.journal.records import (
    CAUSE,
    DEADLINE,
    TRACEPARENT,
    VIA,
    Record,
    Stage,
    decode,
    encode,
    only_while_there,
)
from bus.powers.asking import Answer, AskClient
from bus.powers.events import Done, Emitter, Error, EventStore, Queued, Superseded
from bus.powers.searching import SearchClient
from bus.runs.story import RunStory
from bus.transport.connection import Inbox
from bus.transport.envelope import Place, set_aside
from bus.transport.settings import BusSettings
from bus.wire.errors import Failure, Invalid, Poison
from bus.wire.messages import MAIN, Message, QuestionAsked, RunFinished, Settled, lane_of, words_asked
from bus.wire.requests import parse_question
from bus.wire.subjects import POISON, BadId, Key, finished, is_canary, key_of, run_filters
from prompts.vocabulary import Reason, Unrun

log = logging.getLogger("groundwire.actors")

#: How many finished runs to remember; the oldest are forgotten first, and the journal still knows them.
REMEMBERED = 50_000
#: An end that was heard of is stored within so long, in seconds, or not at all.
STORED_S = 2.0

#: How much of a message that cannot be read is kept: with its headers it must still fit into the stream.
MOST_ASIDE_BYTES = 900_000

#: What to answer the server about a message. A nak'ed message is redelivered.
type Verdict = Literal["ack", "nak", "term"]
type Answers = Callable[[Answer], Answer]

#: How many questions of an urgency wait in this process; the server keeps the others and sends them again.
WAITING_ROOM = 1000


@dataclass(frozen=True, slots=True)
class Step:
    """An actor, and the record or the lanes that it takes. `attempt`: from 2 on, it may have taken them before.

    `early`: its work, begun while its record was being stored.
    """

    actor: Actor
    key: Key
    sequence: int
    taken: Taken
    attempt: int
    early: asyncio.Task[tuple[tuple[Message, ...], Stage]] | None = None


@dataclass(frozen=True, slots=True)
class Written:
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
    began: float = field(default_factory=time.monotonic)
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


class WaitingRoomFull(Exception):
    """The question is to be delivered again later."""


class Handling:
    """Handles deliveries. `bugs` collects exceptions that are not a Failure."""

    def __init__(
        self,
        client: Client,
        inbox: Inbox,
        graph: Graph,
        settings: BusSettings,
        intake: Admission,
        *,
        ungranted: Groups = None,
        answer: Answers | None = None,
    ) -> None:
        """`ungranted`: what a question sees that no key asked. `answer`: what answers asks, given what asks over the bus."""
        self.client = client
        self.journal = Journal(client, inbox)
        self.graph = graph
        self.settings = settings
        self.bugs: list[BaseException] = []
        self._ungranted = ungranted
        over_bus = AskClient(client, inbox)
        self._ask = answer(over_bus) if answer else over_bus
        #: The runs that this process has seen from their question to their end.
        self.stories: Ended[RunStory] = Ended()
        self._events: Ended[Events] = Ended()
        self._over: OrderedDict[str, float | None] = OrderedDict()  # when an end was heard of; None once it is stored
        self.intake = intake

    def run_over(self, run_id: str) -> None:
        """Drop all remaining work of that run, if the end that was heard of is stored."""
        self.intake.leave(run_id)
        self._over[run_id] = time.monotonic()
        if len(self._over) > REMEMBERED:
            self._over.popitem(last=False)

    async def is_over(self, run_id: str) -> bool:
        """Whether the run has an end. What was heard was sent to the journal, which may have refused it or had no room.

        Raises Superseded while it may still be on its way, and Unavailable.
        """
        if run_id not in self._over:
            return False
        heard_at = self._over[run_id]
        if heard_at is None:
            return True
        if await self.journal.latest([finished(run_id).subject]):
            self._over[run_id] = None
            return True
        if time.monotonic() - heard_at < STORED_S:
            raise Superseded("the end of the run is not stored yet")
        self._over.pop(run_id, None)
        return False

    async def cancel(self, run_id: str) -> None:
        """End a run because its client asked for it."""
        try:
            asked = await self.journal.latest([key_of(QuestionAsked, run_id).subject])
        except (BadId, Failure):
            return
        if asked:
            question = ""
            with contextlib.suppress(Poison):
                question = words_asked(asked[0].message)
            with contextlib.suppress(Failure):  # the canceller has written the end as well
                await self._finish(run_id, Settled(outcome="cancelled", question=question))

    async def refuse_id(self, subject: str, error: BadId) -> Verdict:
        """Answer a question under an id that no run can have: its events are the error; it has no record."""
        emitter = Emitter(self.journal, subject.rpartition(".")[2])
        try:
            await emitter.events(Error(code="bad_id", content=str(error)), Done())
        except (Superseded, Failure) as problem:
            log.warning("%.120s: %s", subject, problem)
            return "term" if isinstance(problem, Superseded) else "nak"
        return "term"

    async def handle(self, delivery: Delivery) -> Verdict:
        """Do the work and return the answer for the server, after every outcome."""
        run_id = delivery.key.run_id
        try:
            await self._handle(delivery)
        except Superseded as gone:
            log.info("%s: %s", _name(delivery), gone)
            return "nak"
        except WaitingRoomFull:
            delivery.later_s = max(10.0, (delivery.deadline - time.time()) / 20)  # `max_deliver` is above 20
            return "nak"
        except Overloaded as refusal:
            await self._fail(delivery, str(refusal), unrun="overloaded", retry_after_s=refusal.retry_after_s)
        except Failure as failure:
            log.warning("%s %s: %s; trying again", _name(delivery), run_id, failure)
            return "nak"
        except Poison as poison:
            await self._keep_aside(delivery, poison)
            return "term"
        except asyncio.CancelledError:
            raise
        except BaseException as bug:
            log.exception("%s %s: a bug", _name(delivery), run_id)
            self.bugs.append(bug)
            await self._fail(delivery, f"internal error in {_name(delivery)}: {type(bug).__name__}")
            return "term"
        return "ack"

    async def _handle(self, delivery: Delivery) -> None:
        actor, key = delivery.actor, delivery.key
        if actor.takes is RunFinished:
            message = decode(key.type, delivery.raw.data)
            delivery.deadline = self._deadline(delivery, message)
            await self._execute(delivery, Step(actor, key, delivery.sequence, message, delivery.attempt))
            return
        if await self.is_over(key.run_id):
            return
        question = await self._question(delivery)
        delivery.deadline = self._deadline(delivery, question)
        first = Step(actor, key, delivery.sequence, question, delivery.attempt)
        if not await self._in_time(delivery):
            return
        await self._admit(delivery, question)
        behind = (key.subject, delivery.sequence) if self.journal.in_cluster else None
        names = [finished(key.run_id).subject, access_key(key.run_id).subject]
        known = await self.journal.latest(names if delivery.attempt == 1 else run_filters(key.run_id), behind=behind)
        delivery.before = {record.key.subject: record for record in known}
        if (
            names[0] in delivery.before
        ):  # the client has withdrawn the question before it was stored, or an earlier delivery ended it
            self.intake.forget(key.run_id)
            return
        if not delivery.from_edge and not is_canary(key.run_id):
            await announce(self.client, key.run_id, delivery.raw.data)
        access = access_in(known)
        delivery.groups = self._ungranted if access is None else access.groups
        delivery.memory = RunMemory(
            Events(self.journal), delivery.place.time, delivery.raw.headers or {}, messages=[question]
        )
        await self._go_on(delivery, first)

    async def _in_time(self, delivery: Delivery) -> bool:
        """Whether the run's deadline is still to come; else the run is ended."""
        if time.time() <= delivery.deadline:
            return True
        await self._fail(delivery, "", reason="timeout")
        return False

    async def _go_on(self, delivery: Delivery, step: Step) -> None:
        """Take this step and all that follow from it; lanes go side by side, and the last to arrive goes on with their join."""
        following = [step]
        while len(following) == 1:
            (step,) = following
            try:
                following = await self._step(delivery, step)
            except BaseException:
                delivery.failed = delivery.failed or step
                raise
        lanes = [asyncio.ensure_future(self._go_on(delivery, each)) for each in following]
        try:
            await asyncio.gather(*lanes)
        finally:
            for lane in lanes:
                lane.cancel()
            await asyncio.gather(*lanes, return_exceptions=True)

    async def _step(self, delivery: Delivery, step: Step) -> list[Step]:
        """Take a step, unless an earlier delivery has; the steps that follow."""
        if not await self._in_time(delivery):
            return []
        written = self._done_before(delivery, step)
        early = None
        if not written:
            outputs, stage = await (step.early or self._execute(delivery, step))
            writing = asyncio.create_task(self._write(delivery, step, outputs, stage))
            early = self._begin_next(delivery, step, outputs, writing)
            try:
                written = await writing
            except BaseException:
                if early is not None:
                    early.cancel()
                raise
            if early is not None and written[0].attempt > 1:  # another record was there first
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
        """Begin the next stage while its record is being stored, which takes longer than most stages."""
        if len(outputs) != 1 or step.attempt > 1:
            return None
        following = self.graph.consumers(type(outputs[0]))
        if len(following) != 1 or following[0].joins or following[0].takes is RunFinished:
            return None
        key = key_of(type(outputs[0]), step.key.run_id, lane_of(outputs[0]))
        work = self._execute(delivery, Step(following[0], key, 0, outputs[0], 1), after=writing)
        early = asyncio.create_task(work, name=f"{following[0].name}, early")
        early.add_done_callback(lambda task: task.cancelled() or task.exception())  # may never be awaited
        return early

    async def _execute(
        self, delivery: Delivery, step: Step, after: asyncio.Task[list[Written]] | None = None
    ) -> tuple[tuple[Message, ...], Stage]:
        """The outputs of the step's actor, and how they were made. `after`: what must be stored before it shows anything."""
        actor, memory = step.actor, delivery.memory
        events: EventStore = memory.events if memory else self._events.take(step.key.run_id) or Events(self.journal)
        events = events if after is None else Later(events, after)
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

    async def _question(self, delivery: Delivery) -> QuestionAsked:
        """The question, checked here for every client: a header that names an edge can be forged. Raises Invalid, Unavailable."""
        if is_canary(delivery.key.run_id):
            await check_canary(self.journal, delivery.key.run_id)
        return parse_question(unpack(delivery.raw.data))

    async def _admit(self, delivery: Delivery, question: QuestionAsked) -> None:
        """Wait until the question may begin, unless an edge has admitted it. Raises Overloaded, WaitingRoomFull."""
        run_id = delivery.key.run_id
        if delivery.from_edge or is_canary(run_id):  # readiness must know even while many questions wait
            return
        if self.intake.waiting(question.priority) >= WAITING_ROOM:
            raise WaitingRoomFull

        async def position(place: int) -> None:
            with contextlib.suppress(nats.errors.Error):
                await Emitter(self.journal, run_id, everything=True).aside(Queued(position=place))

        reported = position if question.events == "all" else None
        await self.intake.enter(run_id, question, delivery.deadline - time.time(), position=reported)

    def _deadline(self, delivery: Delivery, message: Message) -> float:
        own = message.deadline_s if isinstance(message, QuestionAsked) else None
        return deadline_of(delivery.raw.headers or {}, delivery.place.time, own, self.settings)

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
            self._remember(delivery, Record(key, 0, time.time(), b"", headers), output, stage if n == 0 else None)
            sequence = await self.journal.write(key, output, stage=stage if n == 0 else None, headers=headers)
            if sequence is not None:
                written.append(Written(key, sequence, output))
            else:
                self.stories.take(run_id)
                written += [_again(record, 2) for record in await self.journal.latest([key.subject])]
        return written

    def _remember(self, delivery: Delivery, record: Record, output: Message, stage: Stage | None) -> None:
        """Keep what is written, before the news of it; a run that another process began is read back."""
        memory, run_id = delivery.memory, record.key.run_id
        if memory is None:
            return
        memory.add(record, output, stage)
        if isinstance(output, RunFinished):
            self._events.add(run_id, memory.events)
            if delivery.attempt == 1:
                self.stories.add(run_id, memory.story(run_id, output, record.time))

    async def _keep_aside(self, delivery: Delivery, poison: Poison) -> None:
        """Leave the message in the journal as it is and end its run with an error instead of silence."""
        step = delivery.failed
        at, taken = (step.key, step.taken) if step else (delivery.key, None)
        set_aside("message", at.subject, poison)
        key = Key(POISON, at.run_id, f"{at.type}-{at.lane}"[:64])
        data = encode(taken) if isinstance(taken, Message) and at != delivery.key else delivery.raw.data
        data = data[:MOST_ASIDE_BYTES]
        headers = {CAUSE: str(delivery.sequence), **only_while_there(delivery.key, delivery.sequence)}
        await self.journal.publish(key.subject, data, headers=headers)
        invalid = poison.code if isinstance(poison, Invalid) else None
        await self._fail(delivery, str(poison), invalid=invalid)

    async def _fail(
        self,
        delivery: Delivery,
        detail: str,
        *,
        reason: Reason | None = None,
        unrun: Unrun | UnsetType = UNSET,
        invalid: str | None = None,
        retry_after_s: int | UnsetType = UNSET,
    ) -> None:
        """`invalid`: the code of the fault in the question."""
        delivery.ending = True
        question = ""
        with contextlib.suppress(Poison):
            question = words_asked(decode(delivery.key.type, delivery.raw.data))
        settled = Settled(
            outcome="failed", reason=reason, detail=detail, question=question, unrun=unrun, retry_after_s=retry_after_s
        )
        if invalid is not None:
            settled = msgspec.structs.replace(settled, unrun="invalid", code=invalid)
        await self._finish(delivery.key.run_id, settled, only_while_there(delivery.key, delivery.sequence))

    async def _finish(self, run_id: str, settled: Settled, headers: dict[str, str] | None = None) -> None:
        await self.journal.write(finished(run_id), RunFinished(settled=settled), headers=headers)


def _again(record: Record, attempt: int) -> Written:
    return Written(record.key, record.sequence, record.message, attempt)


def _name(delivery: Delivery) -> str:
    """The actor at work."""
    return (delivery.failed.actor if delivery.failed else delivery.actor).name
