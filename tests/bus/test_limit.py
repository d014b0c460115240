"""How many may be under way: on a pretended machine and a pretended clock."""

import heapq
import random

import pytest

from bus.delivery.limit import Limit


def driven(limit: Limit, *, at_once: int, alone_s: float, runs: int, spread: float = 0.0, seed: int = 1) -> float:
    """Runs in a row on a machine that does `at_once` side by side, as many as the limit lets; the rate at which they were done.

    A run that begins when more are under way takes as much longer.
    """
    chance = random.Random(seed)
    limit.runs.clear()
    now, number, began = 0.0, 0, 0.0
    ends: list[tuple[float, str]] = []
    half = runs // 2
    for done in range(runs):
        while limit.has_room("interactive"):
            number += 1
            limit.begin(str(number), "interactive", now, now + 1e9)
            share = max(1.0, len(limit.runs) / at_once)
            heapq.heappush(ends, (now + alone_s * share * chance.uniform(1 - spread, 1 + spread), str(number)))
        now, run_id = heapq.heappop(ends)
        limit.end(run_id, now)
        if done == half:
            began = now
    return (runs - half - 1) / (now - began)


@pytest.mark.parametrize("at_once", [1, 2, 4, 16, 64])
@pytest.mark.parametrize("alone_s", [0.05, 5.0])
def test_limit_adapts_to_the_machine(at_once: int, alone_s: float) -> None:
    limit = Limit()
    rate = driven(limit, at_once=at_once, alone_s=alone_s, runs=4000, spread=0.3)
    assert rate > 0.9 * at_once / alone_s
    assert limit.per_s == pytest.approx(at_once / alone_s, rel=0.35)
    assert at_once <= limit.at_once <= 2 * at_once + 1
    assert limit.took_s < 2 * alone_s


def test_limit_follows_a_slower_and_faster_machine() -> None:
    limit = Limit()
    driven(limit, at_once=16, alone_s=0.1, runs=2000)
    before = limit.at_once
    driven(limit, at_once=4, alone_s=0.1, runs=2000)
    assert limit.at_once < before / 2
    driven(limit, at_once=16, alone_s=0.1, runs=4000)
    assert limit.at_once >= before * 0.8


def test_long_work_does_not_lower_the_limit_for_ever() -> None:
    """A model in place of rules: alone, an answer now takes fifty times as long."""
    limit = Limit()
    driven(limit, at_once=8, alone_s=0.1, runs=1000)
    driven(limit, at_once=8, alone_s=5.0, runs=2000)
    assert limit.alone_s == pytest.approx(5.0, rel=0.3)
    assert limit.at_once >= 6


def test_batch_takes_no_interactive_slot() -> None:
    limit = Limit(first=2)
    for n in range(2):
        limit.begin(str(n), "batch", 0.0, 10.0)
    assert (limit.has_room("batch"), limit.has_room("interactive")) == (False, True)


def test_run_with_a_lost_end_frees_its_slot() -> None:
    limit = Limit(first=1)
    limit.begin("lost", "interactive", 0.0, 10.0)
    limit.sweep(9.0)
    assert not limit.has_room("interactive")
    limit.sweep(11.0)
    assert limit.has_room("interactive")
    limit.end("lost", 12.0)
    assert limit.took_s == 0.0
