"""Deliver questions and ends of runs to actors: the one place that knows acks and heartbeats.

The actors that take questions or ends each have a durable consumer; the stages between them follow in the same process, in the
same task. Heartbeats keep the server from redelivering a run to another process, and news that a run is over cancels its task.
"""

import asyncio
import contextlib
import logging
import time
from collections import defaultdict

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import AckPolicy as JsAck
from nats.js.api import ConsumerConfig, DeliverPolicy

from bus.delivery.actor import Actor
from bus.delivery.admission import Admission
from bus.delivery.elsewhere import count_elsewhere, look
from bus.delivery.graph import Graph
from bus.delivery.handling import Ack, Handling
from bus.delivery.pulling import Pull
from bus.delivery.stages import Delivery, Stages
from bus.delivery.subscribing import Bound, Subscriptions
from bus.journal.access import Groups
from bus.journal.journal import Journal
from bus.powers.asking import Answer
from bus.powers.events import Superseded
from bus.transport.connection import forget_unsent, take
from bus.transport.envelope import Frame, place_of, set_aside
from bus.transport.health import Watch
from bus.transport.restoring import Restorer
from bus.transport.settings import BusSettings
from bus.wire.errors import Failure, Unavailable
from bus.wire.messages import QuestionAsked, RunFinished
from bus.wire.subjects import CANCEL, BadId, consumed_subject, key_of, parse

log = logging.getLogger("groundwire.actors")

#: How many questions or ends a process has in hand, of which some wait for their turn, and how many all processes have.
SLOTS = 4096
PENDING = 100_000


class Worker:
    """The pipeline in one process. `bugs` collects exceptions that are not a Failure: tests require it to be empty."""

    def __init__(
        self,
        graph: Graph,
        settings: BusSettings,
        *,
        ungranted: Groups = None,
        answer: Answer | None = None,
        intake: Admission | None = None,
        subscriptions: Subscriptions | None = None,
    ) -> None:
        """`ungranted`: what a question sees that no key asked. `answer`: what answers asks, instead of the inference process.

        `intake`: admits the questions published on NATS. `subscriptions`: FastStream's by default.
        """
        self.graph = graph
        self.settings = settings
        self._answer = answer
        self._subscriptions = subscriptions or _declared(settings)
        self._ungranted = ungranted
        self.intake = intake or Admission()
        self._handling: Handling
        self._in_flight: dict[str, set[Delivery]] = defaultdict(set)
        self._cancelling: set[asyncio.Task[None]] = set()
        self.watch = Watch()
        self._pulls: dict[str, Pull] = {}
        self._restorer: Restorer
        self._stopping = False

    # ------------------------------------------------------------ start and stop

    async def start(self) -> None:
        """Bind the first and the last actors to their durable consumers and begin. The streams must exist. Raises Unavailable."""
        client = await self._subscriptions.connect()
        self._handling = Handling(
            client, self.graph, self.settings, self.intake, ungranted=self._ungranted, answer=self._answer
        )
        await count_elsewhere(client, self.intake, self.settings.deadline_s)
        await take(client, f"{key_of(RunFinished, '*').subject.rpartition('.')[0]}.*", self._run_over)
        await client.subscribe(f"{CANCEL}.*", cb=self._cancelled)
        taking = (*self.graph.consumers(QuestionAsked), *self.graph.consumers(RunFinished))
        bounds = [self._bound(each) for each in taking]
        consumers = {each.name: each.config for each in bounds}
        self._restorer = Restorer(client, self.settings, consumers, self._lost, self._made_again)
        await self._restorer.start()
        try:
            self._pulls = await self._subscriptions.pull(bounds, self.watch)
        except (nats.errors.Error, TimeoutError) as error:
            raise Unavailable(f"the actors cannot be bound to their consumers yet ({error})") from None
        self.watch.keep("heartbeats", self._heartbeats)
        self.watch.keep("the look for ends", lambda: look(self.intake, self.journal))
        self.watch.keep("the look at streams and consumers", self._restorer.run)

    async def stop(self) -> None:
        """Take no new messages, finish those in flight, close."""
        self._stopping = True
        await self.watch.stop()
        pending = [delivery.task for deliveries in self._in_flight.values() for delivery in deliveries]
        pending += self._cancelling
        if pending:
            await asyncio.wait(pending, timeout=5.0)
        try:
            await self._subscriptions.stop()
        except nats.errors.Error:  # the server is away, so nothing can be drained
            forget_unsent(self.client)
            await self.client.close()

    @property
    def bugs(self) -> list[BaseException]:
        return self._handling.bugs

    @property
    def journal(self) -> Journal:
        return self._handling.journal

    def health(self) -> dict[str, object]:
        """The report on this process, without its background tasks."""
        failure = self.journal.failure
        return {"ready": not failure, "detail": failure or f"{len(self.graph.actors)} actors"}

    @property
    def stages(self) -> Stages:
        return self._handling.stages

    @property
    def client(self) -> Client:
        return self._handling.client

    def _bound(self, bound: Actor) -> Bound:
        slots = asyncio.Semaphore(SLOTS)

        async def deliver(raw: Msg) -> None:
            await slots.acquire()
            try:
                key = parse(raw.subject)
                if (place := place_of(raw.reply)) is None:
                    raise BadId(f"{raw.reply[:80]!r} names no place in the stream")
            except BadId as error:
                set_aside("subject", raw.subject, error)
                await _settle(
                    raw, await self._handling.refuse_id(raw.subject, error) if bound.takes is QuestionAsked else "term"
                )
                slots.release()
                return
            again = place.sequence <= self._restorer.handled_up_to.get(bound.name, 0)
            delivery = Delivery(bound, key, raw, place, again)
            run_id = delivery.key.run_id
            self._restorer.due.set()
            self._in_flight[run_id].add(delivery)
            delivery.task = asyncio.create_task(self._deliver(delivery))

            def done(_: asyncio.Task[None]) -> None:
                slots.release()
                self._in_flight[run_id].discard(delivery)
                if not self._in_flight[run_id]:
                    del self._in_flight[run_id]

            delivery.task.add_done_callback(done)

        config = ConsumerConfig(
            name=bound.name,
            durable_name=bound.name,
            filter_subject=consumed_subject(bound.takes),
            deliver_policy=DeliverPolicy.ALL,
            ack_policy=JsAck.EXPLICIT,
            ack_wait=self.settings.ack_wait_s,
            max_deliver=self.settings.max_deliver,
            max_ack_pending=PENDING,
        )
        return Bound(bound.name, config, deliver)

    def _lost(self, name: str) -> None:
        if name in self._pulls:
            self._pulls[name].lost()

    def _made_again(self, name: str) -> None:
        if name in self._pulls:
            self._pulls[name].begin_again()

    # ------------------------------------------------------------ what happens elsewhere

    def _run_over(self, frame: Frame) -> None:
        run_id = frame[0].decode(errors="replace").split(".")[2]
        self._handling.run_over(run_id)
        for delivery in tuple(self._in_flight.get(run_id, ())):
            # Work that ends the run itself, or handles its end, must settle its own message first.
            if not delivery.ending and delivery.actor.takes is not RunFinished:
                delivery.task.cancel()

    async def _cancelled(self, msg: Msg) -> None:
        # Not here: closing waits for this work, and takes away the replies that this work waits for.
        task = asyncio.create_task(self._handling.cancel(msg.subject.rpartition(".")[2]))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)

    async def _heartbeats(self) -> None:
        while True:
            await asyncio.sleep(self.settings.heartbeat_s)
            now = time.monotonic()
            for delivery in [each for deliveries in self._in_flight.values() for each in deliveries]:
                if now - delivery.beat >= self.settings.heartbeat_s / 2:
                    delivery.beat = now
                    with contextlib.suppress(nats.errors.Error):
                        await delivery.raw.in_progress()

    # ------------------------------------------------------------ one message

    async def _deliver(self, delivery: Delivery) -> None:
        try:
            try:
                ack = await self._handling.handle(delivery)
            except asyncio.CancelledError:
                if self._stopping:
                    raise
                ack = "ack" if await self._handling.is_over(delivery.key.run_id) else "nak"
        except Superseded:  # the process that ended the run is about to store its end
            ack = "nak"
        except Failure as failure:  # what ends the run could not be written either
            log.warning("%s: %s; trying again", delivery.key.subject, failure)
            ack = "nak"
        await _settle(delivery.raw, ack, delivery.later_s)


async def _settle(raw: Msg, ack: Ack, later_s: float = 0.5) -> None:
    """Acknowledge the message, or send it back. If the acknowledgement is lost, the message is delivered again."""
    with contextlib.suppress(nats.errors.Error, OSError):
        if ack == "ack":
            await raw.ack()
        elif ack == "nak":
            await raw.nak(delay=later_s)
        else:
            await raw.term()


def _declared(settings: BusSettings) -> Subscriptions:
    from bus.delivery.broker import Broker  # which a lone question does without

    return Broker(settings)
