"""How many runs may be under way at once, learned from how long they take, and how many are done in a second.

A run that is alone takes as long as the work takes; among others, it first takes no longer, and once the machine has no
more to give, longer with each. So the limit grows while runs take hardly longer than alone, and shrinks when they do: additive
increase, multiplicative decrease, as TCP does it, with a slow start. Nothing is assumed about the machine or the engine: the same
rules hold for answers of 50 ms and of 5 s. Times are on the caller's monotonic clock, in seconds.
"""

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from prompts.vocabulary import Urgency

#: The fewest runs in one round of measurement, and the fewest while the limit doubles.
ROUND = 12
FIRST_ROUND = 4
#: How many times of runs that were alone are remembered.
ALONE = 32
#: After so many runs in each place without one alone, a few are let be alone: what alone is may have changed.
STALE = 250
#: The weight of a run's time in the mean of all.
NEWEST = 0.1
MOST = 1024


@dataclass(frozen=True, slots=True)
class UnderWay:
    """`beside`: how many were under way when it began. `over_by`: when it counts as over without a report."""

    began: float
    beside: int
    urgency: Urgency
    over_by: float


@dataclass(slots=True)
class Limit:
    """The runs under way, and how many there may be.

    `slack`: how many times as long as alone a run may take. `first`: how many may be under way before anything is known.
    `probes`: whether now and then a few runs go alone, to measure a lone run. `most` is never reached by what is done
    on one machine.
    """

    slack: float = 1.75
    least: int = 1
    first: int = 8
    probes: bool = True
    most: int = MOST
    runs: dict[str, UnderWay] = field(default_factory=dict)
    took_s: float = 0.0  # running mean; 0 until the first is over
    _limit: float = field(init=False)
    _carried: float = 0.0  # how many were under way when one ended, as long as the limit was reached; a running mean
    _slow_start: bool = True
    _reached: bool = False
    _since_alone: int = 0
    _to_be_alone: int = 0  # runs that are still to be let be alone
    _times: list[float] = field(default_factory=list)
    _alone: deque[float] = field(default_factory=lambda: deque(maxlen=ALONE))

    def __post_init__(self) -> None:
        self._limit = float(self.first)

    @property
    def at_once(self) -> int:
        return self.least if self._to_be_alone else max(self.least, int(self._limit))

    @property
    def alone_s(self) -> float:
        """How long a lone run takes; 0 until that is known."""
        return _mean(self._alone)

    @property
    def per_s(self) -> float:
        """How many runs are done in a second when there is enough to do (Little's law); 0 until that is known."""
        return max(1.0, self._carried) / self.took_s if self.took_s else 0.0

    def has_room(self, urgency: Urgency) -> bool:
        """Whether one more may begin. Batch runs never take the place of an interactive one."""
        if urgency == "batch":
            return len(self.runs) < self.at_once
        return sum(run.urgency == "interactive" for run in self.runs.values()) < self.at_once

    def begin(self, run_id: str, urgency: Urgency, now: float, over_by: float) -> None:
        self.runs[run_id] = UnderWay(now, len(self.runs), urgency, over_by)
        if len(self.runs) >= self.at_once:
            self._reached = True

    def forget(self, run_id: str) -> None:
        """Take back a run that did not begin: its time means nothing."""
        self.runs.pop(run_id, None)

    def end(self, run_id: str, now: float) -> None:
        """A run is over; an unknown run is ignored."""
        run = self.runs.pop(run_id, None)
        if run is None:
            return
        took_s = max(now - run.began, 1e-6)
        self.took_s += (NEWEST if self.took_s else 1.0) * (took_s - self.took_s)
        if (carried := len(self.runs) + 1) >= self.at_once:
            self._carried += (NEWEST if self._carried else 1.0) * (carried - self._carried)
        self._times.append(took_s)
        self._since_alone += 1
        if run.beside == 0 and len(self.runs) <= 1:
            self._alone.append(took_s)
            self._since_alone, self._to_be_alone = 0, max(0, self._to_be_alone - 1)
        elif self.probes and self._since_alone > STALE * self.at_once:
            self._be_alone()
        if len(self._times) >= max(FIRST_ROUND if self._slow_start else ROUND, self.at_once):
            self._adjust()

    def sweep(self, now: float) -> None:
        """Forget runs without a reported end: their deadline has passed."""
        for run_id in [name for name, run in self.runs.items() if now > run.over_by]:
            del self.runs[run_id]

    def _adjust(self) -> None:
        round_s, reached = _mean(self._times), self._reached
        self._times.clear()
        self._reached = False
        if self._to_be_alone:
            return
        if not self._alone and self.probes:
            self._be_alone()
            return
        if not self._alone or round_s < self.alone_s:
            self._alone.append(round_s)  # never slower alone than among others
        if round_s > self.slack * self.alone_s:
            self._slow_start = False
            self._limit *= max(0.7, self.slack * self.alone_s / round_s)
        elif reached:
            self._limit = self._limit * 2 if self._slow_start else self._limit + 1
        self._limit = min(max(self._limit, float(self.least)), float(self.most))

    def _be_alone(self) -> None:
        self._alone.clear()
        self._since_alone, self._to_be_alone = 0, FIRST_ROUND


def _mean(times: Iterable[float]) -> float:
    """The geometric mean, which one run of two minutes does not spoil; 0 of none."""
    logs = [math.log(each) for each in times]
    return math.exp(sum(logs) / len(logs)) if logs else 0.0
