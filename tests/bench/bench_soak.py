"""Memory of every process, and the time to an answer, while a stack answers at a steady rate for a long time.

    uv run python -m tests.bench.bench_soak [--minutes 15] [--rate 15] [--warm-up 3] [--journal-mb 32]

Half of the questions have an idempotency key, each its own; every question is another text, so that all caches fill up. The journal
is small, so that it is full and pruned for most of the time. Memory is what a process has to itself (USS). It is flat when its
memory grows by less than a quarter of its base an hour: the slope of a line through the measurements after the warm-up, less
two standard errors, since a quarter of an hour is a weak estimate for an hour.
"""

import argparse
import asyncio
import contextlib
import itertools
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import psutil

from bus.transport.settings import BusSettings
from runtime.processes.supervisor import Stack
from runtime.settings import IndexSettings
from tests.bench.stacks import address_of, ready
from tests.chaos.house import ASKED, build

MB = 1024 * 1024
#: Between two measurements, in seconds; the table shows one a minute.
LOOK_S = 10.0
#: How much a flat memory may grow in an hour, of its base.
BOUND = 0.25


@dataclass
class Soak:
    """`memory`: of each process, seconds from the beginning and bytes; `took`: when each question was asked, and its seconds."""

    memory: dict[str, list[tuple[float, int]]] = field(default_factory=dict)
    took: list[tuple[float, float]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def measure(stack: Stack, soak: Soak, at: float) -> None:
    for name, process in {**stack.processes}.items():
        with contextlib.suppress(psutil.Error):
            soak.memory.setdefault(name, []).append((at, psutil.Process(process.pid).memory_full_info().uss))


async def keep_measuring(stack: Stack, soak: Soak, began: float) -> None:
    while True:
        await asyncio.to_thread(measure, stack, soak, time.monotonic() - began)
        await asyncio.sleep(LOOK_S)


async def ask(http: aiohttp.ClientSession, soak: Soak, number: int, began: float) -> None:
    start = time.monotonic()
    body = {"question": f"{ASKED[number % len(ASKED)]} ({number})"}
    if number % 2:
        body["idempotency_key"] = f"soak-{number}"
    try:
        async with http.post("/v1/runs", json=body) as response:
            text = await response.read()
            if response.status != 200 or not text.rstrip().endswith(b'{"type":"DONE"}'):
                soak.failed.append(f"{response.status} {text[-200:]!r}" if response.status != 429 else "429")
                return
    except (aiohttp.ClientError, TimeoutError) as error:
        soak.failed.append(type(error).__name__)
        return
    soak.took.append((start - began, time.monotonic() - start))


async def run(stack: Stack, seconds: float, rate: float) -> Soak:
    soak = Soak()
    began = time.monotonic()
    measuring = asyncio.create_task(keep_measuring(stack, soak, began))
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(
        address_of(stack), timeout=timeout, connector=aiohttp.TCPConnector(limit=0)
    ) as http:
        asking: set[asyncio.Task[None]] = set()
        for number in itertools.count():
            at = number / rate
            if at > seconds:
                break
            await asyncio.sleep(max(0.0, began + at - time.monotonic()))
            task = asyncio.create_task(ask(http, soak, number, began))
            asking.add(task)
            task.add_done_callback(asking.discard)
        await asyncio.gather(*asking)
    measuring.cancel()
    return soak


def slope(points: list[tuple[float, int]]) -> tuple[float, float]:
    """Of a least squares line, and its standard error: bytes an hour."""
    if len(points) < 4:
        return 0.0, float("inf")
    hours = [at / 3600 for at, _ in points]
    sizes = [float(size) for _, size in points]
    line = statistics.linear_regression(hours, sizes)
    middle = statistics.fmean(hours)
    spread = sum((hour - middle) ** 2 for hour in hours)
    off = sum((size - line.intercept - line.slope * hour) ** 2 for hour, size in zip(hours, sizes, strict=True))
    return line.slope, (off / (len(points) - 2) / spread) ** 0.5


def told(soak: Soak, minutes: float, warm_up: float) -> bool:
    """Print the tables; whether every process is flat."""
    marks = [0.0, *(minute for minute in range(1, int(minutes) + 1))]
    print("| MB of its own | " + " | ".join(f"{mark:g} min" for mark in marks) + " | MB an hour | |")
    print("|" + "---|" * (len(marks) + 3))
    flat = True
    for name, points in soak.memory.items():
        warm = [point for point in points if point[0] >= warm_up * 60]
        grows, error = slope(warm)
        base = warm[0][1] if warm else points[-1][1]
        good = grows - 2 * error <= BOUND * base
        flat = flat and good
        sizes = [min(points, key=lambda point: abs(point[0] - mark * 60))[1] / MB for mark in marks]
        row = " | ".join(f"{size:.1f}" for size in sizes)
        print(f"| {name} | {row} | {grows / MB:+.1f} ± {2 * error / MB:.1f} | {'flat' if good else 'GROWS'} |")
    print("\n| minute | questions | p50 ms | p95 ms |\n|---|---|---|---|")
    for minute in range(int(minutes)):
        took = sorted(seconds for at, seconds in soak.took if minute * 60 <= at < (minute + 1) * 60)
        if took:
            p50, p95 = took[len(took) // 2] * 1000, took[int(len(took) * 0.95)] * 1000
            print(f"| {minute + 1} | {len(took)} | {p50:.0f} | {p95:.0f} |")
    print(f"\n{len(soak.took)} answered, {len(soak.failed)} failed {sorted(set(soak.failed))[:3]}")
    print("flat" if flat else "NOT FLAT")
    return flat


async def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--rate", type=float, default=15.0, help="questions a second")
    parser.add_argument("--warm-up", type=float, default=3.0, help="minutes that do not count")
    parser.add_argument("--journal-mb", type=int, default=32)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = await asyncio.to_thread(build, Path(folder) / "house")
        bus = BusSettings(runs_max_bytes=given.journal_mb * MB, events_max_bytes=16 * MB)
        async with ready(Path(folder), bus=bus, index=IndexSettings(dir=str(index))) as stack:
            soak = await run(stack, given.minutes * 60, given.rate)
    return told(soak, given.minutes, given.warm_up)


if __name__ == "__main__":
    raise SystemExit(0 if asyncio.run(main()) else 1)
