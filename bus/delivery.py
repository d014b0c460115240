"""Deliver messages to actors: the one place that knows FastStream, acks and what happens when something fails.

For each message: skip it when its run is over or its output is there; else call the actor with its powers, write the result once,
ack. A `Failure` goes to the actor's fallback; a message that cannot be read is kept aside; any other exception is a bug that ends
the run with an error. Heartbeats keep long work from being handed to somebody else.
"""

import asyncio
import contextlib
import logging
import time
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import nats.errors
from faststream import AckPolicy
from faststream.nats import JStream, NatsBroker, NatsMessage, PullSub
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import AckPolicy as JsAck
from nats.js.api import ConsumerConfig, DeliverPolicy

from bus.actor import Actor, fall_back
from bus.asking import Asker
from bus.connection import CONNECT_OPTIONS, Inbox, forget_unsent, log_error
from bus.errors import Failure, Poison
from bus.events import Emitter, StageEvent, Superseded
from bus.graph import Graph
from bus.journal import CAUSE, DEADLINE, TRACEPARENT, Journal, Stage, decode
from bus.messages import MAIN, EvidenceSelected, Message, QuestionAsked, RunFinished, Settled, lane_of
from bus.searching import Searcher
from bus.settings import BusSettings
from bus.subjects import CANCEL, POISON, RUNS, BadId, Key, consumed_subject, finished, key_of, parse
from prompts.vocabulary import Priority

log = logging.getLogger("groundwire.actors")

#: Runs that are known to be over; beyond this many the oldest are forgotten, and the journal knows them still.
REMEMBERED = 50_000

_PRIORITIES: dict[str, Priority] = {"answer": "answer", "verify": "check", "guard": "check"}


@dataclass(slots=True)
class Delivery:
    """One message on its way through one actor. `raw` is acked when the work is done."""

    actor: Actor
    key: Key
    raw: Msg
    sequence: int
    attempt: int
    deadline: float
    headers: dict[str, str]
    began: float = field(default_factory=time.monotonic)
    beat: float = field(default_factory=time.monotonic)


class Worker:
    """The actors of one process. `bugs` collects exceptions that are nobody's failure: tests hold it empty."""

    def __init__(self, graph: Graph, settings: BusSettings, *, only: Sequence[str] = ()) -> None:
        self.graph = graph
        self.settings = settings
        self.actors = tuple(a for a in graph.actors if not only or a.name in only)
        self.bugs: list[BaseException] = []
        self._broker = NatsBroker(
            settings.url,
            logger=None,
            apply_types=False,
            graceful_timeout=5.0,
            error_cb=log_error,
            name="groundwire-actors",
            **CONNECT_OPTIONS,
        )
        self._client: Client
        self._inbox: Inbox
        self._journal: Journal
        self._over: OrderedDict[str, None] = OrderedDict()
        self._in_flight: dict[int, Delivery] = {}
        self._tasks: dict[str, set[asyncio.Task[None]]] = defaultdict(set)
        #: Tasks that end their own run: the news of its end must not stop them before they have settled their message.
        self._ending: set[asyncio.Task[None]] = set()
        self._helpers: list[asyncio.Task[None]] = []
        self._stopping = False

    # ------------------------------------------------------------ starting and stopping

    async def start(self) -> None:
        """Bind every actor to its durable and begin. Streams must be there."""
        self._client = await self._broker.connect()
        self._inbox = Inbox(self._client)
        self._journal = Journal(self._client, self._inbox)
        await self._client.subscribe(f"{key_of(RunFinished, '*').subject.rpartition('.')[0]}.*", cb=self._run_over)
        await self._client.subscribe(f"{CANCEL}.*", cb=self._cancelled)
        for each in self.actors:
            self._bind(each)
        await self._broker.start()
        self._helpers = [asyncio.create_task(self._heartbeats())]

    async def stop(self) -> None:
        """Take no more, finish what is in flight, close."""
        self._stopping = True
        for helper in self._helpers:
            helper.cancel()
        pending = [task for tasks in self._tasks.values() for task in tasks]
        if pending:
            await asyncio.wait(pending, timeout=5.0)
        try:
            await self._broker.stop()
        except nats.errors.Error:  # the server is away: nothing can be drained
            forget_unsent(self._client)
            await self._client.close()

    @property
    def journal(self) -> Journal:
        return self._journal

    @property
    def client(self) -> Client:
        return self._client

    @property
    def inbox(self) -> Inbox:
        return self._inbox

    def _bind(self, bound: Actor) -> None:
        slots = asyncio.Semaphore(self.settings.concurrency)

        async def deliver(raw: Msg) -> None:
            await slots.acquire()
            task = asyncio.create_task(self._deliver(bound, raw))
            tokens = raw.subject.split(".")
            run_id = tokens[2] if len(tokens) > 2 else ""
            # A sink of RunFinished must outlive the news that its run is over.
            group = run_id if bound.takes is not RunFinished else ""
            self._tasks[group].add(task)

            def done(finished_task: asyncio.Task[None]) -> None:
                slots.release()
                self._ending.discard(finished_task)
                self._tasks[group].discard(finished_task)
                if not self._tasks[group]:
                    del self._tasks[group]

            task.add_done_callback(done)

        self._broker.subscriber(
            consumed_subject(bound.takes),
            durable=bound.name,
            stream=JStream(RUNS, declare=False),
            pull_sub=PullSub(batch_size=1, timeout=2.0),
            config=ConsumerConfig(
                durable_name=bound.name,
                deliver_policy=DeliverPolicy.ALL,
                ack_policy=JsAck.EXPLICIT,
                ack_wait=self.settings.ack_wait_s,
                max_deliver=self.settings.max_deliver,
                max_ack_pending=1000,
            ),
            ack_policy=AckPolicy.MANUAL,
            no_reply=True,
            decoder=_undecoded,
        )(deliver)

    # ------------------------------------------------------------ what happens elsewhere

    async def _run_over(self, msg: Msg) -> None:
        run_id = msg.subject.split(".")[2]
        self._over[run_id] = None
        if len(self._over) > REMEMBERED:
            self._over.popitem(last=False)
        for task in tuple(self._tasks.get(run_id, ())):
            if task not in self._ending:
                task.cancel()

    async def _cancelled(self, msg: Msg) -> None:
        run_id = msg.subject.rpartition(".")[2]
        try:
            asked = await self._journal.latest([key_of(QuestionAsked, run_id).subject])
        except (BadId, Failure):
            return
        if asked:
            await self._finish(run_id, Settled(outcome="cancelled", question=_question_of(asked[0].message)))

    async def _heartbeats(self) -> None:
        while True:
            await asyncio.sleep(self.settings.heartbeat_s / 2)
            now = time.monotonic()
            for delivery in tuple(self._in_flight.values()):
                if now - delivery.beat >= self.settings.heartbeat_s:
                    delivery.beat = now
                    with contextlib.suppress(nats.errors.Error):
                        await delivery.raw.in_progress()

    # ------------------------------------------------------------ one message

    async def _deliver(self, bound: Actor, raw: Msg) -> None:
        metadata = raw.metadata
        try:
            key = parse(raw.subject)
        except BadId as error:
            log.warning("%s: %s", bound.name, error)
            await self._settle(raw, "term")
            return
        headers = dict(raw.headers or {})
        delivery = Delivery(bound, key, raw, metadata.sequence.stream, metadata.num_delivered or 1, 0.0, headers)
        self._in_flight[id(delivery)] = delivery
        try:
            verdict = await self._handle(delivery)
        except asyncio.CancelledError:
            if self._stopping:
                raise
            verdict = "ack"
        except Superseded as gone:
            log.info("%s: %s", bound.name, gone)
            verdict = "nak"
        except Failure as failure:
            log.warning("%s %s: %s; trying again", bound.name, key.run_id, failure)
            verdict = "nak"
        except Poison as poison:
            await self._keep_aside(delivery, poison)
            verdict = "term"
        except BaseException as bug:
            log.exception("%s %s: a bug", bound.name, key.run_id)
            self.bugs.append(bug)
            await self._fail(delivery, f"internal error in {bound.name}: {type(bug).__name__}")
            verdict = "term"
        finally:
            del self._in_flight[id(delivery)]
        await self._settle(raw, verdict)

    async def _settle(self, raw: Msg, verdict: str) -> None:
        """Ack, nak with a delay, or term. A lost one only means that the message comes again."""
        with contextlib.suppress(nats.errors.Error):
            if verdict == "ack":
                await raw.ack()
            elif verdict == "nak":
                await raw.nak(delay=0.5)
            else:
                await raw.term()

    async def _handle(self, delivery: Delivery) -> str:
        """What to answer the server: ack, nak or term."""
        actor, key = delivery.actor, delivery.key
        is_sink = actor.takes is RunFinished
        if not is_sink and key.run_id in self._over:
            return "ack"
        message = decode(key.type, delivery.raw.data)
        delivery.deadline = self._deadline(delivery, message)
        delivery.headers[DEADLINE] = f"{delivery.deadline:.3f}"
        if not is_sink and time.time() > delivery.deadline:
            await self._fail(delivery, "", reason="timeout")
            return "ack"
        if delivery.attempt > 1 and await self._done_before(actor, key):
            return "ack"
        given: object = message
        if actor.joins:
            siblings = await self._siblings(delivery, message)
            if siblings is None:
                return "ack"
            given = siblings
        result, stage = await self._call(delivery, given, message)
        await self._write(delivery, result, stage)
        return "ack"

    def _deadline(self, delivery: Delivery, message: Message) -> float:
        if DEADLINE in delivery.headers:
            return float(delivery.headers[DEADLINE])
        asked_at = delivery.raw.metadata.timestamp.timestamp()
        own = message.deadline_s if isinstance(message, QuestionAsked) else None
        return asked_at + (own or self.settings.deadline_s)

    async def _done_before(self, actor: Actor, key: Key) -> bool:
        """Whether an earlier delivery got as far as writing. Fan-outs and joins are written again, key by key."""
        if actor.fans_out or actor.joins or not actor.gives:
            return False
        outputs = [key_of(given, key.run_id, lane).subject for given in actor.gives for lane in (key.lane, MAIN)]
        return bool(await self._journal.latest([*dict.fromkeys(outputs), finished(key.run_id).subject]))

    async def _siblings(self, delivery: Delivery, message: Message) -> tuple[Message, ...] | None:
        """All the lanes of a join, in the order of their plan; None unless this delivery is the one that must join.

        The record written last joins: when it was delivered, all the others stood in the journal.
        """
        records = await self._journal.latest([key_of(type(message), delivery.key.run_id, "*").subject])
        by_lane = {record.key.lane: record for record in records}
        lanes = [planned.id for planned in message.plan]  # type: ignore[attr-defined]
        if any(lane not in by_lane for lane in lanes):
            return None
        if max(by_lane[lane].sequence for lane in lanes) != delivery.sequence:
            return None
        return tuple(by_lane[lane].message for lane in lanes)

    async def _call(self, delivery: Delivery, given: object, message: Message) -> tuple[object, Stage]:
        actor, run_id = delivery.actor, delivery.key.run_id
        asked = getattr(getattr(message, "question", None), "events", getattr(message, "events", "default"))
        first = delivery.attempt == 1 and isinstance(message, EvidenceSelected)  # who answers shows the first words
        emitter = Emitter(self._journal, run_id, everything=asked == "all", first=first)
        fallback = ""
        for attempt in range(actor.retries + 1):
            ask = Asker(
                self._client,
                self._inbox,
                run_id,
                actor.name,
                delivery.deadline,
                _PRIORITIES.get(actor.name.partition("_")[0], "judge"),
                actor.prompts,
                getattr(getattr(message, "question", None), "profile", getattr(message, "profile", "")),
            )
            search = Searcher(self._client, delivery.deadline)
            bodies = {"ask": ask, "search": search, "emit": emitter}
            if delivery.attempt > 1 or attempt:
                await emitter.progress()
            await emitter.aside(StageEvent(stage=actor.name, lane=delivery.key.lane, status="start"))
            try:
                result = await actor.handle(given, **{power: bodies[power] for power in actor.powers})
                break
            except Failure as failure:
                if attempt == actor.retries or time.time() >= delivery.deadline:
                    result = fall_back(actor, given, failure)
                    fallback = f"{type(failure).__name__}: {failure}"
                    log.warning("%s %s: %s; its fallback answers", actor.name, run_id, failure)
                    break
        await emitter.aside(StageEvent(stage=actor.name, lane=delivery.key.lane, status="end"))
        stage = Stage(
            actor=actor.name,
            took_s=round(time.monotonic() - delivery.began, 6),
            attempt=delivery.attempt,
            fallback=fallback,
            asks=tuple(ask.records),
            searches=tuple(search.records),
            first_shown_at=emitter.first_shown_at,
        )
        return result, stage

    async def _write(self, delivery: Delivery, result: object, stage: Stage) -> None:
        """Write what the actor gave, each key once. Raises TypeError when it is not what its signature says."""
        results: tuple[object, ...] = result if isinstance(result, tuple) else () if result is None else (result,)
        headers = {DEADLINE: delivery.headers[DEADLINE], CAUSE: str(delivery.sequence)}
        if TRACEPARENT in delivery.headers:
            headers[TRACEPARENT] = delivery.headers[TRACEPARENT]
        for n, each in enumerate(results):
            if not isinstance(each, Message) or type(each) not in delivery.actor.gives:
                raise TypeError(f"{delivery.actor.name} gave {type(each).__name__}, which its signature does not")
            key = key_of(type(each), delivery.key.run_id, lane_of(each))
            await self._journal.write(key, each, stage=stage if n == 0 else None, headers=headers)

    # ------------------------------------------------------------ ends that no actor chose

    async def _keep_aside(self, delivery: Delivery, poison: Poison) -> None:
        """The message stays in the journal as it is; its run gets an error instead of silence."""
        log.warning("%s: %s", delivery.key.subject, poison)
        key = Key(POISON, delivery.key.run_id, f"{delivery.key.type}-{delivery.key.lane}"[:64])
        await self._journal.publish(key.subject, delivery.raw.data, headers={CAUSE: str(delivery.sequence)})
        await self._fail(delivery, str(poison))

    async def _fail(self, delivery: Delivery, detail: str, *, reason: str | None = None) -> None:
        if (task := asyncio.current_task()) is not None:
            self._ending.add(task)
        question = ""
        with contextlib.suppress(Poison):
            question = _question_of(decode(delivery.key.type, delivery.raw.data))
        await self._finish(
            delivery.key.run_id,
            Settled(
                outcome="failed",
                reason="timeout" if reason == "timeout" else None,
                detail=detail,
                question=question,
            ),
        )

    async def _finish(self, run_id: str, settled: Settled) -> None:
        await self._journal.write(finished(run_id), RunFinished(settled=settled))


def _question_of(message: Message) -> str:
    """The words of the question that a message is about, empty when it carries none."""
    if isinstance(message, QuestionAsked):
        return message.question
    question = getattr(message, "question", None)
    return getattr(question, "asked", "") or getattr(getattr(message, "settled", None), "question", "")


async def _undecoded(msg: NatsMessage) -> Msg:
    """Handlers get nats-py's own message; bodies are decoded by their type in `_handle`, where "1" stays text."""
    return msg.raw_message
