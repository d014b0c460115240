"""End runs that nothing else will end: past their deadline, or delivered too often.

It follows questions and ends in the journal, so it needs no advisories. Any number of janitors may run, since an end is
written only once.
"""

import asyncio
import contextlib
import json
import time

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.connection import Inbox
from bus.errors import Failure
from bus.follow import Stored, follow
from bus.journal import DEADLINE, Journal
from bus.messages import QuestionAsked, RunFinished, Settled
from bus.settings import BusSettings
from bus.subjects import RUNS, BadId, consumed_subject, finished, parse

#: Grace period after a run's deadline, during which it may still end by itself.
GRACE_S = 1.0
ADVISORY = f"$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.{RUNS}.*"


class Janitor:
    """Watches every open run. `open` maps a run to its deadline in epoch seconds and its question."""

    def __init__(self, client: Client, inbox: Inbox, journal: Journal, settings: BusSettings) -> None:
        self.client = client
        self.inbox = inbox
        self.journal = journal
        self.settings = settings
        self.open: dict[str, tuple[float, str]] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        await self.client.subscribe(ADVISORY, cb=self._given_up)
        self._tasks = [asyncio.create_task(self._watch()), asyncio.create_task(self._sweep())]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _watch(self) -> None:
        horizon = time.time() - 3600 - self.settings.deadline_s
        filters = [consumed_subject(QuestionAsked), consumed_subject(RunFinished)]
        async for stored in follow(self.client, RUNS, filters, since=horizon):
            self._note(stored)

    def _note(self, stored: Stored) -> None:
        try:
            key = parse(stored.subject)
        except BadId:
            return
        if key.type != "question_asked":
            self.open.pop(key.run_id, None)
            return
        deadline_s, question = self.settings.deadline_s, ""
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            asked = msgspec.json.decode(stored.data.partition(b"\n")[0], type=QuestionAsked)
            deadline_s, question = asked.deadline_s or deadline_s, asked.question
        given = stored.headers.get(DEADLINE)
        self.open[key.run_id] = (float(given) if given else stored.time + deadline_s, question)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(self.settings.janitor_period_s)
            late = [run for run, (deadline, _) in self.open.items() if time.time() > deadline + GRACE_S]
            for run_id in late:
                _, question = self.open.pop(run_id)
                await self._end(run_id, Settled(outcome="failed", reason="timeout", question=question))

    async def _given_up(self, msg: Msg) -> None:
        advisory = json.loads(msg.data)
        found = await self.journal.at(int(advisory["stream_seq"]))
        if found is not None:
            _, question = self.open.get(found.key.run_id, (0.0, ""))
            await self._end(
                found.key.run_id,
                Settled(
                    outcome="failed",
                    question=question,
                    detail=f"{advisory.get('consumer')} gave up after {advisory.get('deliveries')} tries",
                ),
            )

    async def _end(self, run_id: str, settled: Settled) -> None:
        with contextlib.suppress(Failure):
            await self.journal.write(finished(run_id), RunFinished(settled=settled), patience_s=2.0)
