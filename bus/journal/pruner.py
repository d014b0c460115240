"""Keeps room in the journal: one of the actors' processes removes what the settings no longer keep, in small steps.

The process that works announces itself; the others wait until it falls silent, and of several that begin then the one with the
lowest id goes on. Two at work at once do no harm.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.journal.journal import Journal, Usage
from bus.journal.pruning import Pruned, Rule, prune
from bus.journal.sweeping import sweep
from bus.transport.health import Watch, answer_text, text_of
from bus.transport.settings import BusSettings
from bus.wire.errors import Failure
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import JOURNAL, consumed_subject

log = logging.getLogger("groundwire.journal")

#: Where pruners hear of each other.
PRESENT = "gw.pruner"
#: Runs per step, and how long questions under way have the server for themselves in between.
STEP, PAUSE_S = 20, 0.02
#: A walk that frees nothing is repeated after this many times as long as it took.
PATIENCE = 20
#: How often runs that are too old are looked for, and what was left without an end.
OLD_EVERY_S, SWEEP_EVERY_S = 60.0, 3600.0
#: How fast the journal may grow, in bytes a second, and how often its size is looked at where there is much room.
FASTEST, LOOK_EVERY_S = 20_000_000, 5.0
#: How many periods a pruner is silent until another takes over.
SILENT_PERIODS = 4


class JournalState(msgspec.Struct, frozen=True, kw_only=True):
    """What the working pruner knows. `oldest_at`: when the oldest run was asked, in epoch seconds; 0 if there is none.

    `running`, `pinned` and `unread` are of the last walk that came through the whole journal.
    """

    size_bytes: int = 0
    limit_bytes: int = 0
    messages: int = 0
    oldest_at: float = 0.0
    pruned_runs: int = 0
    pruned_bytes: int = 0
    running: int = 0
    pinned: int = 0
    unread: int = 0


@dataclass(slots=True)
class _Clock:
    """When something is due next, on the monotonic clock."""

    due: float = 0.0

    def take(self, every_s: float) -> bool:
        now = time.monotonic()
        if now < self.due:
            return False
        self.due = now + every_s
        return True


class Pruner:
    """Removes finished runs by the settings' age and size. `closers`: the consumers that must have handled a run's end."""

    def __init__(self, journal: Journal, settings: BusSettings, closers: Sequence[str]) -> None:
        self.client = journal.client
        self.journal = journal
        self.settings = settings
        self.closers = tuple(closers)
        self.state = JournalState()
        self.watch = Watch()
        self._id = secrets.token_hex(8)
        self._other_at = float("-inf")
        self._full_until = 0.0
        self._old, self._sweep, self._say_full = _Clock(), _Clock(), _Clock()
        self._look_at = _Clock()
        self._lost_bytes = 0  # as the last sweep knew it

    @property
    def working(self) -> bool:
        return time.monotonic() - self._other_at > SILENT_PERIODS * self.settings.janitor_period_s

    async def start(self) -> None:
        await self.client.subscribe(PRESENT, cb=self._heard)
        await answer_text(self.client, JOURNAL, lambda: msgspec.json.encode(self.state), only=lambda: self.working)
        self.watch.keep("pruning", self._run)

    async def stop(self) -> None:
        await self.watch.stop()

    async def _run(self) -> None:
        while True:
            try:
                if self.working:
                    await self.client.publish(PRESENT, self._id.encode())
                    await self._turn()
            except (Failure, nats.errors.Error) as failure:
                log.warning("the journal is not pruned: %s", failure)
            await asyncio.sleep(self.settings.janitor_period_s)

    async def _turn(self) -> None:
        if self._sweep.take(SWEEP_EVERY_S):
            lost = await self.journal.lost_bytes()
            for line in await sweep(self.journal, self.settings.deadline_s, damaged=lost != self._lost_bytes):
                log.warning("%s", line)
            self._lost_bytes = lost
        if not self._look_at.take(0.0):
            return
        usage = await self._look()
        target = int(usage.limit_bytes * self.settings.runs_prune_from)
        self._look_at.due = time.monotonic() + min((target - usage.size_bytes) / FASTEST, LOOK_EVERY_S)
        if usage.limit_bytes and usage.size_bytes > target and time.monotonic() >= self._full_until:
            await self._prune(Rule(keep_bytes=target))
        if self._old.take(OLD_EVERY_S):
            await self._prune(Rule(before=time.time() - self.settings.runs_max_age_s))

    async def _prune(self, rule: Rule) -> None:
        """Remove step by step until the rule finds nothing more."""
        while True:
            began = time.monotonic()
            done = await prune(self.journal, rule, closers=self.closers, at_most=STEP)
            self._note(done)
            usage = await self._look()
            if len(done.runs) < STEP:
                break
            if usage.size_bytes < usage.limit_bytes * 0.9:
                await asyncio.sleep(PAUSE_S)
        if rule.keep_bytes is not None and not done.runs and usage.size_bytes > rule.keep_bytes:
            now = time.monotonic()
            self._full_until = now + PATIENCE * (now - began)
            if self._say_full.take(OLD_EVERY_S):
                log.warning("%s", why_full(self.state))

    def _note(self, done: Pruned) -> None:
        seen, whole = done.seen, len(done.runs) < STEP
        self.state = msgspec.structs.replace(
            self.state,
            pruned_runs=self.state.pruned_runs + len(done.runs),
            pruned_bytes=self.state.pruned_bytes + done.size_bytes,
            **({"running": seen.running, "pinned": seen.pinned, "unread": seen.unread} if whole else {}),
        )

    async def _look(self) -> Usage:
        usage = await self.journal.usage()
        asked, _ = await self.journal.oldest(consumed_subject(QuestionAsked))
        self.state = msgspec.structs.replace(
            self.state,
            size_bytes=usage.size_bytes,
            limit_bytes=usage.limit_bytes,
            messages=usage.messages,
            oldest_at=asked[0].time if asked else 0.0,
        )
        return usage

    async def _heard(self, msg: Msg) -> None:
        if msg.data.decode(errors="replace") < self._id:
            self._other_at = time.monotonic()


async def journal_state(client: Client, *, timeout_s: float = 0.3) -> JournalState | None:
    """What the working pruner knows; None when there is none."""
    answer = await text_of(client, JOURNAL, timeout_s=timeout_s)
    return msgspec.json.decode(answer, type=JournalState) if answer else None


def why_full(state: JournalState) -> str:
    """Why a journal that is pruned is full all the same, and what to do, in one line."""
    held = [
        f"{count} {what}"
        for count, what in (
            (state.pinned, "pinned"),
            (state.running, "under way"),
            (state.unread, "whose end no actors process has handled"),
        )
        if count
    ]
    return (
        f"the journal holds {state.size_bytes / 1e6:.1f} of {state.limit_bytes / 1e6:.1f} MB, and what is left are runs that stay: "
        f"{', '.join(held) or 'none that may be removed'}; take pins out with `groundwire trace unpin`, or raise bus.runs_max_bytes"
    )
