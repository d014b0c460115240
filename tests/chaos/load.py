"""The questions of a chaos run: over HTTP in several manners, and over NATS as an integration."""

import asyncio
import contextlib
import itertools
import json
import random
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import nats.errors
from nats.aio.msg import Msg
from nats.js.errors import APIError

from bus.journal.journal import Journal
from bus.runs.runs import NoSuchRun
from bus.transport.connection import connect, keep_trying
from bus.wire.errors import Failure
from runtime.processes import nats_users
from runtime.processes.supervisor import Stack
from runtime.replay.journal_traces import read_run
from runtime.replay.trace import Trace
from tests.chaos.client import DONE, SILENT_S, Asked, Client
from tests.chaos.house import ASKED

#: How a question is asked, and how often of all.
MANNERS = {"plain": 6, "batch": 2, "cancelled": 2, "slow": 1, "all events": 1, "once": 2, "integration": 2}
BATCH: dict[str, object] = {"priority": "batch"}
#: The trace of each so-manieth run is read when it is over, to be replayed.
REPLAYED = 5


@dataclass
class Load:
    """`asked`: every question and its manner; `records`: what each run came to, read right after its end."""

    stack: Stack
    client: Client
    journal: Journal
    chance: random.Random
    asked: list[tuple[str, Asked]] = field(default_factory=list)
    records: dict[str, dict[str, object]] = field(default_factory=dict)
    traces: list[Trace] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    async def run(self, at_once: int, over: asyncio.Event) -> None:
        """Ask, so many at a time, until it is over."""
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(self._keep_asking(over))

    async def _keep_asking(self, over: asyncio.Event) -> None:
        for number in self._numbers:
            if over.is_set():
                return
            (manner,) = self.chance.choices(list(MANNERS), list(MANNERS.values()))
            text = f"{ASKED[number % len(ASKED)]} ({number})"
            asked = Asked(text, time.monotonic())
            self.asked.append((manner, asked))
            await self._ask(asked, manner, number)
            asked.ended = time.monotonic()
            if asked.accepted:
                await self._look_at(asked, number)
            if not over.is_set():
                await asyncio.sleep(self.chance.uniform(0.0, 0.6))

    def under_way(self) -> list[tuple[str, Asked]]:
        return [(manner, asked) for manner, asked in self.asked if not asked.ended]

    async def _ask(self, asked: Asked, manner: str, number: int) -> None:
        if manner == "integration":
            await self._over_nats(asked)
            return
        if manner == "once":
            await self.client.ask(asked, {}, once=True)
            return
        more: dict[str, dict[str, object]] = {"batch": BATCH, "all events": {"events": "all"}}
        await self.client.ask(
            asked,
            {"idempotency_key": f"chaos-{number}"} | more.get(manner, {}),
            slow_s=0.1 if manner == "slow" else 0.0,
            leave_after=self.chance.randint(1, 3) if manner == "cancelled" else 0,
        )

    async def _look_at(self, asked: Asked, number: int) -> None:
        """Read the record of a run that is over, and the trace of some."""
        give_up = time.monotonic() + SILENT_S
        while time.monotonic() < give_up:
            record = await self.client.record(asked.run_id)
            if record is not None and record["status"] == "finished":
                self.records[asked.run_id] = record
                break
            await asyncio.sleep(0.1)
        if number % REPLAYED == 0:
            with contextlib.suppress(Failure, NoSuchRun, nats.errors.Error, TimeoutError):
                self.traces.append(await read_run(self.journal, asked.run_id))

    async def _over_nats(self, asked: Asked) -> None:
        """Ask as an integration: subscribe, publish until it is kept, read back what was missed."""
        run_id = secrets.token_hex(12)
        users = nats_users.read(self.stack.folder)
        assert users is not None
        arrived: asyncio.Queue[Msg] = asyncio.Queue()
        client = await connect(users.url_of("integration"), name="integration", user="integration", patience_s=60.0)
        keep_trying(client)
        try:
            inbox = client.new_inbox()
            for subject in (f"gw.event.{run_id}", inbox):
                await client.subscribe(subject, cb=arrived.put)
            request = json.dumps({"type": "question_asked", "question": asked.text}).encode()
            while True:
                try:
                    await client.jetstream(timeout=2.0).publish(f"gw.question_asked.{run_id}", request)
                    break
                except APIError:  # it is kept already, and only the answer was lost; or there is no room now
                    if run_id in self.records or await self.client.record(run_id) is not None:
                        break
                    await asyncio.sleep(0.2)
                except (nats.errors.Error, TimeoutError):
                    await asyncio.sleep(0.2)
            asked.run_id = run_id
            again = json.dumps({"seq": 1, "next_by_subj": f"gw.event.{run_id}", "batch": 1000}).encode()
            silent = time.monotonic()
            while not asked.lines or asked.lines[-1] != DONE:
                if time.monotonic() - silent > SILENT_S and await self.client.over(asked):
                    asked.gap = f"silent for {SILENT_S:.0f} s after {len(asked.lines)} events, though the run is over"
                    break
                try:
                    message = await asyncio.wait_for(arrived.get(), 2.0)
                    first = int((message.headers or {}).get("Gw-First", 0))
                except TimeoutError:
                    first = len(asked.lines) + 2
                if first > len(asked.lines) + 1:
                    with contextlib.suppress(nats.errors.Error):
                        await client.publish("gw.events", again, reply=inbox)
                    continue
                new = message.data.split(b"\n")[len(asked.lines) + 1 - first :] if first else []
                asked.lines += new
                silent = time.monotonic() if new else silent
        finally:
            await client.close()
