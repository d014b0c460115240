"""`index push` and `index pull`, killed while bytes are on their way; a search process that follows a bucket."""

import asyncio
import contextlib
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bus.journal.bucket import PART, SNAPSHOTS, Bucket
from bus.powers.searching import SearchClient, SearchReply, SearchRequest
from bus.transport.connection import Client, Msg, connect
from bus.transport.health import health_of
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from index.errors import IndexProblem
from index.snapshot import snapshot
from runtime.bucket import follow
from runtime.bucket.push import push
from runtime.processes import kept_index, search
from runtime.processes.nats_users import Credentials
from runtime.settings import IndexSettings, Settings
from tests.bus.wires import serving
from tests.index.brought_in import gate_index
from tests.polling import until
from tests.runtime.bucket.conftest import Shelf, noise, quiet
from tests.runtime.served import open_search

PARTS = 40
#: Requests on their way at a time, of either command.
AT_ONCE = 8

#: Runs a command that stops and reports after a number of objects: then it may be killed at any time.
HELD = """
import asyncio, sys
from bus.journal.bucket import Bucket
from runtime.cli import main
most, done = int(sys.argv.pop(1)), 0

def held(really):
    async def one(self, *given):
        global done
        if done >= most:
            print("enough", flush=True)
            await asyncio.Event().wait()
        found = await really(self, *given)
        done += 1
        return found
    return one

Bucket.put, Bucket.read_digest = held(Bucket.put), held(Bucket.read_digest)
main()
"""


class Watched:
    """The command, with every part that it sends or asks for counted on the wire."""

    def __init__(self, client: Client, bucket: Bucket, url: str, folder: Path) -> None:
        self._client, self._bucket, self._folder = client, bucket, folder
        self._environ = os.environ | {"GROUNDWIRE_BUS_URL": url, "GROUNDWIRE_STATE": str(folder / "state")}
        self.parts = 0

    async def run(self, command: str, index: Path, *, kill_after: int = 0) -> int:
        """The exit status; killed once so many objects have been put or read, while others are on their way."""
        self.parts = 0

        async def count(_: Msg) -> None:
            self.parts += 1

        sent, asked = f"$O.{self._bucket.name}.C.*", f"$JS.API.DIRECT.GET.*.$O.{self._bucket.name}.C.*"
        listening = await self._client.subscribe(sent if command == "push" else asked, cb=count)
        await self._client.flush()
        arguments = ["index", command, "--bucket", self._bucket.name, "--index", str(index)]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", HELD, str(kill_after or 2 * PARTS)),
            *arguments,
            env=self._environ,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        try:
            if kill_after:
                assert await process.stdout.readline() == b"enough\n"
                process.kill()
            await process.communicate()
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await self._client.flush()
            await listening.unsubscribe()
        assert process.returncode is not None
        return process.returncode


@pytest.fixture
def watched(client: Client, bucket: Bucket, bus_settings: BusSettings, tmp_path: Path) -> Watched:
    return Watched(client, bucket, bus_settings.url, tmp_path)


async def test_killed_push_and_pull_continue(watched: Watched, shelf: Shelf) -> None:
    bucket, index, cache = shelf.bucket, shelf.index, shelf.cache
    name = shelf.snap({"passages/1.bin": noise(1, 5000), "vectors/graph.bin": noise(2, PARTS * PART)})
    there = 0
    await bucket.declare(0)
    for after in (3, 16):
        assert await watched.run("push", index, kill_after=after) == -9
        before, there = there, len(await bucket.digests())
        assert before < there < PARTS
        assert await bucket.current() is None
    assert await watched.run("push", index) == 0
    # The rest of the graph and the small file, then the list of the parts and the manifest, which also is the current one's;
    # less what the killed process had on its way, which may arrive after the look.
    assert PARTS - there - AT_ONCE <= watched.parts <= PARTS - there + 6
    assert SNAPSHOTS + name in await bucket.names()

    assert await watched.run("pull", cache, kill_after=24) == -9
    got = 24 - AT_ONCE - 4  # of which four may be of the manifest, the list and the small file
    with pytest.raises(IndexProblem, match="holds no finished index"):
        snapshot.current(cache)
    assert await watched.run("pull", cache) == 0
    assert watched.parts <= PARTS + 4 - got
    assert shelf.arrived
    assert not (cache / "arriving").exists()


GATE = SearchRequest(query="When does the gate open?", language="en", k=3)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two indexes: the second is the first with one document changed."""
    folder = tmp_path_factory.mktemp("built")
    return {hour: Path(shutil.copytree(gate_index(folder, hour), folder / hour)) for hour in ("six", "nine")}


@pytest.fixture
def users(tmp_path: Path) -> Iterator[Credentials]:
    """A server with users; the bucket's reader is one of them."""
    with serving(tmp_path / "nats", with_users=True) as server:
        yield server.users


@pytest.fixture
async def operator(users: Credentials) -> AsyncIterator[Client]:
    client = await connect(users.bus(BusSettings(), "operator"), name="operator")
    yield client
    await client.close()


async def test_a_search_process_follows_a_bucket(
    built: dict[str, Path], users: Credentials, operator: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "LOOK_S", 0.05)
    monkeypatch.setattr(search, "LOOK_S", 0.05)
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

    async with open_search(settings):
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
    async with open_search(settings):
        await until(lambda: not damaged & {path.stat().st_ino for path in files if path.is_file()}, what="whole files")
        await until(lambda: serves("nine"), what="what was damaged")


def damage(path: Path) -> int:
    """Put another file in its place; returns its inode."""
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(bytes(byte ^ 0xFF for byte in data))
    return path.stat().st_ino
