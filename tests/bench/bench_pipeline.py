"""Questions per second and time per question: the whole stack with a scripted engine and no index.

    uv run python -m tests.bench.bench_pipeline [--questions 600] [--at-once 16] [--processes 2]

Every stage's message is synced to disk (`sync_interval: always`). Questions go over HTTP through the edge, and each answer has
60 tokens. The same run lets raw nats-py do as many publishes and acknowledged pulls as the pipeline does, and prints the ratio.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

import aiohttp
import psutil
from nats.js.api import AckPolicy, ConsumerConfig, StreamConfig

from bus.transport.connection import connect
from bus.transport.settings import BusSettings
from runtime.processes.ports import free_port
from runtime.processes.supervisor import Stack
from runtime.settings import ActorsSettings, EdgeSettings, InferenceSettings, Settings
from tests.bench.stacks import Answer, ask, ready

WORDS = [
    "the", "shop", "pays", "refunds", "back", "to", "each", "buyer", "who", "asks", "within", "two", "weeks", "after", "delivery",
]  # fmt: skip
CONTEXT = {
    "content": " ".join(WORDS * 4).capitalize() + ".",
    "metadata": {"source_id": "refunds.md", "title": "Refunds", "language": "en"},
}


def processor_s(stack: Stack) -> dict[str, float]:
    """CPU seconds that each process has used so far, which depend less on other load than wall time does."""
    used = {name: psutil.Process(process.pid).cpu_times() for name, process in stack.processes.items()}
    used["client"] = psutil.Process().cpu_times()
    return {name: times.user + times.system for name, times in used.items()}


async def one(session: aiohttp.ClientSession, url: str, number: int) -> Answer:
    return await ask(session, url, question=f"When does the shop pay refunds to buyer {number}?", contexts=[CONTEXT])


async def many(session: aiohttp.ClientSession, url: str, count: int, at_once: int) -> tuple[float, list[Answer]]:
    """Ask `count` questions, `at_once` in flight. Returns wall seconds and the answers."""
    left = iter(range(count))
    answers: list[Answer] = []

    async def client() -> None:
        answers.extend([await one(session, url, number) for number in left])

    began = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(at_once)))
    return time.perf_counter() - began, answers


async def raw(bus: BusSettings, publishes: int, at_once: int) -> float:
    """Seconds that nats-py alone takes to publish that many records, and to pull and acknowledge each."""
    client = await connect(bus, name="bench-raw")
    js = client.jetstream(timeout=5.0)
    await js.add_stream(StreamConfig(name="BENCH", subjects=["bench.>"]))
    await js.add_consumer("BENCH", ConsumerConfig(durable_name="bench", ack_policy=AckPolicy.EXPLICIT))
    pull = await js.pull_subscribe_bind("bench", stream="BENCH")
    payload = b"x" * 1500
    left = iter(range(publishes))

    async def publish() -> None:
        for number in left:
            await js.publish(f"bench.{number}", payload)

    async def acknowledge() -> None:
        for _ in range(publishes):
            (msg,) = await pull.fetch(1, timeout=5)
            await msg.ack()

    began = time.perf_counter()
    await asyncio.gather(acknowledge(), *(publish() for _ in range(at_once)))
    took = time.perf_counter() - began
    await js.delete_stream("BENCH")
    await client.close()
    return took


async def main(questions: int, at_once: int, processes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            inference=InferenceSettings(engine="scripted", cache_entries=0),
            edge=EdgeSettings(port=free_port()),
            actors=ActorsSettings(processes=processes),
            log="ERROR",
        )
        stack = Stack(settings, Path(folder), ("inference", "actors", "edge"))
        async with ready(stack) as url:
            async with aiohttp.ClientSession() as session:
                await many(session, url, 4 * at_once, at_once)
                lone = [(await one(session, url, n)).took_s for n in range(60)]
                before = processor_s(stack)
                wall, answers = await many(session, url, questions, at_once)
                spent = {name: s - before[name] for name, s in processor_s(stack).items()}
            client = await connect(stack.settings.bus, name="bench")
            js = client.jetstream()
            stored = (await js.stream_info("RUNS")).state.messages + (await js.stream_info("EVENTS")).state.messages
            per_run = stored / (questions + 4 * at_once + 60)
            await client.close()
            plain = await raw(stack.settings.bus, int(per_run * questions), at_once)
    took = sorted(answer.took_s for answer in answers)
    figures = {
        "questions_per_s": round(questions / wall, 1),
        "at_once": at_once,
        "tokens_per_question": round(sum(answer.tokens for answer in answers) / questions, 1),
        "p50_ms": round(statistics.median(took) * 1000, 1),
        "p99_ms": round(took[int(len(took) * 0.99)] * 1000, 1),
        "lone_p50_ms": round(statistics.median(lone) * 1000, 1),
        "stored_messages_per_question": round(per_run, 1),
        "raw_nats_py_s": round(plain, 2),
        "pipeline_s": round(wall, 2),
        "ratio_to_raw": round(wall / plain, 2),
        **{f"cpu_ms_{name}": round(s / questions * 1000, 2) for name, s in spent.items()},
        "cpu_ms_all": round(sum(spent.values()) / questions * 1000, 2),
    }
    for name, value in figures.items():
        print(f"{name:30} {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=600)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--processes", type=int, default=0, help="of actors")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.questions, arguments.at_once, arguments.processes))
