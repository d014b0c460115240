"""Flipped bytes, zeroed and cut blocks, a lost description: what is broken is told, the rest is kept, and every run has an end."""

import contextlib
import errno
import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bus import sweeping
from bus.connection import Inbox, connect, declare_streams, keep_trying
from bus.delivery import Worker
from bus.graph import Graph
from bus.journal import Journal
from bus.messages import QuestionReady, RunFinished
from bus.run_record import record_of
from bus.settings import BusSettings
from bus.subjects import key_of
from bus.sweeping import DAMAGED, runs_in, sweep
from runtime.journal.blocks import read
from runtime.journal.repair import ACCOUNTS, check, lost, repair, reports
from tests.bus.toys import READY, answered, ask, done, ended
from tests.bus.toys import end as toy_end
from tests.bus.toys import intake as toy_intake
from tests.bus.wires import Server, Wire

RUNS = 60
type Harm = Callable[[Path], None]

#: Of a server without users.
STREAMS = ACCOUNTS / "$G" / "streams"


def settings_of(server: Server) -> BusSettings:
    return BusSettings(url=server.url, runs_max_bytes=120_000, ack_wait_s=60.0)


async def wire_to(server: Server) -> Wire:
    client = await connect(server.url, name="damaged")
    keep_trying(client)
    await declare_streams(client.jetstream(timeout=2.0), settings_of(server))
    inbox = Inbox(client)
    return Wire(client, inbox, Journal(client, inbox))


async def filled(folder: Path) -> Server:
    """A journal of several blocks, its server killed."""
    server = Server(folder)
    server.start()
    wire = await wire_to(server)
    for n in range(RUNS):
        run_id = await ask(wire, f"run{n:03d}", question="How long? " * 30, deadline_s=0.01)
        await wire.journal.write(key_of(QuestionReady, run_id), READY)
        await wire.journal.write(key_of(RunFinished, run_id), answered())
    await wire.client.close()
    server.kill()
    assert repair(folder) == []
    return server


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


HARMS: dict[str, tuple[Harm, int]] = {
    "nothing": (lambda runs: None, 0),
    "a flip in the first block": (lambda runs: flip(blocks(runs)[0], size(runs, 0) // 2), 1),
    "a flip in the last block": (lambda runs: flip(blocks(runs)[-1], size(runs, -1) // 3), 1),
    "the first length": (lambda runs: flip(blocks(runs)[1], 0, 4), 2),
    "zeros at the beginning": (lambda runs: zero(blocks(runs)[0], 0), 9),
    "zeros in the middle": (lambda runs: zero(blocks(runs)[1], size(runs, 1) // 2), 9),
    "zeros at the end": (lambda runs: zero(blocks(runs)[-1], size(runs, -1) - 3000), 9),
    "a block cut": (lambda runs: os.truncate(blocks(runs)[1], size(runs, 1) - 5000), 12),
    "a torn end": (lambda runs: os.truncate(blocks(runs)[-1], size(runs, -1) - 20), 1),
    "an index of another time": (lambda runs: (runs / "msgs" / "index.db").unlink(missing_ok=True), 0),
    "a broken index": (lambda runs: (runs / "msgs" / "index.db").write_bytes(os.urandom(400)), 0),
    "a broken description": (lambda runs: (runs / "meta.inf").write_bytes(b'{"name":'), 0),
    "no description": (lambda runs: (runs / "meta.inf").unlink(), 0),
    "a broken sum": (lambda runs: (runs / "meta.sum").write_bytes(b"0" * 16), 0),
}  # fmt: skip


@pytest.fixture(scope="module")
async def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("before") / "nats"
    await filled(folder)
    return folder


@pytest.mark.parametrize("name", HARMS)
async def test_what_is_broken_is_told_and_the_rest_is_kept(
    before: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(sweeping, "LATE_S", 0.0)
    harm, at_most = HARMS[name]
    folder = tmp_path / "nats"
    shutil.copytree(before, folder)
    harm(folder / STREAMS / "RUNS")
    damage = repair(folder)
    assert bool(damage) == (at_most > 0 or "description" in name or "sum" in name), damage
    if at_most:
        assert all("are lost" in str(each) for each in damage)
        (where, told), *_ = reports(folder)
        assert told == damage
        assert (where / "RUNS" / damage[0].block).exists()
    assert check(folder) == []
    assert repair(folder) == []
    server = Server(folder)
    server.start()
    try:
        wire = await wire_to(server)
        await sweep(wire.journal, 120.0, lost=lost(folder), damaged=bool(damage))
        hit = 0
        for n in range(RUNS):
            records = await wire.journal.run(f"run{n:03d}")
            record = record_of(records)
            whole = len(records) == 3 and record is not None and record.outcome == "answered"
            hit += not whole
            if records:
                assert record is not None
                assert record.status == "finished"
                assert record.outcome == "answered" or record.detail
        assert hit <= at_most
        await answers(server, wire)
        await wire.client.close()
    finally:
        server.kill()


async def answers(server: Server, wire: Wire) -> None:
    """The journal takes questions, and they are answered."""
    worker = Worker(Graph((toy_intake, toy_end, done)), settings_of(server))
    await worker.start()
    for n in range(3):
        assert (await ended(wire, await ask(wire, f"new{n}"))).outcome == "answered"
    await worker.stop()


async def test_after_zeros_at_the_end_consumers_that_were_ahead_go_on(tmp_path: Path) -> None:
    server = Server(tmp_path / "nats")
    server.start()
    wire = await wire_to(server)
    await answers(server, wire)
    for n in range(6):
        worker = Worker(Graph((toy_intake, toy_end, done)), settings_of(server))
        await worker.start()
        await ended(wire, await ask(wire, f"old{n}"))
        await worker.stop()
    await wire.client.close()
    server.kill()
    last = blocks(tmp_path / "nats" / STREAMS / "RUNS")[-1]
    zero(last, last.stat().st_size - 2000)
    assert repair(tmp_path / "nats")
    server.start()
    try:
        wire = await wire_to(server)
        worker = Worker(Graph((toy_intake, toy_end, done)), settings_of(server))
        await worker.start()
        for n in range(8):
            assert (await ended(wire, await ask(wire, f"late{n}"))).outcome == "answered"
        await worker.stop()
        await wire.client.close()
    finally:
        server.kill()


async def test_a_run_that_lost_its_end_or_question_has_failed_readably(before: Path, tmp_path: Path) -> None:
    folder = tmp_path / "nats"
    shutil.copytree(before, folder)
    runs = folder / STREAMS / "RUNS"
    for subject in (b"gw.run_finished.run010.main", b"gw.question_asked.run020", b"gw.question_ready.run030.main"):
        block = next(each for each in blocks(runs) if subject in each.read_bytes())
        flip(block, block.read_bytes().index(subject) + len(subject) + 20)
    repair(folder)
    assert {key.run_id for key in lost(folder)} == {"run010", "run020", "run030"}
    server = Server(folder)
    server.start()
    try:
        wire = await wire_to(server)
        await sweep(wire.journal, 120.0, lost=lost(folder), damaged=True)
        found = {run: record_of(await wire.journal.run(run)) for run in ("run010", "run020", "run030", "run040")}
        outcomes = {run: (record.outcome, record.detail) for run, record in found.items() if record}
        assert outcomes == {
            "run010": ("failed", DAMAGED),
            "run020": ("answered", ""),
            "run030": ("answered", ""),
            "run040": ("answered", ""),
        }
        assert len(await runs_in(wire.journal, "gw.question_asked.*")) == RUNS
        assert await sweep(wire.journal, 120.0, lost=lost(folder), damaged=True) == []
        await wire.client.close()
    finally:
        server.kill()


@pytest.mark.parametrize("seed", range(40))
def test_random_damage_loses_only_the_records_it_touches(before: Path, seed: int) -> None:
    chance = random.Random(seed)
    block = chance.choice(blocks(before / STREAMS / "RUNS"))
    data = bytearray(block.read_bytes())
    whole, _ = read(bytes(data), "RUNS", int(block.stem))
    at, length = chance.randrange(len(data)), chance.choice([1, 8, 64, 512, 4096])
    data[at : at + length] = chance.choice([bytes, chance.randbytes])(len(data[at : at + length]))
    touched = [e for e in whole if e.start < at + length and e.end > at]
    found, holes = read(bytes(data), "RUNS", int(block.stem))
    assert {e.sequence for e in whole} - {e.sequence for e in found} <= {e.sequence for e in touched}
    assert {e.sequence for e in found} <= {e.sequence for e in whole}
    for entry in set(whole) - set(found):
        assert any(h.after < entry.sequence and (not h.before or entry.sequence < h.before) for h in holes)


def test_a_record_that_holds_a_record_is_read_as_one(before: Path) -> None:
    """What a document says cannot become a record when its surroundings are damaged."""
    block = blocks(before / STREAMS / "RUNS")[0]
    data = block.read_bytes()
    whole, holes = read(data, "RUNS", 1)
    assert holes == []
    assert [e.subject for e in whole][:2] == [b"gw.question_asked.run000", b"gw.question_ready.run000.main"]
    assert re.fullmatch(rb"gw\.[a-z_]+\.run\d+(\.main)?", whole[-1].subject)


def test_bytes_that_are_no_block_are_one_hole() -> None:
    found, (hole,) = read(os.urandom(5000), "RUNS", 1)
    assert (found, hole.start, hole.end, hole.after, hole.before) == ([], 0, 5000, 0, 0)
    assert read(b"", "RUNS", 1) == ([], [])


@pytest.mark.parametrize("step", range(1, 11))
def test_a_repair_that_is_cut_off_is_made_whole_by_the_next(
    before: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Wherever the disk becomes full: what was lost is reported, and nothing lists what is no longer there."""
    folder = tmp_path / "nats"
    shutil.copytree(before, folder)
    runs = folder / STREAMS / "RUNS"
    flip(blocks(runs)[0], size(runs, 0) // 2)
    steps = 0

    def cut(does: Callable[..., object]) -> Callable[..., object]:
        def once(*given: object, **named: object) -> object:
            nonlocal steps
            steps += 1
            if steps == step:
                raise OSError(errno.ENOSPC, "No space left on device")
            return does(*given, **named)

        return once

    with monkeypatch.context() as patched, contextlib.suppress(OSError):
        for holder, name in ((shutil, "copy2"), (os, "fsync"), (Path, "replace"), (Path, "unlink")):
            patched.setattr(holder, name, cut(getattr(holder, name)))
        repair(folder)
    repair(folder)
    assert check(folder) == []
    assert [each.stream for _, found in reports(folder) for each in found][:1] == ["RUNS"]
    assert not (runs / "msgs" / "index.db").exists()
