"""A search process that follows a bucket, as the user of the bus that may read buckets and nothing else."""

import asyncio
import contextlib
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bus.journal.bucket import Bucket
from bus.powers.searching import SearchClient, SearchReply, SearchRequest
from bus.transport.connection import Client, connect
from bus.transport.health import health_of
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from index.build.ingest import bring_in
from index.snapshot import snapshot
from runtime.bucket import follow
from runtime.bucket.push import push
from runtime.processes import kept_index, nats_server, nats_users, search
from runtime.processes.nats_users import Credentials
from runtime.settings import IndexSettings, Settings
from tests.polling import until

GATE = SearchRequest(query="When does the gate open?", language="en", k=3)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two indexes: the second is the first with one document changed."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "docs").mkdir()
    found = {}
    for hour in ("six", "nine"):
        (folder / "docs" / "gate.md").write_text(f"# Gate\n\nThe gate opens at {hour} in the morning.\n")
        bring_in(folder / "index", [str(folder / "docs")], only=True)
        found[hour] = Path(shutil.copytree(folder / "index", folder / hour))
    return found


@pytest.fixture
def users(tmp_path: Path) -> Iterator[Credentials]:
    """A server with users; the bucket's reader is one of them."""
    folder, port = tmp_path / "nats", nats_server.free_port()
    folder.mkdir()
    made = nats_users.make(folder, f"nats://127.0.0.1:{port}")
    path = nats_server.write_config(folder, port=port, sync_always=False, passwords=made.passwords)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(nats_server.command(path), stdout=log, stderr=log)
    yield made
    process.kill()
    process.wait()


@pytest.fixture
async def operator(users: Credentials) -> AsyncIterator[Client]:
    client = await connect(users.bus(BusSettings(), "operator"), name="operator")
    yield client
    await client.close()


@contextlib.asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[None]:
    stop = asyncio.Event()
    task = asyncio.create_task(search.serve(settings, stop))
    try:
        yield
    finally:
        stop.set()
        await task


def quiet(task: str, done: int, total: int) -> None:
    """Prints nothing."""


async def test_a_search_process_follows_a_bucket(
    built: dict[str, Path], users: Credentials, operator: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "LOOK_S", 0.05)
    monkeypatch.setattr(search, "REOPEN_S", 0.05)
    monkeypatch.setattr(kept_index, "SUSPECT_AGAIN_S", 0.0)
    monkeypatch.setattr(kept_index, "SHARE", 1e9)
    settings = Settings(
        bus=users.bus(BusSettings(), "search"),
        index=IndexSettings(bucket="shelf", threads=2),
        state=str(tmp_path / "state"),
    )
    cache = tmp_path / "state" / "buckets" / "shelf"
    bucket = Bucket(operator, "shelf")

    async def find() -> SearchReply:
        reply, _ = await SearchClient(operator, time.time() + 30)(GATE)
        return reply

    async def said(words: str) -> bool:
        found = await health_of(operator, "search")
        return found is not None and words in found.detail

    async def serves(hour: str) -> bool:
        with contextlib.suppress(Unavailable):
            return hour in (await find()).passages[0].text
        return False

    async with serving(settings):
        await until(lambda: said("holds no index; send one with 'groundwire index push"), what="an empty bucket")
        with pytest.raises(Unavailable, match="the bucket shelf holds no index"):
            await find()
        await push(bucket, built["six"], quiet, keep=3)
        await until(lambda: serves("six"), what="the first snapshot")
        await push(bucket, built["nine"], quiet, keep=3)
        await until(lambda: serves("nine"), what="the second snapshot")
        assert len(snapshot.names(cache)) == 2  # the first is kept for the runs that began in it

    files = [path for path in (cache / "snapshots" / snapshot.current(cache)).rglob("*.bin") if path.is_file()]
    damaged = {damage(path) for path in files}
    async with serving(settings):
        await until(lambda: not damaged & {path.stat().st_ino for path in files if path.is_file()}, what="whole files")
        await until(lambda: serves("nine"), what="what was damaged")


def damage(path: Path) -> int:
    """Put another file in its place; returns its inode."""
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(bytes(byte ^ 0xFF for byte in data))
    return path.stat().st_ino
