"""The limits of a key: requests per time, and requests at a time. Each edge counts its own.

A rate of n in t seconds lets n through at once and then one every t / n seconds (the generic cell rate algorithm: one number a
key, no queue), so the wait it names is exact for a single client.
"""

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from runtime.edge.problems import Problem

#: The share of a new request in the mean time that a key's requests take.
FRESH = 0.2


@dataclass(slots=True)
class _Used:
    """`full_at`: when all that was let through will have been paid for. `takes_s`: how long a request takes."""

    full_at: float = 0.0
    under_way: int = 0
    takes_s: float = 1.0


class Limits:
    """The use of each key. `clock` is in seconds and never goes back."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._used: dict[str, _Used] = {}

    def spend(self, key_id: str, rate: tuple[int, int] | None) -> None:
        """Count one request. Raises Problem 429 with the seconds until the next is let through."""
        if rate is None:
            return
        used = self._used.setdefault(key_id, _Used())
        count, period_s = rate
        now, gap_s = self._clock(), period_s / count
        wait_s = max(used.full_at, now) + gap_s - period_s - now
        if wait_s > 1e-9:
            raise _too_many(f"this key may send {count} requests in {period_s} s", wait_s)
        used.full_at = max(used.full_at, now) + gap_s

    @contextlib.contextmanager
    def hold(self, key_id: str, concurrency: int) -> Iterator[None]:
        """Count a request while it is under way. Raises Problem 429; when one will end is estimated from the last ones."""
        used = self._used.setdefault(key_id, _Used())
        if concurrency and used.under_way >= concurrency:
            raise _too_many(f"{used.under_way} requests of this key are under way", used.takes_s / concurrency)
        used.under_way += 1
        began = self._clock()
        try:
            yield
        finally:
            used.under_way -= 1
            used.takes_s += FRESH * (self._clock() - began - used.takes_s)

    def forget(self, kept: set[str]) -> None:
        for key_id in self._used.keys() - kept:
            if not self._used[key_id].under_way:
                del self._used[key_id]


def _too_many(what: str, wait_s: float) -> Problem:
    seconds = max(1, math.ceil(wait_s))
    return Problem(429, "too_many", f"{what}; send the next in {seconds} s", {"Retry-After": str(seconds)})
