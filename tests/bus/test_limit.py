"""How many may be under way: on a simulated machine and clock."""

import heapq
import itertools
import random

import pytest

from bus.delivery.limit import FRESH_S, Limit


def driven(
    limit: Limit,
    *,
    at_once: int,
    takes_s: float,
    seconds: float,
    began: float = 0.0,
    spread: float = 0.3,
    long: float = 0.0,
) -> float:
    """As many runs as the limit allows on a machine that does `at_once` side by side; the rate of the second half.

    `long`: the share of runs that take fifty times as long.
    """
    chance = random.Random(1)
    limit.runs.clear()
    now, number, done = began, 0, 0
    free = [began] * at_once
    ends: list[tuple[float, str]] = []
    while now < began + seconds:
        while limit.has_room("interactive"):
            number += 1
            limit.begin(str(number), "interactive", now, now + 1e9)
            times = 50 if chance.random() < long else 1
            end = max(now, heapq.heappop(free)) + times * takes_s * chance.uniform(1 - spread, 1 + spread)
            heapq.heappush(free, end)
            heapq.heappush(ends, (end, str(number)))
        now, run_id = heapq.heappop(ends)
        limit.end(run_id, now)
        done += now > began + seconds / 2
    return done / (seconds / 2)


@pytest.mark.parametrize(("at_once", "takes_s"), [(1, 5.0), (16, 0.1), (64, 5.0)])
def test_limit_adapts_to_the_machine(at_once: int, takes_s: float) -> None:
    limit = Limit(least=4)
    rate = driven(limit, at_once=at_once, takes_s=takes_s, seconds=300 * takes_s)
    assert rate > 0.9 * at_once / takes_s
    assert limit.per_s == pytest.approx(at_once / takes_s, rel=0.15)
    assert limit.at_once <= max(6, 2.3 * at_once)


def test_limit_follows_a_narrower_and_wider_machine() -> None:
    limit = Limit(least=4)
    driven(limit, at_once=16, takes_s=0.1, seconds=60)
    wide = limit.at_once
    driven(limit, at_once=2, takes_s=0.1, seconds=60, began=100)
    assert limit.at_once < wide / 2
    assert driven(limit, at_once=16, takes_s=0.1, seconds=120, began=200) > 0.8 * 160


def test_bunched_ends_do_not_raise_the_limit() -> None:
    """The calls of all runs take turns on a server of one: the runs end one after the other, and then none for long."""
    limit = Limit(least=4)
    numbers = itertools.count()

    def begin(now: float, count: int = 1) -> list[str]:
        names = [str(next(numbers)) for _ in range(count)]
        for name in names:
            limit.begin(name, "interactive", now, 1e9)
        return names

    def end(names: list[str], now: float) -> list[str]:
        following = []
        for n, name in enumerate(names):
            limit.end(name, now + n / 5)
            following += begin(now + n / 5)
        return following

    for second in range(16):
        limit.end(begin(float(second))[0], second + 0.6)
    four = begin(20.0, 4)
    others = end(four[:3], 21.7)
    assert limit.at_once == 9
    others += begin(22.1, 5)
    end(four[3:], 22.3)
    end(others, 26.9)
    assert limit.at_once == 4
    assert limit.per_s < 2.0 < limit.longest_s < 3.0


def test_whole_batches_are_counted() -> None:
    limit = Limit(least=4)
    assert driven(limit, at_once=8, takes_s=2.0, seconds=400, spread=0.0) > 0.9 * 4
    assert limit.per_s == pytest.approx(4, rel=0.05)


def test_limit_rises_in_mixed_traffic() -> None:
    long = 0.3
    rate = driven(Limit(least=4), at_once=16, takes_s=0.1, seconds=600, long=long)
    assert rate > 0.85 * 16 / (0.1 * (1 - long) + 5 * long)


def test_interrupted_window_means_nothing() -> None:
    limit = Limit(least=4)
    driven(limit, at_once=4, takes_s=0.1, seconds=10)
    rate = limit.per_s
    for n in range(4):
        limit.end(str(n), 25.0)
    driven(limit, at_once=4, takes_s=0.1, seconds=3, began=25.0)
    assert limit.per_s > 0.8 * rate


def test_old_measurements_are_forgotten() -> None:
    limit = Limit(least=4)
    driven(limit, at_once=4, takes_s=0.1, seconds=10)
    assert limit.per_s > 0 < limit.longest_s
    limit.runs.clear()
    limit.sweep(11 + FRESH_S)
    assert (limit.per_s, limit.longest_s) == (0, 0)


def test_batch_takes_no_interactive_slot() -> None:
    limit = Limit(least=2)
    for n in range(2):
        limit.begin(str(n), "batch", 0.0, 10.0)
    assert (limit.has_room("batch"), limit.has_room("interactive")) == (False, True)


def test_few_batch_runs_beside_persons() -> None:
    limit = Limit(least=4)
    limit.begin("person", "interactive", 1.0, 10.0)
    limit.begin("batch", "batch", 1.0, 10.0)
    assert not limit.has_room("batch")
    limit.end("person", 1.1)
    assert limit.has_room("batch")
    limit.begin("second", "batch", 1.1, 10.0)
    assert not limit.has_room("batch")
    limit.end("second", 4.0)
    limit.begin("third", "batch", 4.0, 10.0)
    assert limit.has_room("batch")


def test_run_with_a_lost_end_frees_its_slot() -> None:
    limit = Limit(least=1)
    limit.begin("lost", "interactive", 0.0, 10.0)
    limit.sweep(9.0)
    assert not limit.has_room("interactive")
    limit.sweep(11.0)
    assert limit.has_room("interactive")
    limit.end("lost", 12.0)
    assert limit.longest_s == 0.0
