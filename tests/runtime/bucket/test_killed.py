"""`index push` and `index pull` as processes that are killed while bytes are on their way: what arrived is not sent again."""

import asyncio
import contextlib
import os
import sys
from pathlib import Path

import pytest

from bus.journal.bucket import PART, SNAPSHOTS, Bucket
from bus.transport.connection import Client, Msg
from bus.transport.settings import BusSettings
from index.errors import IndexProblem
from index.snapshot import snapshot
from tests.runtime.bucket.conftest import Snap, noise, same

PARTS = 80
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


async def test_killed_push_and_pull_continue(
    watched: Watched, bucket: Bucket, index: Path, snap: Snap, tmp_path: Path
) -> None:
    name = snap({"passages/1.bin": noise(1, 5000), "vectors/graph.bin": noise(2, PARTS * PART)})
    there = 0
    await bucket.declare(0)
    for after in (3, 20):
        assert await watched.run("push", index, kill_after=after) == -9
        before, there = there, len(await bucket.digests())
        assert before < there < PARTS
        assert await bucket.current() is None
    assert await watched.run("push", index) == 0
    # The rest of the graph and the small file, then the list of the parts and the manifest, which also is the current one's;
    # less what the killed process had on its way, which may arrive after the look.
    assert PARTS - there - AT_ONCE <= watched.parts <= PARTS - there + 6
    assert SNAPSHOTS + name in await bucket.names()

    cache, got = tmp_path / "cache", 0
    for after in (12, 30):
        assert await watched.run("pull", cache, kill_after=after) == -9
        got += after - AT_ONCE - 4  # of which four may be of the manifest, the list and the small file
        with pytest.raises(IndexProblem, match="holds no finished index"):
            snapshot.current(cache)
    assert await watched.run("pull", cache) == 0
    assert watched.parts <= PARTS + 4 - got
    assert same(index, cache)
    assert not (cache / "arriving").exists()
