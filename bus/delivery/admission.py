"""Admission: which questions begin now, which wait, and which are refused at once.

A question is admitted when the measured rate promises an answer within its deadline. Few are under way at once (`Limit`); the
others wait: interactive questions before batch ones, each key in its turn. An interactive question is also refused when the queue
is old and waiting in it would cost more than a share of the answer's own time. So under a flood the admitted questions are answered
about as fast as ever, and the others are refused at once. A refused question is never written to the journal.

Each process sees the runs that it let in itself. With several edges over one bus each measures how long its own take, so each takes
less when the others take more.
"""

import asyncio
import bisect
import contextlib
import itertools
import math
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from bus.delivery.limit import Limit
from prompts.vocabulary import URGENCIES, Urgency

#: The share of an answer's time that an interactive question may wait in an old queue.
STANDING = 0.25
#: A queue is old when questions have had to wait for longer than this, without as long a break; in a newer one so long a wait is
#: allowed, or one answer's time if that is more.
BURST_S = 1.0
#: Until a rate has been measured, so many interactive questions may wait.
UNMEASURED = 64
#: The longest `Retry-After`.
LONGEST_S = 120.0
#: How long after its deadline a run may still end by itself.
GRACE_S = 3.0


class Overloaded(Exception):
    """More questions than can be done. `retry_after_s`: when there will be room, if everybody keeps to theirs."""

    def __init__(self, retry_after_s: float) -> None:
        self.retry_after_s = retry_after_s
        again_s = math.ceil(retry_after_s)
        super().__init__(f"more is being asked than can be done in time; ask again in {again_s} s")


@dataclass(order=True, slots=True)
class Waiting:
    """A question in the queue, in the order of it. `turn` is the place of its key's turn, `latest` when it must begin."""

    rank: int
    turn: int
    latest: float
    number: int
    run_id: str = field(compare=False)
    urgency: Urgency = field(compare=False)
    over_by: float = field(compare=False)
    admitted: "asyncio.Future[None]" = field(compare=False)


@dataclass(slots=True)
class Counts:
    """What was decided so far, by urgency."""

    admitted: dict[Urgency, int] = field(default_factory=lambda: dict.fromkeys(URGENCIES, 0))
    refused: dict[Urgency, int] = field(default_factory=lambda: dict.fromkeys(URGENCIES, 0))


class Admission:
    """The door of one process. `brief`: whether interactive questions may not wait in an old queue."""

    def __init__(
        self, limit: Limit | None = None, *, brief: bool = True, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.limit = limit or Limit()
        self.counts = Counts()
        self._brief = brief
        self._clock = clock
        self._queue: list[Waiting] = []
        self._numbers = itertools.count()
        self._turns: dict[tuple[int, str], int] = {}  # the last turn that a key has taken
        self._turn = [0 for _ in URGENCIES]  # the turn that was last served
        self._pressed_since = self._pressed_at = -math.inf
        self._next_return = 0.0

    def waiting(self, urgency: Urgency | None = None) -> int:
        return sum(urgency in (None, each.urgency) for each in self._queue)

    def wait_s(self, urgency: Urgency = "interactive") -> float:
        """How long a question that comes now would wait; 0 where that is not known."""
        if self.limit.has_room(urgency) and not self._queue:
            return 0.0
        ahead = sum(each.rank <= URGENCIES.index(urgency) for each in self._queue)
        return (ahead + 1) / self.limit.per_s if self.limit.per_s else 0.0

    async def enter(self, run_id: str, urgency: Urgency, deadline_s: float, *, key: str = "") -> None:
        """Return once the run may begin; `leave` must be called when it is over. Raises Overloaded.

        May be cancelled: the question then leaves the queue without a trace. A run that is under way may enter again.
        """
        if run_id in self.limit.runs:
            return
        now = self._clock()
        self.limit.sweep(now)
        self._admit()
        rank = URGENCIES.index(urgency)
        if self.limit.has_room(urgency) and not (self._queue and self._queue[0].rank <= rank):
            self._begin(run_id, urgency, now + deadline_s + GRACE_S)
            return
        if now - self._pressed_at > BURST_S:
            self._pressed_since = now
        self._pressed_at = now
        entry = self._entry(run_id, rank, key, now, deadline_s)
        place = bisect.bisect(self._queue, entry)
        self._check(entry, place, now)
        self._queue.insert(place, entry)
        self._turns[rank, key] = entry.turn
        try:
            async with asyncio.timeout(max(0.0, entry.latest - now)):
                await entry.admitted
        except TimeoutError:
            self._drop(entry)
            raise self._refusal(urgency, 0.0, self._clock()) from None
        except asyncio.CancelledError:
            self._drop(entry)
            raise

    @contextlib.asynccontextmanager
    async def entered(self, run_id: str, urgency: Urgency, deadline_s: float, *, key: str = "") -> AsyncIterator[None]:
        """`enter`, for a run that is not under way if the context ends with an exception."""
        await self.enter(run_id, urgency, deadline_s, key=key)
        try:
            yield
        except BaseException:
            self.forget(run_id)
            raise

    def count(self, run_id: str, urgency: Urgency, deadline_s: float) -> None:
        """Count a run that another process has admitted, until `leave`."""
        if run_id not in self.limit.runs:
            self._begin(run_id, urgency, self._clock() + deadline_s + GRACE_S)

    def under_way(self, for_s: float) -> list[str]:
        """The runs that have been under way for so long, the oldest first."""
        before = self._clock() - for_s
        return [run_id for run_id, run in self.limit.runs.items() if run.began <= before]

    def forget(self, run_id: str) -> None:
        """A run was let in and did not begin, or ended unheard: the next may."""
        self.limit.forget(run_id)
        self._admit()

    def leave(self, run_id: str) -> None:
        """A run is over: the next may begin."""
        self.limit.end(run_id, self._clock())
        self._admit()

    def _entry(self, run_id: str, rank: int, key: str, now: float, deadline_s: float) -> Waiting:
        turn = max(self._turn[rank], self._turns.get((rank, key), 0)) + 1
        # The time of one more question among those under way.
        full_s = len(self.limit.runs) / self.limit.per_s if self.limit.per_s else 0.0
        latest = now + max(0.0, deadline_s - max(self.limit.took_s, full_s))
        return Waiting(
            rank=rank,
            turn=turn,
            latest=latest,
            number=next(self._numbers),
            run_id=run_id,
            urgency=URGENCIES[rank],
            over_by=now + deadline_s + GRACE_S,
            admitted=asyncio.get_running_loop().create_future(),
        )

    def _check(self, entry: Waiting, place: int, now: float) -> None:
        """Whether a question at that place is done in time. Raises Overloaded."""
        if not self.limit.per_s:
            if self._brief and entry.urgency == "interactive" and place >= UNMEASURED:
                raise self._refusal(entry.urgency, BURST_S, now)
            return
        wait_s = (place + 1) / self.limit.per_s
        most_s = entry.latest - now
        if self._brief and entry.urgency == "interactive":
            standing_s = max(STANDING * self.limit.alone_s, 1 / self.limit.per_s)
            burst_s = max(BURST_S, self.limit.alone_s)
            most_s = min(most_s, standing_s if now - self._pressed_since > BURST_S else burst_s)
        if wait_s > most_s:
            raise self._refusal(entry.urgency, wait_s - most_s, now)

    def _refusal(self, urgency: Urgency, short_s: float, now: float) -> Overloaded:
        """Each refused client gets a time of its own, spaced by the measured rate."""
        self.counts.refused[urgency] += 1
        each_s = 1 / self.limit.per_s if self.limit.per_s else 0.0
        self._next_return = max(now + short_s, self._next_return) + each_s
        return Overloaded(min(self._next_return - now, LONGEST_S))

    def _admit(self) -> None:
        """Admit the next questions, as long as there is room."""
        while self._queue and self.limit.has_room(self._queue[0].urgency):
            entry = self._queue.pop(0)
            if not entry.admitted.done():
                self._turn[entry.rank] = max(self._turn[entry.rank], entry.turn)
                self._begin(entry.run_id, entry.urgency, entry.over_by)
                entry.admitted.set_result(None)
        if not self._queue:
            self._turns.clear()
            self._next_return = 0.0

    def _begin(self, run_id: str, urgency: Urgency, over_by: float) -> None:
        self.counts.admitted[urgency] += 1
        self.limit.begin(run_id, urgency, self._clock(), over_by)

    def _drop(self, entry: Waiting) -> None:
        """Take a question out of the queue, or back if it was let in at the same moment."""
        if entry in self._queue:
            self._queue.remove(entry)
        elif entry.admitted.done() and not entry.admitted.cancelled():
            self.forget(entry.run_id)
