"""A random chaos run: a real stack is asked in every manner while a schedule drawn from a seed is done to it.

At its end every accepted question ended once, none that was refused was run, what the client saw is the record and a replay
shows the same without a model, no process is left, and `/readyz` was always correct.

    CHAOS_SEED=7 CHAOS_SECONDS=600 uv run --group dev pytest tests/faults/test_chaos_run.py -k random -s

does the schedule of seed 7 for ten minutes; a seed draws the same faults at the same times, but not the same interleaving.
Left out: deleting or purging RUNS, which by definition loses accepted questions (tests/faults/test_lost_parts.py), and steps of
the clock, which no tool can simulate on every machine; distant deadlines replace them.
"""

import asyncio
import collections
import contextlib
import json
import os
import random
import secrets
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from actors.pipeline import pipeline
from bus.journal.journal import Journal
from bus.transport.connection import Client as Operator
from bus.transport.connection import connect, keep_trying
from bus.transport.settings import BusSettings
from runtime.processes.supervisor import Stack
from runtime.replay.replayer import replay
from tests.chaos.client import DONE, Asked, Client, session
from tests.chaos.faults import Faults
from tests.chaos.house import FOUR, build, disk, stack
from tests.chaos.load import Load
from tests.chaos.schedule import Fault, schedule
from tests.chaos.truth import Readiness, Witness
from tests.polling import until

SECONDS = float(os.environ.get("CHAOS_SECONDS", "25"))
#: A fixed seed for the suite, so that no change fails by a new schedule; it has every kind of fault in those seconds.
SEED = int(os.environ.get("CHAOS_SEED") or 198)
#: `-m slow` draws a fresh seed.
FRESH_S = 60.0
#: Seeds with schedules that revealed a fault, with their seconds; each fault has a small test too, so these are slow ones.
FOUND: dict[int, float] = {
    2: 60.0,  # a snapshot damaged, opened and mended; a disk that was full
    3: 60.0,  # an end that was sent while the disk was full
    546493: 60.0,  # events of a stream with a purged beginning
}

#: nats-py leaves the socket of a connection attempt that a kill cut off for the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

AT_ONCE = 10
#: So that finished runs leave the journal all the while.
SMALL = BusSettings(deadline_s=40.0, runs_max_bytes=8_000_000, events_max_bytes=16_000_000)
#: No question may take longer: the deadline of a run that names none, and the slack of a busy machine.
LONGEST_S = SMALL.deadline_s + 30.0
#: Around a loss of events, a stream may be cut: the run's record decides.
AROUND_S = 5.0


@pytest.mark.first
@pytest.mark.timeout(max(300.0, 4 * SECONDS))
async def test_a_random_run(tmp_path: Path) -> None:
    await chaos(tmp_path, SEED, SECONDS)


@pytest.mark.slow
@pytest.mark.timeout(max(300.0, 4 * SECONDS))
async def test_a_fresh_seed(tmp_path: Path) -> None:
    await chaos(tmp_path, secrets.randbelow(10**6), max(SECONDS, FRESH_S))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", FOUND)
async def test_a_found_seed(tmp_path: Path, seed: int) -> None:
    await chaos(tmp_path, seed, FOUND[seed])


@dataclass
class Chaos:
    """One chaos run that is over."""

    load: Load
    witness: Witness
    readiness: Readiness
    faults: Faults
    began: float

    def undisturbed(self, asked: Asked) -> bool:
        """Whether no events were thrown away while it ran."""
        return not any(asked.began - AROUND_S < at < asked.ended + AROUND_S for at in self.faults.losses)


async def chaos(
    folder: Path,
    seed: int,
    seconds: float,
    processes: int = FOUR,
    plan: Callable[[int, float, Sequence[str]], list[Fault]] = schedule,
) -> None:
    """Run it and check all; prints the seed and the schedule on failure."""
    index = await asyncio.to_thread(build, folder / "house")
    with disk(folder / "state") as own_disk:
        async with stack(index, folder / "state", processes, SMALL) as running:
            planned = plan(seed, seconds, [name for name in running.processes if name.startswith("actors")])
            faults = Faults(running, index, own_disk)
            operator = await connect(running.settings.bus, name="chaos")
            keep_trying(operator)
            try:
                await _run(running, faults, planned, seed, operator)
            except BaseException:
                print(f"\nCHAOS_SEED={seed} CHAOS_SECONDS={seconds:g}\n" + "\n".join(faults.said))
                for log in sorted(running.folder.glob("*.log")):
                    print(f"--- {log.name}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-15:]))
                raise
            finally:
                await operator.close()  # a left one would continue, into the logs of later tests


async def _run(running: Stack, faults: Faults, planned: list[Fault], seed: int, operator: Operator) -> None:
    url = f"http://127.0.0.1:{running.settings.edge.port}"
    journal = Journal(operator)
    witness = Witness()
    async with session() as http:
        readiness = Readiness(http, url)
        load = Load(running, Client(http, url), journal, random.Random(seed))
        await ready(readiness)
        began = time.monotonic()
        over = asyncio.Event()
        async with watching(witness.follow(operator)):
            async with watching(readiness.poll(), readiness.probe()):
                async with asyncio.TaskGroup() as group:
                    asking = group.create_task(load.run(AT_ONCE, over))
                    await faults.run(planned)
                    over.set()
                    await asyncio.wait([asking], timeout=LONGEST_S)
                    assert asking.done(), load.under_way()
                await ready(readiness)
            await until(lambda: not witness.open(), within_s=30.0, what="the end of every run")
        done = Chaos(load, witness, readiness, faults, began)
        told(done)
        check_streams(done)
        check_records(done)
        check_journal(done)
        await check_resumed(done)
    await check_replays(done)
    assert not (lies := readiness.lies(began)), "\n".join(lies)


@contextlib.asynccontextmanager
async def watching(*watches: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Run these meanwhile."""
    tasks = [asyncio.create_task(each) for each in watches]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def ready(readiness: Readiness) -> None:
    async def there() -> bool:
        with contextlib.suppress(aiohttp.ClientError, ConnectionError, TimeoutError):
            async with readiness.http.get(f"{readiness.url}/readyz") as response:
                return response.status == 200
        return False

    await until(there, within_s=60.0, what="readiness")


def told(done: Chaos) -> None:
    asked = [each for _, each in done.load.asked]
    outcomes = collections.Counter(str(record["outcome"]) for record in done.load.records.values())
    probes = collections.Counter(probe.good for probe in done.readiness.probes)
    polls = collections.Counter(poll.good for poll in done.readiness.polls)
    failed = [
        f"{asked.began - done.began:.1f} s: {record['reason']} {record['detail']} after {_reached(record)}"
        for _, asked in done.load.asked
        if (record := done.load.records.get(asked.run_id)) is not None and record["outcome"] == "failed"
    ]
    print(
        f"\n{len(asked)} questions ({sum(not each.accepted for each in asked)} not accepted), "
        f"{done.load.client.reconnects} reconnects, {len(done.load.traces)} traces, outcomes {dict(outcomes)}, "
        f"probes {dict(probes)}, readiness {dict(polls)}, gaps {[(e.gap, done.undisturbed(e)) for e in asked if e.gap]}\n"
        f"failed: {failed}\n" + "\n".join(done.faults.said)
    )


def _reached(record: dict[str, Any]) -> str:
    return " ".join(f"{stage['stage']}@{stage['began_s']:.1f}" for stage in record.get("stages", [])[-3:])


def check_streams(done: Chaos) -> None:
    """What each client saw is a stream as it should be; only where events were thrown away may some be missing."""
    for manner, asked in done.load.asked:
        if not asked.accepted:
            continue
        if asked.gap:
            assert not done.undisturbed(asked), (manner, asked)
            continue
        if not done.undisturbed(asked):
            continue
        assert asked.lines.count(DONE) == 1, (manner, asked)
        assert asked.lines[-1] == DONE
        said = [json.loads(line) for line in asked.lines]
        tokens = [each["index"] for each in said if each["type"] == "token" and "index" in each]
        assert tokens == list(range(1, len(tokens) + 1)), asked
        kinds = collections.Counter(each["type"] for each in said if each.get("status") == "end")
        assert kinds["token"] <= 1, asked
        assert kinds["references"] + kinds["passages"] + kinds["error"] <= 1, asked
        assert kinds["token"] + kinds["error"] >= 1, asked


def check_records(done: Chaos) -> None:
    """Each accepted question has a record with an outcome, and an answer is what was shown."""
    for manner, asked in done.load.asked:
        if not asked.accepted:
            continue
        record = done.load.records.get(asked.run_id)
        assert record is not None, (manner, asked)
        if record["outcome"] != "answered" or not done.undisturbed(asked):
            continue
        said = [json.loads(line) for line in asked.lines]
        shown = "".join(each["content"] for each in said if each["type"] == "token" and "index" in each)
        assert shown == record["answer"], (manner, asked, record)


def check_journal(done: Chaos) -> None:
    """No key was written twice, each run has one end, and what was refused has no record of any stage."""
    twice = [key for key, count in done.witness.written.items() if count > 1]
    assert not twice
    texts = {text: run_id for run_id, text in done.witness.asked.items()}
    for manner, asked in done.load.asked:
        if asked.accepted:
            assert asked.run_id in done.witness.asked, (manner, asked)
        elif asked.refused and asked.text in texts:
            kinds = done.witness.kinds[texts[asked.text]]
            assert kinds <= {"question_asked", "run_finished", "access"}, (manner, asked, kinds)


async def check_resumed(done: Chaos) -> None:
    """A reader that was cut off repeatedly saw the same events as one connection."""
    for manner, asked in done.load.asked[-50:]:
        if asked.accepted and not asked.gap and done.undisturbed(asked) and manner not in ("all events", "integration"):
            assert await done.load.client.from_the_start(asked.run_id) == asked.lines


async def check_replays(done: Chaos) -> None:
    """A sample of runs shows the same again without a model."""
    disturbed = {asked.run_id for _, asked in done.load.asked if not done.undisturbed(asked)}
    for trace in done.load.traces:
        if trace.run_id not in disturbed:
            done_again = await replay(trace, pipeline())
            assert done_again.divergence is None, (trace.run_id, done_again)
