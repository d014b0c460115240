"""Masked exports of runs with planted personal data, secrets and addresses: do they replay, and does anything remain?

    uv run --group dev python -m tests.bench.bench_sharing [--seed 26] [--runs 500]

Every run has three values, in its documents and for most in its question. Half are answered by rules, half by a model that changes
numbers, also those of the values, and leaves out citations.
"""

import argparse
import asyncio
import time
from collections import Counter

from actors.pipeline import pipeline
from bus.runs.run_record import record_of
from bus.runs.story import story_of
from runtime.replay.replayer import replay
from runtime.replay.sharing import shared
from runtime.replay.trace import dump, load
from tests.planted import planted
from tests.runtime.replay.test_sharing import PROFILES, run_with, text_of


async def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seed", type=int, default=26)
    arguments.add_argument("--runs", type=int, default=500)
    given = arguments.parse_args()
    values = planted(given.seed, 3 * given.runs)
    outcomes, remain, differ, used = Counter[str](), Counter[str](), Counter[str](), 0.0
    identical = other = 0
    for number in range(given.runs):
        here = values[3 * number : 3 * number + 3]
        trace = await run_with(here, number, PROFILES[number % 3])
        record = record_of(story_of(trace.records))
        assert record is not None
        outcomes[str(record.outcome)] += 1
        began = time.process_time()
        done = await shared(trace, pipeline(), key=f"{given.seed}.{number}".encode())
        used += time.process_time() - began
        again = await replay(load(list(dump(done.trace)), name="shared"), pipeline())
        identical += again.divergence is None and done.divergence is None
        other += done.other
        if done.divergence is not None:
            differ[f"{done.divergence.stage} {done.divergence.path}"] += 1
        text = text_of(done.trace)
        remain.update(name for name, _, value in here if value in text)
    print(
        f"runs: {given.runs}, {dict(outcomes)}; values: {len(values)} of {len({name for name, _, _ in values})} formats"
    )
    print(f"masked exports that replay identically: {identical}; others: {dict(differ)}")
    print(f"of these, with other citations, flags or passages than the original: {other}")
    print(f"values that remain: {sum(remain.values())} {dict(remain)}")
    print(f"processor time an export: {1000 * used / given.runs:.0f} ms")


if __name__ == "__main__":
    asyncio.run(main())
