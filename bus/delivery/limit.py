"""How many runs may be under way at once, and how many end in a second: both learned from the ends of runs in windows of time.

More runs at once end more often per second, up to what the machine and the engine can do. So the limit takes one of a few
levels, each half as high again as the one below; each full window measures the rate at one level. The limit goes up where the
level above has a higher rate or none yet, and down where the level below has about the same. A window counts only if the limit
was reached nearly all of its time. At first the limit rises quickly, in rounds; until they are over the rate can only be bounded.
Nothing is assumed about the duration of a run. Times are on the caller's monotonic clock, in
seconds.
"""

import math
import operator
import os
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

import msgspec

from prompts.vocabulary import Urgency

#: From each level to the next.
STEP = 1.5
#: A level has a higher rate than another if it is this much higher; by less it is about the same.
GAIN = 1.1
#: A window lasts at least so long, at least the usual time of a run (three of four end within it), and has at least so many
#: ends, and as many as runs may be under way: a few ends show little where some runs take much longer than others.
WINDOW_S, ENDS = 1.0, 16
#: The share of a window in which fewer runs may be under way than the limit allows.
SHORT = 0.15
#: At first the limit rises by two levels with each round, of this share of the runs that may be under way, while the rate of each
#: is this much higher; it is this much higher at most.
ROUND, FIRST_GAIN, MOST_GAIN = 0.75, 1.4, STEP**2
#: How long after an interactive run another one is expected.
PERSONS_S = 2.0
#: After so many windows the rate at a level counts as unknown.
STALE = 20
#: The rate is the upper quartile of so many windows, so that some slow seconds do not lower it; a run's longest time is the upper
#: tenth of so many runs.
WINDOWS, RUNS = 32, 64
#: Rates and times older than this count as unknown: the service may have recovered since.
FRESH_S = 60.0
#: No end for so many times the usual time of a run: the service was interrupted, and the window means nothing.
PAUSE = 3.0
#: The most runs that may be under way at any level.
MOST = 1024
_SECOND = operator.itemgetter(1)


def least_at_once(batch: int = 1) -> int:
    """The fewest runs that may be under way. `batch`: how many requests the engine answers together."""
    return max(2 * (os.cpu_count() or 1), batch)


class UnderWay(msgspec.Struct, frozen=True):
    """`over_by`: when it counts as over without a report. `own`: this process admitted it."""

    began: float
    urgency: Urgency
    over_by: float
    own: bool


@dataclass(slots=True)
class Limit:
    """The runs under way, and how many there may be. `least`: the lowest level."""

    least: int = field(default_factory=least_at_once)
    runs: dict[str, UnderWay] = field(default_factory=dict)
    #: How many runs end in a second when there is enough to do; 0 while that is not known.
    per_s: float = 0.0
    #: A time within which nearly every run ends, and one within which half of them do; 0 while that is not known.
    longest_s: float = 0.0
    usual_s: float = 0.0
    _level: int = 0
    _first_rate: float | None = 0.0  # of the round before; None once the first rise is over
    _gain: float = MOST_GAIN  # how many times the rate of a round may be that of the one before
    _rates: dict[int, tuple[int, float]] = field(default_factory=dict)  # by level: the window's number, and the rate
    _latest: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=WINDOWS))  # their ends and rates
    #: The ends of runs, and their times.
    _times: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=RUNS))
    _windows: int = 0
    _began: float | None = None  # of the window; None while the limit is not reached
    _lowered: float = -math.inf  # when the first rise ended: the times of runs before it are longer than they will be
    _ends: int = 0
    _ended: float = 0.0  # when the last of them was
    _short_s: float = 0.0  # how long fewer were under way than may be
    _person_at: float = -math.inf  # when an interactive run began or ended last
    _at: float = 0.0  # up to when `_short_s` was counted

    @property
    def at_once(self) -> int:
        return min(MOST, round(self.least * STEP**self._level))

    def wait_s(self, ends: int) -> float:
        """How long it takes at least until so many runs have ended; 0 while nothing is known.

        While the limit rises, the rate may rise with each round as it did with the round before.
        """
        rate = self.per_s or (self.at_once / self.usual_s if self.usual_s else math.inf)
        if self._first_rate is None:
            return ends / rate
        round_ends, more = ROUND * self.at_once, math.log(self._gain)
        rate *= self._gain if self.per_s else 1.0
        return round_ends / (rate * more) * math.log1p(ends * more / round_ends)

    def has_room(self, urgency: Urgency) -> bool:
        """Whether one more may begin here. Batch runs never take the place of an interactive one.

        While persons ask, few batch runs are under way, so that the next person is not slowed. Another process that is quicker
        at each turn must not take all the room, so half of it is this process's own.
        """
        runs = [run for run in self.runs.values() if urgency == "batch" or run.urgency == "interactive"]
        most = self.at_once
        if urgency == "batch" and self._at - self._person_at < PERSONS_S:
            most = max(1, self.least // 2)
        return len(runs) < most or sum(run.own for run in runs) < most // 2

    def begin(self, run_id: str, urgency: Urgency, now: float, over_by: float, *, own: bool = True) -> None:
        self._count_short(now)
        if urgency == "interactive":
            self._person_at = now
        self.runs[run_id] = UnderWay(now, urgency, over_by, own)
        if self._began is None and len(self.runs) >= self.at_once:
            self._open(now)

    def forget(self, run_id: str) -> None:
        """Take back a run that did not begin: its end means nothing."""
        self.runs.pop(run_id, None)

    def end(self, run_id: str, now: float) -> None:
        """A run is over; an unknown run is ignored."""
        self._count_short(now)
        run = self.runs.pop(run_id, None)
        if run is None:
            return
        if run.urgency == "interactive":
            self._person_at = now
        usual_s = _quantile(self._times, 0.75)
        interrupted = bool(self._times) and now - self._ended > PAUSE * usual_s
        if run.began >= self._lowered:
            self._times.append((now, now - run.began))
        self.longest_s, self.usual_s = _quantile(self._times, 0.9), _quantile(self._times, 0.5)
        if self._began is None:
            return
        lasted_s = self._ended - self._began
        if interrupted or self._short_s > SHORT * max(lasted_s, WINDOW_S):
            self._began = None
            return
        # Runs of one batch end together: a window ends before a gap, so that it has whole batches.
        gap = now - self._ended >= lasted_s / max(1, self._ends)
        whole = lasted_s >= max(WINDOW_S, usual_s) and self._ends >= max(ENDS, self.at_once) and gap
        if self._first_rate is None and whole:
            self._close(self._ends / lasted_s, now)
            self._open(self._ended)
        self._ends += 1
        self._ended = now
        if self._first_rate is not None and self._ends >= ROUND * self.at_once:
            self._rise(now - self._began, now)

    def sweep(self, now: float) -> None:
        """Forget what is too old: runs without a reported end whose deadline has passed, rates and times."""
        for remembered in (self._latest, self._times):
            while remembered and now - remembered[0][0] > FRESH_S:
                remembered.popleft()
        if not self._latest:
            self.per_s = 0.0
        for run_id in [name for name, run in self.runs.items() if now > run.over_by]:
            del self.runs[run_id]
        if not self._times:  # no run takes less time than those under way have taken already
            self.longest_s = self.usual_s = _quantile([(0.0, now - run.began) for run in self.runs.values()], 0.5)

    def _open(self, began: float) -> None:
        self._began = self._ended = began
        self._ends, self._short_s = 0, 0.0

    def _count_short(self, now: float) -> None:
        if self._began is not None and len(self.runs) < self.at_once:
            self._short_s += now - self._at
        self._at = now

    def _rise(self, lasted_s: float, now: float) -> None:
        """Choose the level of the next round. Equal runs end in bunches: a round lasts at least as long as half of its runs."""
        usual_s = _quantile(list(self._times)[-self._ends :], 0.5)
        rate, before = self._ends / max(lasted_s, usual_s, 1e-6), self._first_rate or 0.0
        self._gain = min(MOST_GAIN, max(GAIN, rate / before if before else rate * self.usual_s))
        self.per_s = max(rate, before) / ROUND  # the others of a bunch end at the same time
        self._latest.clear()
        self._latest.append((now, self.per_s))
        if rate > FIRST_GAIN * before and self.at_once < MOST:
            self._level, self._first_rate = self._level + 2, rate
            self._open(now)
        else:
            self._level, self._first_rate, self._began = max(0, self._level - 2), None, None
            self._lowered = now
            self.longest_s = self.usual_s = self.at_once / self.per_s
            self._times.clear()
            self._times.append((now, self.usual_s))

    def _close(self, rate: float, now: float) -> None:
        """Choose the level of the next window."""
        here = self._level
        self._windows += 1
        if self._windows == 1:
            self._latest.clear()  # a window is more exact than the first rise
        self._latest.append((now, rate))
        self.per_s = _quantile(self._latest, 0.75)
        _, before = self._rates.get(here, (0, rate))
        self._rates[here] = self._windows, rate = self._windows, (before + rate) / 2
        self._rates = {at: known for at, known in self._rates.items() if self._windows - known[0] <= STALE}
        above, below = self._rates.get(here + 1), self._rates.get(here - 1)
        if above is not None and above[1] > GAIN * rate:
            self._level = here + 1
        elif here > 0 and (below is None or rate < GAIN * below[1]):
            self._level = here - 1
        elif above is None and self.at_once < MOST:
            self._level = here + 1


def _quantile(measured: Collection[tuple[float, float]], share: float) -> float:
    """Of the second values; 0 of none."""
    values = sorted(map(_SECOND, measured))
    return values[int(share * len(values))] if values else 0.0
