"""Flipped bytes, zeroed and cut blocks, a lost description: the loss is counted, and every run that is left has an end."""

import contextlib
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bus.journal import sweeping
from bus.journal.journal import Journal
from bus.journal.pruner import Pruner
from bus.journal.sweeping import sweep
from bus.runs.run_record import record_of
from bus.runs.story import story_of
from bus.transport.connection import connect
from bus.transport.settings import BusSettings
from bus.wire.messages import QuestionAsked, QuestionReady, RunFinished
from bus.wire.subjects import finished, key_of
from runtime.processes.supervisor import Stack
from runtime.settings import Settings
from tests.bus.toys import READY, answered, ask, end, ended, intake, working
from tests.bus.wires import Server, Wire, serving, wired
from tests.polling import until

RUNS = 60
type Harm = Callable[[Path], None]

#: Of a server without users.
RUNS_STREAM = Path("jetstream", "$G", "streams", "RUNS")


def settings_of(server: Server) -> BusSettings:
    return BusSettings(url=server.url, runs_max_bytes=120_000, ack_wait_s=60.0, janitor_period_s=0.1)


@contextlib.asynccontextmanager
async def serving_from(folder: Path) -> AsyncIterator[tuple[Server, Wire]]:
    """A server over these files, and a connection to it."""
    with serving(folder) as server:
        async with wired(settings_of(server)) as wire:
            yield server, wire


@pytest.fixture(scope="module")
async def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal of several blocks; its server was killed."""
    folder = tmp_path_factory.mktemp("before") / "nats"
    async with serving_from(folder) as (_, wire):
        for n in range(RUNS):
            run_id = await ask(wire, f"run{n:03d}", question="How long? " * (30 if n else 1), deadline_s=0.01)
            if n:  # run000 is shorter, so that run020 begins in the first block and ends in the second
                await wire.journal.write(key_of(QuestionReady, run_id), READY)
            await wire.journal.write(key_of(RunFinished, run_id), answered())
    return folder


def flip(block: Path, at: int, size: int = 8) -> None:
    with block.open("r+b") as file:
        file.seek(at)
        there = file.read(size)
        file.seek(at)
        file.write(bytes(byte ^ 0x55 for byte in there))


def zero(block: Path, at: int, size: int = 4096) -> None:
    with block.open("r+b") as file:
        file.seek(at)
        file.write(bytes(min(size, block.stat().st_size - at)))


def blocks(runs: Path) -> list[Path]:
    return sorted((runs / "msgs").glob("*.blk"), key=lambda path: int(path.stem))


def size(runs: Path, block: int) -> int:
    return blocks(runs)[block].stat().st_size


HARMS: dict[str, Harm] = {
    "a flip in the first block": lambda runs: flip(blocks(runs)[0], size(runs, 0) // 2),
    "a flip in the last block": lambda runs: flip(blocks(runs)[-1], size(runs, -1) // 3),
    "the first length": lambda runs: flip(blocks(runs)[1], 0, 4),
    "zeros at the beginning": lambda runs: zero(blocks(runs)[0], 0),
    "zeros in the middle": lambda runs: zero(blocks(runs)[1], size(runs, 1) // 2),
    "zeros at the end": lambda runs: zero(blocks(runs)[-1], size(runs, -1) - 3000),
    "a block cut": lambda runs: os.truncate(blocks(runs)[1], size(runs, 1) - 5000),
    "a torn end": lambda runs: os.truncate(blocks(runs)[-1], size(runs, -1) - 20),
}
HARMLESS: dict[str, Harm] = {
    "nothing": lambda runs: None,
    "no index": lambda runs: (runs / "msgs" / "index.db").unlink(missing_ok=True),
    "a broken index": lambda runs: (runs / "msgs" / "index.db").write_bytes(os.urandom(400)) and None,
    "a broken description": lambda runs: (runs / "meta.inf").write_bytes(b'{"name":') and None,
    "no description": lambda runs: (runs / "meta.inf").unlink(),
    "a broken sum": lambda runs: (runs / "meta.sum").write_bytes(b"0" * 16) and None,
}


@pytest.mark.parametrize("name", [*HARMS, *HARMLESS])
async def test_damage_leaves_every_run_an_end(
    before: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(sweeping, "LATE_S", 0.0)
    folder = tmp_path / "nats"
    shutil.copytree(before, folder)
    (HARMS | HARMLESS)[name](folder / RUNS_STREAM)
    async with serving_from(folder) as (server, wire):
        lost = await wire.journal.lost_bytes()
        assert bool(lost) == (name in HARMS)
        await sweep(wire.journal, 120.0, damaged=lost > 0)
        whole = 0
        for n in range(RUNS):
            records = await wire.journal.run(f"run{n:03d}")
            if records:
                record = record_of(story_of(records))
                assert record is not None
                assert record.status == "finished"
                assert record.outcome == "answered" or record.detail
                whole += record.outcome == "answered"
        assert whole >= RUNS / 2 if name in HARMS else whole == RUNS
        await answers(server, wire)


async def answers(server: Server, wire: Wire) -> None:
    """The journal takes questions, and they are answered."""
    async with working(settings_of(server), intake, end):
        for n in range(3):
            assert (await ended(wire, await ask(wire, f"new{n}"))).outcome == "answered"


async def test_pruner_writes_a_lost_question_again(before: Path, tmp_path: Path) -> None:
    """The question of run020 ends the damaged block; its later records are in the next block."""
    folder = tmp_path / "nats"
    shutil.copytree(before, folder)
    HARMS["a flip in the first block"](folder / RUNS_STREAM)
    async with serving_from(folder) as (server, wire):
        assert [record.key.type for record in await wire.journal.run("run020")] == ["question_ready", "run_finished"]
        pruner = Pruner(wire.journal, settings_of(server), [])
        await pruner.start()
        await until(lambda: wire.journal.latest([key_of(QuestionAsked, "run020").subject]))
        await pruner.stop()


async def test_start_reports_a_damaged_journal(tmp_path: Path) -> None:
    lines: list[str] = []
    for start in range(2):
        stack = Stack(Settings(), tmp_path, ("inference",), say=lines.append, sync_always=False)
        await stack.start()
        client = await connect(stack.settings.bus, name="damaged")
        if not start:
            await Journal(client).write(finished("run"), answered())
        await client.close()
        await stack.stop()
        assert not lines or start
        (block,) = (tmp_path / "jetstream").glob("*/streams/RUNS/msgs/1.blk")
        flip(block, 0)
    (line,) = lines
    assert re.fullmatch(r"the journal in .* was damaged: nats-server dropped \d+ bytes .*`groundwire restore`.*", line)


async def test_consumers_ahead_of_the_journal_go_on(tmp_path: Path) -> None:
    async with serving_from(tmp_path / "nats") as (server, wire):
        await answers(server, wire)
        for n in range(6):
            async with working(settings_of(server), intake, end):
                await ended(wire, await ask(wire, f"old{n}"))
    last = blocks(tmp_path / "nats" / RUNS_STREAM)[-1]
    zero(last, last.stat().st_size - 2000)
    async with serving_from(tmp_path / "nats") as (server, wire), working(settings_of(server), intake, end):
        for n in range(8):
            assert (await ended(wire, await ask(wire, f"late{n}"))).outcome == "answered"
