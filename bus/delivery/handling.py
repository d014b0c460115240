"""Handle one message: a question with the whole run that follows from it (`stages`), or the end of a run.

The question is acknowledged when its run has ended, so if this process dies, another one gets the question: it reads the run's
records and continues after them. A message that cannot be read is set aside; any exception that is not a Failure is a bug and ends
the run with an error.
"""

import asyncio
import contextlib
import logging
import time
from typing import Literal

import msgspec
import nats.errors
from cachetools import FIFOCache
from nats.aio.client import Client

from bus.delivery.admission import Admission, Overloaded
from bus.delivery.elsewhere import announce
from bus.delivery.graph import Graph
from bus.delivery.memory import Events, RunMemory
from bus.delivery.stages import Delivery, Stages, Step, TooLate, check_time
from bus.journal.access import Groups, access_in, access_key
from bus.journal.canary import check_canary
from bus.journal.journal import Journal
from bus.journal.records import CAUSE, deadline_of, decode, encode, only_while_there, unpack
from bus.powers.asking import Answer, AskClient
from bus.powers.events import Done, Emitter, Error, Queued, Superseded
from bus.runs.story import story_of
from bus.transport.envelope import set_aside
from bus.transport.settings import BusSettings
from bus.wire.errors import Failure, Invalid, Poison
from bus.wire.messages import Message, QuestionAsked, RunFinished, words_asked
from bus.wire.requests import parse_question
from bus.wire.settled import Settled
from bus.wire.subjects import POISON, BadId, Key, finished, is_canary, key_of, run_filters

log = logging.getLogger("groundwire.actors")

#: How many finished runs to remember; the oldest are forgotten first, and the journal still knows them.
REMEMBERED = 50_000
#: An end that was heard of is stored within so long, in seconds, or not at all.
STORED_S = 2.0

#: How much of a message that cannot be read is kept: with its headers it must still fit into the stream.
MOST_ASIDE_BYTES = 900_000

#: What nats-server is told about a message. A nak'ed message is redelivered.
type Ack = Literal["ack", "nak", "term"]

#: How many questions of an urgency wait in this process; the server keeps the others and sends them again.
WAITING_ROOM = 1000


class WaitingRoomFull(Exception):
    """The question is to be delivered again later."""


class Handling:
    """Handles deliveries. `bugs` collects exceptions that are not a Failure."""

    def __init__(
        self,
        client: Client,
        graph: Graph,
        settings: BusSettings,
        intake: Admission,
        *,
        ungranted: Groups = None,
        answer: Answer | None = None,
    ) -> None:
        """`ungranted`: what a question sees that no key asked. `answer`: what answers asks, instead of the inference process."""
        self.client = client
        self.journal = Journal(client)
        self.settings = settings
        self.bugs: list[BaseException] = []
        self._ungranted = ungranted
        self.stages = Stages(self.journal, graph, answer or AskClient(client))
        # When an end was heard of; None once it is stored.
        self._over: FIFOCache[str, float | None] = FIFOCache(REMEMBERED)
        self.intake = intake

    def run_over(self, run_id: str) -> None:
        """Drop all remaining work of that run, if the end that was heard of is stored."""
        self.intake.leave(run_id)
        self._over[run_id] = time.monotonic()

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

    async def refuse_id(self, subject: str, error: BadId) -> Ack:
        """Answer a question under an id that no run can have: its events are the error; it has no record."""
        emitter = Emitter(self.journal, subject.rpartition(".")[2])
        try:
            await emitter.events(Error(code="bad_id", content=str(error)), Done())
        except (Superseded, Failure) as problem:
            log.warning("%.120s: %s", subject, problem)
            return "term" if isinstance(problem, Superseded) else "nak"
        return "term"

    async def handle(self, delivery: Delivery) -> Ack:
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
        except TooLate:
            await self._fail(delivery, Settled(outcome="failed", reason="timeout"))
        except Overloaded as refusal:
            settled = Settled(
                outcome="failed", detail=str(refusal), unrun="overloaded", retry_after_s=refusal.retry_after_s
            )
            await self._fail(delivery, settled)
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
            detail = f"internal error in {_name(delivery)}: {type(bug).__name__}"
            await self._fail(delivery, Settled(outcome="failed", detail=detail))
            return "term"
        return "ack"

    async def _handle(self, delivery: Delivery) -> None:
        actor, key = delivery.actor, delivery.key
        if actor.takes is RunFinished:
            message = decode(key.type, delivery.raw.data)
            delivery.deadline = self._deadline(delivery, message)
            await self.stages.execute(delivery, Step(actor, key, delivery.sequence, message, delivery.attempt))
            return
        if await self.is_over(key.run_id):
            return
        question = await self._question(delivery)
        delivery.deadline = self._deadline(delivery, question)
        check_time(delivery)
        await self._admit(delivery, question)
        behind = (key.subject, delivery.sequence) if self.journal.in_cluster else None
        names = [finished(key.run_id).subject, access_key(key.run_id).subject]
        known = await self.journal.latest(names if delivery.attempt == 1 else run_filters(key.run_id), behind=behind)
        delivery.before = {record.key.subject: record for record in known}
        if names[0] in delivery.before:  # withdrawn before it was stored, or ended by an earlier delivery
            self.intake.forget(key.run_id)
            return
        if not delivery.from_edge and not is_canary(key.run_id):
            await announce(self.client, key.run_id, delivery.raw.data)
        access = access_in(known)
        delivery.groups = self._ungranted if access is None else access.groups
        before = story_of(known)  # empty in the first delivery
        messages = list(before.messages) or [question]
        stages = list(before.stages)
        delivery.memory = RunMemory(
            Events(self.journal), delivery.place.time, delivery.raw.headers or {}, messages, stages
        )
        await self.stages.go_on(delivery, Step(actor, key, delivery.sequence, question, delivery.attempt))

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
        settled = Settled(outcome="failed", detail=str(poison))
        if isinstance(poison, Invalid):
            settled = msgspec.structs.replace(settled, unrun="invalid", code=poison.code)
        await self._fail(delivery, settled)

    async def _fail(self, delivery: Delivery, settled: Settled) -> None:
        """End the delivery's run so, with the words of its question if they can be read."""
        delivery.ending = True
        with contextlib.suppress(Poison):
            question = words_asked(decode(delivery.key.type, delivery.raw.data))
            settled = msgspec.structs.replace(settled, question=question)
        await self._finish(delivery.key.run_id, settled, only_while_there(delivery.key, delivery.sequence))

    async def _finish(self, run_id: str, settled: Settled, headers: dict[str, str] | None = None) -> None:
        await self.journal.write(finished(run_id), RunFinished(settled=settled), headers=headers)


def _name(delivery: Delivery) -> str:
    return (delivery.failed.actor if delivery.failed else delivery.actor).name
