"""Overload: answered questions of the whole stack, compared with a plain queue in front of the same work.

    uv run python -m tests.bench.bench_overload [--seconds 12] [--times 1 2 10] [--bursts 50 200 800 5000] [--model SECONDS BATCH]

The capacity is the best rate at which clients get answers that each ask again as soon as they have one, 2 to 16 at once, over NATS
past the door; it is measured before and after each load, since a shared machine has more to give at one time than at another.
Then another process sends questions at 1, 2 and 10 times that rate, independent of the replies (open loop). `goodput`:
answers that came within a second (or five times the unloaded p95 if that is more), over the capacity. Then a person asks twice a
second under a flood of batch questions. The reference is an aiohttp server that puts every question into an unbounded queue, from
which eight tasks ask the same pipeline.

A burst is that many interactive questions at once, with a deadline of 20 s. `possible`: as many of them as the capacity allows
until the last moment at which a run can begin. `--model`: a scripted model answers each prompt after SECONDS, BATCH at a time.

Load, stack and nats-server share this machine's cores: read the ratios, and repeat.
"""

import argparse
import asyncio
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvloop
from aiohttp import web

from bus.journal.journal import Journal
from bus.runs.runs import Runs
from bus.transport.connection import connect, keep_trying
from bus.wire.messages import QuestionAsked
from runtime.processes.ports import free_port
from runtime.settings import IndexSettings, InferenceSettings
from tests.bench.stacks import QUESTIONS, Listener, answering, demo_index, process, ready
from tests.runtime.engines.fake_server import Fake, serving, streams

QUEUE_TASKS = 8
#: The deadline of the questions of a burst, and how many of them are sent in a second.
DEADLINE_S, BURST_PER_S = 20.0, 1e6
PATIENCE_S = 60.0


# ---------------------------------------------------------------- the load, in a process of its own


def request(port: int, **fields: object) -> bytes:
    body = json.dumps(fields).encode()
    head = (
        f"POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nConnection: close\r\n"
    )
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def outcome(asked: Listener) -> tuple[int, float]:
    """The status, 0 without an answer and 599 after a broken one, and the seconds until the end."""
    said = b"".join(data for _, data in asked.received)
    if not asked.done.done() or not said:
        return 0, 0.0
    status = int(said[9:12])
    broken = status == 200 and (b'"DONE"' not in said or b'"type":"error"' in said)
    return 599 if broken else status, (asked.received[-1][0] - asked.began) / 1e9


async def load(port: int, rate: float, seconds: float, warm_s: float, **fields: object) -> None:
    """Ask at that rate, and print when each question came, what became of it and after how long."""
    loop = asyncio.get_running_loop()
    questions = itertools.cycle(QUESTIONS)
    asked: list[Listener] = []
    began = time.monotonic_ns()
    count = round(rate * seconds)
    for n in range(count):
        await asyncio.sleep(max(0.0, n / rate - (time.monotonic_ns() - began) / 1e9))
        one = Listener(request(port, **{"question": next(questions), **fields}))
        asked.append(one)
        task = asyncio.ensure_future(loop.create_connection(lambda one=one: one, "127.0.0.1", port))
        task.add_done_callback(lambda done, one=one: done.exception() and one.connection_lost(None))
    await asyncio.wait([one.done for one in asked], timeout=PATIENCE_S)
    rows = [((one.began - began) / 1e9, *outcome(one)) for one in asked]
    print(json.dumps([row for row in rows if row[0] >= warm_s]))


async def bare(port: int, url: str) -> None:
    """The reference: an unbounded queue in front of the pipeline."""
    client = await connect(url, name="bench-bare")
    keep_trying(client)
    runs = Runs(Journal(client))
    await runs.start()
    queue: asyncio.Queue[tuple[str, asyncio.Future[None]]] = asyncio.Queue()

    async def work() -> None:
        while True:
            question, done = await queue.get()
            _, reader = await runs.submit_and_read(QuestionAsked(question=question))
            with reader:
                while await reader.batch():
                    pass
            if not done.done():
                done.set_result(None)

    async def handle(request: web.Request) -> web.Response:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.put_nowait(((await request.json())["question"], done))
        await done
        return web.Response(body=b'{"type":"DONE"}')

    app = web.Application()
    app.router.add_post("/v1/runs", handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=4096).start()
    await asyncio.gather(*(work() for _ in range(QUEUE_TASKS)))


# ---------------------------------------------------------------- the measurement


@dataclass(frozen=True)
class Result:
    """Of one load: how many were asked for, and the times of those answered and of those refused."""

    seconds: float
    answered_s: list[float]
    refused_s: list[float]
    lost: int

    def good_per_s(self, within_s: float) -> float:
        return sum(took <= within_s for took in self.answered_s) / self.seconds


def quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0


def in_role(role: str, *arguments: object) -> list[str]:
    """The command of a process of this module."""
    return [sys.executable, "-m", "tests.bench.bench_overload", "--role", role, *map(str, arguments)]


async def loaded(port: int, rate: float, seconds: float, warm_s: float = 2.0, **fields: object) -> Result:
    arguments = ("--port", port, "--rate", rate, "--seconds", seconds + warm_s, "--warm", warm_s)
    command = in_role("load", *arguments, "--fields", json.dumps(fields))
    made = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    rows = json.loads((await made.communicate())[0])
    return Result(
        seconds,
        [took for _, status, took in rows if status == 200],
        [took for _, status, took in rows if status == 429],
        sum(status not in (200, 429) for _, status, _ in rows),
    )


def scripted(seconds: float, batch: int) -> Fake:
    """A model server that takes so long for an answer, and makes so many at a time. Its JSON has the first value of each choice."""
    fake, turn = Fake(), asyncio.Semaphore(batch)

    async def answer(asked: web.Request) -> web.StreamResponse:
        wanted = (await asked.json()).get("response_format")
        async with turn:
            await asyncio.sleep(seconds)
        text = json.dumps(shaped(wanted["json_schema"]["schema"])) if wanted else "The documents say so [1]."
        return await streams(text)(asked)

    fake.answers.append(answer)
    return fake


def shaped(schema: dict[str, Any], whole: dict[str, Any] | None = None) -> Any:
    """The plainest value of a JSON Schema."""
    whole = whole or schema
    if "$ref" in schema:
        return shaped(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole)
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return shaped(schema["anyOf"][0], whole)
    if schema.get("type") == "object":
        return {name: shaped(each, whole) for name, each in schema.get("properties", {}).items()}
    plain = {"array": [], "boolean": False, "integer": 1, "number": 1, "null": None}
    return plain.get(schema.get("type", ""), "so")


async def capacity(url: str, seconds: float, levels: Sequence[int] = (2, 4, 8, 16)) -> float:
    """The best of several closed loops over NATS, in answers per second."""
    client = await connect(url, name="bench-capacity")
    runs = Runs(Journal(client))
    await runs.start()
    questions = itertools.cycle(QUESTIONS)
    best = 0.0
    for at_once in levels:
        done, began = 0, time.perf_counter()

        async def ask(end: float) -> None:
            nonlocal done
            while time.perf_counter() < end:
                _, reader = await runs.submit_and_read(QuestionAsked(question=next(questions)))
                with reader:
                    while await reader.batch():
                        pass
                done += 1

        await asyncio.gather(*(ask(began + seconds) for _ in range(at_once)))
        best = max(best, done / (time.perf_counter() - began))
    await runs.stop()
    await client.close()
    return best


def told(name: str, found: Result, rate: float, within_s: float, alone_p95_s: float) -> None:
    answered, refused = found.answered_s, found.refused_s
    p50_ms, p95_ms = (quantile(answered, share) * 1000 for share in (0.5, 0.95))
    refused_ms = " ".join(f"{quantile(refused, share) * 1000:7.1f}" for share in (0.5, 0.95, 0.99))
    good, each_s, refused_each_s = (
        found.good_per_s(within_s) / rate,
        len(answered) / found.seconds,
        len(refused) / found.seconds,
    )
    print(
        f"{name:22} {rate:8.1f} {good:8.2f} {each_s:9.1f} {p50_ms:8.0f} {p95_ms:8.0f} {p95_ms / alone_p95_s / 1000:9.2f}"
        f" {refused_each_s:9.1f} {refused_ms} {found.lost:5}",
        flush=True,
    )


async def main(arguments: argparse.Namespace, folder: Path) -> None:
    index = await asyncio.to_thread(demo_index, folder)
    if not arguments.model:
        await measure(arguments, folder, index, InferenceSettings(cache_entries=0))
        return
    seconds, batch = arguments.model
    async with serving(scripted(seconds, int(batch))) as fake:
        model = InferenceSettings(engine="openai", base_url=fake.url, model="fake-1", cache_entries=0)
        await measure(arguments, folder, index, model)
        print(f"{len(fake.bodies)} prompts")


async def measure(arguments: argparse.Namespace, folder: Path, index: Path, model: InferenceSettings) -> None:
    searched = IndexSettings(dir=str(index))
    async with ready(folder / "state", index=searched, inference=model, log="ERROR") as stack:
        bus, port = stack.settings.bus, stack.settings.edge.port
        url = bus.url.replace("//", f"//{bus.user}:{bus.password}@")
        if arguments.times:
            await overloaded(arguments, port, url)
        if arguments.bursts:
            await bursts(arguments, port, url)


async def bursts(arguments: argparse.Namespace, port: int, url: str) -> None:
    """That many questions at once, after one another."""
    alone_s = quantile((await loaded(port, 1.0, 10.0)).answered_s, 0.5)
    levels = (int(arguments.model[1]), 2 * int(arguments.model[1])) if arguments.model else (2, 4, 8, 16)
    before = await capacity(url, 2.0, levels)
    print(
        f"{'at once':>7} {'per s':>7} {'possible':>8} {'answered':>8} {'slowest s':>9} {'refused':>7}"
        f" {'p95 s':>6} {'last s':>6} {'lost':>5}"
    )
    for count in arguments.bursts:
        result = await loaded(port, BURST_PER_S, count / BURST_PER_S, 0.0, deadline_s=DEADLINE_S)
        after = await capacity(url, 2.0, levels)
        rate = (before + after) / 2
        possible = min(count, int(rate * (DEADLINE_S - alone_s)))
        slowest_s, p95_s, last_s = (
            quantile(*each) for each in ((result.answered_s, 1), (result.refused_s, 0.95), (result.refused_s, 1))
        )
        print(
            f"{count:7} {rate:7.1f} {possible:8} {len(result.answered_s):8} {slowest_s:9.1f}"
            f" {len(result.refused_s):7} {p95_s:6.2f} {last_s:6.2f} {result.lost:5}",
            flush=True,
        )
        before = after


async def overloaded(arguments: argparse.Namespace, port: int, url: str) -> None:
    """More questions a second than can be answered, for some seconds."""
    bare_port, seconds = free_port(), arguments.seconds
    await loaded(port, 4.0, 10.0)
    alone = await loaded(port, 2.0, 2 * seconds)
    alone_s = quantile(alone.answered_s, 0.95)
    within_s = max(1.0, 5 * alone_s)
    print(f"unloaded p50 {quantile(alone.answered_s, 0.5) * 1000:.0f} ms, p95 {alone_s * 1000:.0f} ms")
    print(
        f"{'questions':22} {'capacity':>8} {'goodput':>8} {'answers/s':>9} {'p50 ms':>8} {'p95 ms':>8} {'/unloaded':>9}"
        f" {'refused/s':>9} {'p50 ms':>7} {'p95 ms':>7} {'p99 ms':>7} {'lost':>5}"
    )
    before = await capacity(url, 2.0)

    async def measured(name: str, port: int, times: float, priority: str = "interactive") -> None:
        nonlocal before
        flood = loaded(port, times * before, seconds, priority=priority)
        if priority == "interactive":
            found = [(name, await flood)]
        else:
            both = await asyncio.gather(flood, loaded(port, 2.0, seconds))
            found = list(zip((name, "  a person beside it"), both, strict=True))
        after = await capacity(url, 2.0)
        for who, result in found:
            told(who, result, (before + after) / 2, within_s, alone_s)
        before = after

    for times in arguments.times:
        await measured(f"ours, {times:g} x", port, times)
    await measured("ours, 10 x batch", port, 10.0, "batch")
    for times in arguments.times:
        with process(*in_role("bare", "--port", bare_port, "--url", url)):
            await answering(bare_port, "/none")
            await measured(f"bare queue, {times:g} x", bare_port, times)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=12.0)
    parser.add_argument("--times", type=float, nargs="*", default=[1.0, 2.0, 10.0])
    parser.add_argument("--bursts", type=int, nargs="*", default=[50, 200, 800, 5000])
    parser.add_argument("--model", type=float, nargs=2, metavar=("SECONDS", "BATCH"))
    parser.add_argument("--role", choices=["measure", "load", "bare"], default="measure", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--rate", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--warm", type=float, default=0.0, help=argparse.SUPPRESS)
    parser.add_argument("--fields", type=json.loads, default={}, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.role == "load":
        uvloop.run(load(given.port, given.rate, given.seconds, given.warm, **given.fields))
    elif given.role == "bare":
        uvloop.run(bare(given.port, given.url))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            asyncio.run(main(given, Path(temporary)))
