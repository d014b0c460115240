"""Handle one message: skip it if its run is over or its output exists, else run its actor and write the result.

A message that cannot be read is set aside; any exception that is not a Failure is a bug and ends the run with an error.
"""

import asyncio
import contextlib
import logging
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.delivery.actor import Actor, Taken
from bus.delivery.admission import Admission, Overloaded
from bus.delivery.execution import Services, check_bound, execute, outputs_of
from bus.delivery.graph import Graph
from bus.delivery.joins import joined
from bus.delivery.limit import Limit
from bus.journal.access import Groups, access_of
from bus.journal.canary import check_canary
from bus.journal.deadlines import deadline_of
from bus.journal.journal import Journal
from bus.journal.packing import unpack
from bus.journal.records import CAUSE, DEADLINE, TRACEPARENT, VIA, Stage, decode, only_while_there
from bus.powers.asking import AskClient
from bus.powers.events import Done, Emitter, Error, Superseded
from bus.powers.searching import SearchClient
from bus.transport.connection import Inbox
from bus.transport.envelope import Place, set_aside
from bus.transport.settings import BusSettings
from bus.wire.errors import Failure, Invalid, Poison
from bus.wire.messages import MAIN, Message, QuestionAsked, RunFinished, Settled, lane_of, words_asked
from bus.wire.requests import parse_question
from bus.wire.subjects import POISON, BadId, Key, finished, is_canary, key_of
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

#: How many questions of an urgency wait in this process; the server keeps the others and sends them again.
WAITING_ROOM = 1000
#: How many times as long as alone a run may take before questions wait here. Questions of an edge have waited there, for less.
SLACK = 3.0


@dataclass(slots=True, eq=False)
class Delivery:
    """One message on its way through one actor, in its own task.

    `again`: its consumer was made again, so it may have been handled before. `ending`: this work ends its own run, so the news
    of that end must not cancel it before it has settled its message. `later_s`: after how long a nak'ed message comes again.
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
        self, client: Client, inbox: Inbox, graph: Graph, settings: BusSettings, *, ungranted: Groups = None
    ) -> None:
        """`ungranted`: what a question sees that no key asked."""
        self.client = client
        self.journal = Journal(client, inbox)
        self.graph = graph
        self.settings = settings
        self.bugs: list[BaseException] = []
        self._ungranted = ungranted
        self._ask = AskClient(client, inbox)
        self._over: OrderedDict[str, float | None] = OrderedDict()  # when an end was heard of; None once it is stored
        self.intake = Admission(Limit(slack=SLACK, least=8, first=16, probes=False), brief=False)

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
        name, run_id = delivery.actor.name, delivery.key.run_id
        try:
            await self._handle(delivery)
        except Superseded as gone:
            log.info("%s: %s", name, gone)
            return "nak"
        except WaitingRoomFull:
            delivery.later_s = max(10.0, (delivery.deadline - time.time()) / 20)  # `max_deliver` is above 20
            return "nak"
        except Overloaded as refusal:
            await self._fail(delivery, str(refusal), unrun="overloaded")
        except Failure as failure:
            log.warning("%s %s: %s; trying again", name, run_id, failure)
            return "nak"
        except Poison as poison:
            await self._keep_aside(delivery, poison)
            return "term"
        except asyncio.CancelledError:
            raise
        except BaseException as bug:
            log.exception("%s %s: a bug", name, run_id)
            self.bugs.append(bug)
            await self._fail(delivery, f"internal error in {name}: {type(bug).__name__}")
            return "term"
        return "ack"

    async def _handle(self, delivery: Delivery) -> None:
        actor, key = delivery.actor, delivery.key
        closes = actor.takes is RunFinished
        if not closes and await self.is_over(key.run_id):
            return
        message = (
            decode(key.type, delivery.raw.data) if actor.takes is not QuestionAsked else await self._question(delivery)
        )
        delivery.deadline = self._deadline(delivery, message)
        if not closes and time.time() > delivery.deadline:
            await self._fail(delivery, "", reason="timeout")
            return
        if isinstance(message, QuestionAsked) and not await self._admit(delivery, message):
            return
        if delivery.attempt > 1 and await self._done_before(actor, key):
            return
        taken: Taken = message
        if actor.joins:
            asked = [key_of(type(message), key.run_id, "*").subject]
            lanes = await self.journal.latest(asked, behind=(asked[0], delivery.sequence))
            taken = tuple(record.message for record in joined(lanes, message, delivery.sequence))
            if not taken:
                return
        services = Services(self._ask, SearchClient(self.client, delivery.deadline), self.journal)
        result, stage = await execute(
            actor,
            taken,
            key,
            services,
            deadline=delivery.deadline,
            attempt=delivery.attempt,
            began=delivery.began,
            groups=await self._groups(delivery) if "search" in actor.powers else None,
        )
        if stage.fallback:
            log.warning("%s %s: %s; its fallback answers", actor.name, key.run_id, stage.fallback)
        await self._write(delivery, outputs_of(actor, result), stage)

    async def _question(self, delivery: Delivery) -> QuestionAsked:
        """The question, checked here for every client: a header that names an edge can be forged. Raises Invalid, Unavailable."""
        if is_canary(delivery.key.run_id):
            await check_canary(self.journal, delivery.key.run_id)
        return parse_question(unpack(delivery.raw.data))

    async def _groups(self, delivery: Delivery) -> Groups:
        """The groups of documents that the run may find. Raises Unavailable."""
        behind = (delivery.key.subject, delivery.sequence)
        access = await access_of(self.journal, delivery.key.run_id, behind=behind)
        return self._ungranted if access is None else access.groups

    async def _admit(self, delivery: Delivery, question: QuestionAsked) -> bool:
        """Wait until the question may begin, unless an edge has admitted it. False: its run has ended.

        The client may have withdrawn the question before it was stored; the end of the run then follows it in the journal.
        Raises Overloaded, WaitingRoomFull.
        """
        run_id, urgency, left_s = delivery.key.run_id, question.priority, delivery.deadline - time.time()
        if is_canary(run_id):  # readiness must know even while many questions wait
            return True
        if delivery.from_edge:
            self.intake.count(run_id, urgency, left_s)
        elif self.intake.waiting(urgency) >= WAITING_ROOM:
            raise WaitingRoomFull
        else:
            await self.intake.enter(run_id, urgency, left_s)
        if await self.journal.latest([finished(run_id).subject]):
            self.intake.forget(run_id)
            return False
        return True

    def _deadline(self, delivery: Delivery, message: Message) -> float:
        own = message.deadline_s if isinstance(message, QuestionAsked) else None
        return deadline_of(delivery.raw.headers or {}, delivery.place.time, own, self.settings)

    async def _done_before(self, actor: Actor, key: Key) -> bool:
        """Whether an earlier delivery has already written the output. Fan-outs and joins are written again, key by key."""
        if actor.fans_out or actor.joins or not actor.gives:
            return False
        outputs = [key_of(given, key.run_id, lane).subject for given in actor.gives for lane in (key.lane, MAIN)]
        return bool(await self.journal.latest([*dict.fromkeys(outputs), finished(key.run_id).subject]))

    async def _write(self, delivery: Delivery, outputs: tuple[Message, ...], stage: Stage) -> None:
        """Write the actor's output, each key once."""
        actor, run_id = delivery.actor, delivery.key.run_id
        if any(isinstance(output, self.graph.again(actor)) for output in outputs):
            written = await self.journal.latest(
                [key_of(t, run_id, "*").subject for t in self.graph.again(actor)],
                behind=(delivery.key.subject, delivery.sequence),
            )
            check_bound(self.graph, actor, outputs, written, delivery.sequence)
        headers = {DEADLINE: f"{delivery.deadline:.3f}", CAUSE: str(delivery.sequence)}
        headers |= only_while_there(delivery.key, delivery.sequence)
        if trace := (delivery.raw.headers or {}).get(TRACEPARENT):
            headers[TRACEPARENT] = trace
        for n, output in enumerate(outputs):
            key = key_of(type(output), run_id, lane_of(output))
            await self.journal.write(key, output, stage=stage if n == 0 else None, headers=headers)

    async def _keep_aside(self, delivery: Delivery, poison: Poison) -> None:
        """Leave the message in the journal as it is and end its run with an error instead of silence."""
        set_aside("message", delivery.key.subject, poison)
        key = Key(POISON, delivery.key.run_id, f"{delivery.key.type}-{delivery.key.lane}"[:64])
        data = delivery.raw.data[:MOST_ASIDE_BYTES]
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
    ) -> None:
        """`invalid`: the code of the fault in the question."""
        delivery.ending = True
        question = ""
        with contextlib.suppress(Poison):
            question = words_asked(decode(delivery.key.type, delivery.raw.data))
        settled = Settled(outcome="failed", reason=reason, detail=detail, question=question, unrun=unrun)
        if invalid is not None:
            settled = msgspec.structs.replace(settled, unrun="invalid", code=invalid)
        await self._finish(delivery.key.run_id, settled, only_while_there(delivery.key, delivery.sequence))

    async def _finish(self, run_id: str, settled: Settled, headers: dict[str, str] | None = None) -> None:
        await self.journal.write(finished(run_id), RunFinished(settled=settled), headers=headers)
