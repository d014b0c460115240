"""Admission: which questions begin now, which wait, and which are refused.

A question waits as long as it can still be answered before its deadline, and is refused as soon as the measured rate rules that
out, or what the times of the first runs allow at most. Few runs are under way at once (`Limit`). Interactive questions begin before
batch ones, keys take turns, and within a key the question that must begin first does. A refused question is never written to the
journal by an edge.

The edge admits what arrives by HTTP, an actors process what was published on NATS; each counts what the others admitted.
"""

import asyncio
import bisect
import itertools
import math
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter

from bus.delivery.limit import Limit
from bus.wire.messages import QuestionAsked
from prompts.vocabulary import URGENCIES, Urgency

#: How long an interactive question without a deadline of its own may wait.
PATIENCE_S = 10.0
#: How often the queue is looked through, and how long a question has waited before its client gets its position.
LOOK_S = 1.0
#: A waiting question is refused when its wait is expected to be this many times too long: the rate varies.
MARGIN = 1.2
#: The longest `Retry-After`.
LONGEST_S = 120.0
#: How long after its deadline a run may still end by itself.
GRACE_S = 3.0

#: Receives the position of a waiting question; 1 begins next.
type Position = Callable[[int], Awaitable[None]]
_UNTIL = attrgetter("until")


class Overloaded(Exception):
    """A question that cannot be answered before its deadline. `retry_after_s`: when there will be room, a whole number."""

    def __init__(self, retry_after_s: float) -> None:
        self.retry_after_s = max(1, math.ceil(retry_after_s))
        super().__init__(f"more is being asked than can be done in time; ask again in {self.retry_after_s} s")


@dataclass(slots=True, eq=False)
class Waiting:
    """A question in the queue. It waits until `until` at the longest, and must be answered by `by`."""

    run_id: str
    urgency: Urgency
    key: str
    came: float
    until: float
    by: float
    position: Position | None
    admitted: "asyncio.Future[None]"
    waits: bool = True


@dataclass(slots=True)
class Counts:
    """The decisions so far, by urgency."""

    admitted: dict[Urgency, int] = field(default_factory=lambda: dict.fromkeys(URGENCIES, 0))
    refused: dict[Urgency, int] = field(default_factory=lambda: dict.fromkeys(URGENCIES, 0))


class Admission:
    """The queue of one process."""

    def __init__(self, limit: Limit | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit or Limit()
        self.counts = Counts()
        self._clock = clock
        # By urgency and key, the next key first; of each key the questions that must begin first.
        self._queues: dict[Urgency, dict[str, list[Waiting]]] = {urgency: {} for urgency in URGENCIES}
        self._looking: asyncio.Task[None] | None = None
        self._next_return = 0.0

    def waiting(self, urgency: Urgency | None = None) -> int:
        return sum(len(queue) for each in URGENCIES if urgency in (None, each) for queue in self._queues[each].values())

    def wait_s(self, urgency: Urgency = "interactive") -> float:
        """How long a question that comes now would wait; 0 where that is not known."""
        if self._begins_now(urgency):
            return 0.0
        return self.limit.wait_s(self._before(urgency) + self.waiting(urgency) + 1)

    async def enter(
        self,
        run_id: str,
        question: QuestionAsked,
        deadline_s: float,
        *,
        key: str = "",
        position: Position | None = None,
    ) -> None:
        """Return once the run may begin; `leave` must be called when it is over. Raises Overloaded.

        May be cancelled: the question then leaves the queue without a trace. A run that is under way may enter again.
        """
        if run_id in self.limit.runs:
            return
        now, urgency = self._clock(), question.priority
        self.limit.sweep(now)
        self._admit()
        if self._begins_now(urgency):
            self._begin(run_id, urgency, now + deadline_s)
            return
        patient = urgency == "batch" or question.deadline_s is not None
        wait_s = deadline_s if patient else min(deadline_s, PATIENCE_S)
        admitted = asyncio.get_running_loop().create_future()
        entry = Waiting(run_id, urgency, key, now, now + wait_s, now + deadline_s, position, admitted)
        short_s = self._short_s(entry, self._put(entry), now)
        if short_s > 0:
            self._take(entry)
            raise self._refusal(urgency, short_s, now)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look(), name="look through the queue")
        try:
            async with asyncio.timeout(wait_s):
                await admitted
        except TimeoutError:
            self._drop(entry)
            raise self._refusal(urgency, 0.0, self._clock()) from None
        except asyncio.CancelledError:
            self._drop(entry)
            raise

    def count(self, run_id: str, urgency: Urgency, deadline_s: float) -> None:
        """Count a run that another process has admitted, until `leave`."""
        if run_id not in self.limit.runs:
            now = self._clock()
            self.limit.begin(run_id, urgency, now, now + deadline_s + GRACE_S, own=False)

    def under_way(self, for_s: float) -> list[str]:
        """The runs that have been under way for so long, the oldest first."""
        before = self._clock() - for_s
        return [run_id for run_id, run in self.limit.runs.items() if run.began <= before]

    def forget(self, run_id: str) -> None:
        """A run was admitted and did not begin, or its end was not heard: the next may begin."""
        self.limit.forget(run_id)
        self._admit()

    def leave(self, run_id: str) -> None:
        """A run is over: the next may begin."""
        self.limit.end(run_id, self._clock())
        self._admit()

    # ------------------------------------------------------------ the queue

    def _before(self, urgency: Urgency) -> int:
        """How many questions of a higher urgency wait."""
        return sum(map(self.waiting, URGENCIES[: URGENCIES.index(urgency)]))

    def _begins_now(self, urgency: Urgency) -> bool:
        return not self._before(urgency) and not self._queues[urgency] and self.limit.has_room(urgency)

    def _put(self, entry: Waiting) -> int:
        """Add the question to the queue; returns how many begin before it."""
        queues = self._queues[entry.urgency]
        queue = queues.setdefault(entry.key, [])
        place = bisect.bisect(queue, entry.until, key=_UNTIL)
        queue.insert(place, entry)
        turn = list(queues).index(entry.key)
        others = (min(len(each), place + (n < turn)) for n, each in enumerate(queues.values()) if n != turn)
        return self._before(entry.urgency) + place + sum(others)

    def _take(self, entry: Waiting) -> None:
        queues = self._queues[entry.urgency]
        queue = queues[entry.key]
        del queue[queue.index(entry, bisect.bisect_left(queue, entry.until, key=_UNTIL))]
        entry.waits = False
        if not queue:
            del queues[entry.key]
        if not any(self._queues.values()):
            self._next_return = 0.0

    def _drop(self, entry: Waiting) -> None:
        """Take a question out of the queue, or back if it was admitted at the same moment."""
        if entry.waits:
            self._take(entry)
        elif entry.admitted.done() and not entry.admitted.cancelled() and entry.admitted.exception() is None:
            self.forget(entry.run_id)

    def _in_order(self, urgency: Urgency) -> Iterator[Waiting]:
        rounds = itertools.zip_longest(*map(tuple, self._queues[urgency].values()))
        return (entry for each in rounds for entry in each if entry is not None)

    def _admit(self) -> None:
        """Admit the next questions, as long as there is room."""
        now = self._clock()
        for urgency, queues in self._queues.items():
            while queues and self.limit.has_room(urgency):
                key = next(iter(queues))
                entry = queues[key][0]
                self._take(entry)
                if key in queues:
                    queues[key] = queues.pop(key)  # behind all other keys
                if self._short_s(entry, 0, now) > 0:
                    self._refuse(entry, now)
                elif not entry.admitted.done():
                    self._begin(entry.run_id, urgency, entry.by)
                    entry.admitted.set_result(None)
            if queues:
                return

    def _begin(self, run_id: str, urgency: Urgency, by: float) -> None:
        self.counts.admitted[urgency] += 1
        self.limit.begin(run_id, urgency, self._clock(), by + GRACE_S)

    async def _look(self) -> None:
        """Every second, while questions wait: refuse those that are too many by now, and report the positions of the others."""
        try:
            while self.waiting():
                await asyncio.sleep(LOOK_S)
                now = self._clock()
                self.limit.sweep(now)
                self._admit()
                for position, place in self._reviewed(now):
                    await position(place)
        finally:
            self._looking = None

    def _reviewed(self, now: float) -> list[tuple[Position, int]]:
        """Refuse the questions that cannot begin in time any more; the reports due for the others."""
        reports, place = list[tuple[Position, int]](), 0
        for entry in [each for urgency in URGENCIES for each in self._in_order(urgency)]:
            if (short_s := self._short_s(entry, place, now, MARGIN)) > 0:
                self._take(entry)
                self._refuse(entry, now, short_s)
                continue
            place += 1
            if entry.position is not None and now - entry.came >= LOOK_S:
                reports.append((entry.position, place))
        return reports

    def _short_s(self, entry: Waiting, ahead: int, now: float, margin: float = 1.0) -> float:
        """How much longer the question would have to be able to wait, for that many before it; not above 0 if it can."""
        latest = min(entry.until, entry.by - self.limit.longest_s)
        expected_s = self.limit.wait_s(ahead + 1) if ahead else 0.0
        return expected_s / margin - (latest - now)

    def _refuse(self, entry: Waiting, now: float, short_s: float = 0.0) -> None:
        if not entry.admitted.done():
            entry.admitted.set_exception(self._refusal(entry.urgency, short_s, now))

    def _refusal(self, urgency: Urgency, short_s: float, now: float) -> Overloaded:
        """Each refused client gets a time of its own, spaced by the measured rate."""
        self.counts.refused[urgency] += 1
        each_s = 1 / self.limit.per_s if self.limit.per_s else 0.0
        self._next_return = max(now + short_s, self._next_return) + each_s
        return Overloaded(min(self._next_return - now, LONGEST_S))
