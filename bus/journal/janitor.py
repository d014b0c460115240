"""End runs that nothing else will end: past their deadline, or delivered too often. Delete canaries that are over.

It follows questions and ends in the journal, so it needs no advisories. Of several processes one is at work, as for the pruner;
two at once do no harm, since an end is written only once.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable

import msgspec
import nats.errors
from nats.aio.msg import Msg

from bus.journal.canary import KEPT_S, forget_run
from bus.journal.journal import Journal
from bus.journal.records import LONGEST_S, deadline_of, decode
from bus.transport.envelope import read, set_aside
from bus.transport.follow import Following, Stored
from bus.transport.health import Watch
from bus.transport.settings import BusSettings
from bus.wire.errors import Failure, Poison
from bus.wire.messages import QuestionAsked, RunFinished, words_asked
from bus.wire.settled import Settled
from bus.wire.subjects import RUNS, BadId, consumed_subject, finished, is_canary, parse

log = logging.getLogger("groundwire.actors")

#: Grace period after a run's deadline, during which it may still end by itself.
GRACE_S = 1.0
ADVISORY = f"$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.{RUNS}.*"


class _Advisory(msgspec.Struct):
    stream_seq: int
    consumer: str = ""
    deliveries: int = 0


_advisories = msgspec.json.Decoder(_Advisory)


class Janitor:
    """Watches every open run. `open` maps a run to its question and when it is late, on the monotonic clock: a step of the wall
    clock keeps no run open.
    """

    def __init__(self, journal: Journal, settings: BusSettings, working: Callable[[], bool] = lambda: True) -> None:
        """`working`: whether this process does the work now, of several."""
        self.client = journal.client
        self.journal = journal
        self.settings = settings
        self.watch = Watch()
        self._working = working
        self.open: dict[str, tuple[float, str]] = {}
        #: Called with the end of each run, and its id.
        self.on_end: Callable[[str, Stored], None] = lambda run_id, end: None
        self._canaries: dict[str, float] = {}  # those that are over, and when to delete them

    async def start(self) -> None:
        await self.client.subscribe(ADVISORY, cb=self._given_up)
        self.watch.keep("the janitor's watch", self._watch)
        self.watch.keep("the janitor's sweep", self._sweep)

    async def stop(self) -> None:
        await self.watch.stop()

    async def _watch(self) -> None:
        """Follow while this process is at work, which begins with the oldest run that may be open. Never returns."""
        found = Following(self.client, RUNS, [consumed_subject(QuestionAsked), consumed_subject(RunFinished)])
        while True:
            horizon = time.time() - LONGEST_S - self.settings.deadline_s
            if self._working():
                async with contextlib.aclosing(found.batches(since=horizon)) as batches:
                    async for batch in batches:
                        for stored in batch:
                            self._note(stored)
                        if not self._working():
                            break
            self.open.clear()
            await asyncio.sleep(self.settings.janitor_period_s)

    def _note(self, stored: Stored) -> None:
        try:
            key = parse(stored.subject)
        except BadId as error:
            set_aside("subject", stored.subject, error)
            return
        if key.type != "question_asked":
            self.open.pop(key.run_id, None)
            self.on_end(key.run_id, stored)
            if is_canary(key.run_id):
                self._canaries[key.run_id] = time.monotonic() + KEPT_S
            return
        asked_s, question = None, ""
        with contextlib.suppress(Poison):  # the actor that takes it sets it aside
            asked = decode(key.type, stored.data)
            if isinstance(asked, QuestionAsked):
                asked_s, question = asked.deadline_s, asked.question
        deadline = deadline_of(stored.headers, stored.time, asked_s, self.settings)
        left = min(deadline - time.time(), max(LONGEST_S, self.settings.deadline_s))
        self.open[key.run_id] = (time.monotonic() + left, question)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(self.settings.janitor_period_s)
            now = time.monotonic()
            late = [(run, question) for run, (deadline, question) in self.open.items() if now > deadline + GRACE_S]
            for run_id, question in late:  # which may end while others are ended
                if not await self._end(run_id, Settled(outcome="failed", reason="timeout", question=question)):
                    break  # the journal takes nothing now; the next sweep tries again
                self.open.pop(run_id, None)
            for run_id in [run for run, at in self._canaries.items() if now > at]:
                try:
                    if self._working():
                        await forget_run(self.journal.js, run_id)
                except (nats.errors.Error, TimeoutError) as error:
                    self._canaries[run_id] = now + KEPT_S
                    log.info("the canary %s cannot be deleted (%s); trying again", run_id, error)
                else:
                    self._canaries.pop(run_id, None)

    async def _given_up(self, msg: Msg) -> None:
        try:
            advisory = read(_advisories, msg.data, "this advisory")
            found = await self.journal.at(advisory.stream_seq) if 0 < advisory.stream_seq < 2**63 else None
        except Poison as poison:
            set_aside("advisory", msg.subject, poison)
            return
        except Failure as failure:
            log.warning("%s; the run ends at its deadline", failure)
            return
        if found is not None:
            question = ""
            with contextlib.suppress(Poison):
                question = words_asked(found.message)
            detail = f"{advisory.consumer} gave up after {advisory.deliveries} tries"
            await self._end(found.key.run_id, Settled(outcome="failed", question=question, detail=detail))

    async def _end(self, run_id: str, settled: Settled) -> bool:
        """Whether the run has an end now."""
        try:
            await self.journal.write(finished(run_id), RunFinished(settled=settled), patience_s=2.0)
        except Failure as failure:
            log.warning("run %s cannot be ended (%s)", run_id, failure)
            return False
        return True
