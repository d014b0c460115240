"""An index of files that hold nothing but bytes, and a bucket on the session's nats-server that it goes through."""

import hashlib
import itertools
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bus.journal.bucket import Bucket
from bus.transport.connection import Client, connect
from bus.transport.settings import BusSettings
from index.embedders.embedder import EmbedderSpec
from index.model import FORMAT
from index.snapshot import snapshot
from index.snapshot.snapshot import Manifest
from runtime.bucket.pull import Pulled, pull
from runtime.bucket.push import Pushed, push

_COUNT = itertools.count()


def noise(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


@pytest.fixture
async def client(bus_settings: BusSettings) -> AsyncIterator[Client]:
    opened = await connect(bus_settings.url, name="bucket-tests")
    yield opened
    await opened.close()


@pytest.fixture
async def bucket(client: Client) -> AsyncIterator[Bucket]:
    name = f"tested-{next(_COUNT)}"
    yield Bucket(client, name)
    await client.jetstream().delete_stream(f"OBJ_{name}")


def quiet(task: str, done: int, total: int) -> None:
    """Prints no progress."""


@dataclass
class Shelf:
    """A bucket between an index, which is pushed, and a cache, into which it is pulled."""

    bucket: Bucket
    index: Path
    cache: Path

    def snap(self, files: dict[str, bytes]) -> str:
        """Publish a snapshot of these files, by their names, in which those that were there before and are the same are linked."""
        with snapshot.writing(self.index):
            names = snapshot.names(self.index)
            known = snapshot.read_manifest(self.index / "snapshots" / names[-1]) if names else None
            building = self.index / "building" / "new"
            for name, data in files.items():
                (building / name).parent.mkdir(parents=True, exist_ok=True)
                old = known.files.get(name) if known else None
                if known and old == (len(data), hashlib.sha256(data).hexdigest()):
                    snapshot.link(self.index / "snapshots" / known.snapshot / name, building / name)
                else:
                    (building / name).write_bytes(data)
            manifest = Manifest(
                format=FORMAT,
                snapshot=snapshot.next_id(self.index),
                parent=known.snapshot if known else "",
                created="2026-01-01T00:00:00Z",
                embedder=EmbedderSpec("none", "1", 0),
                languages={},
                documents=1,
                passages=1,
                next_number=1,
            )
            return snapshot.publish(self.index, building, manifest, known).snapshot

    async def push(self, *, keep: int = 3, resend: bool = False) -> Pushed:
        return await push(self.bucket, self.index, quiet, keep=keep, resend=resend)

    async def send(self, files: dict[str, bytes]) -> str:
        """Publish and push; the snapshot's name."""
        name = self.snap(files)
        await self.push()
        return name

    async def pull(self, *, distrust: bool = False) -> Pulled:
        return await pull(self.bucket, self.cache, quiet, distrust=distrust)

    @property
    def arrived(self) -> bool:
        """Whether the current snapshots of index and cache hold the same files, byte by byte."""
        handles = [snapshot.hold(folder) for folder in (self.index, self.cache)]
        try:
            manifest = handles[0].manifest
            return manifest == handles[1].manifest and not any(
                snapshot.verify_files(handle.directory, manifest) for handle in handles
            )
        finally:
            for handle in handles:
                handle.close()


@pytest.fixture
def shelf(bucket: Bucket, tmp_path: Path) -> Shelf:
    return Shelf(bucket, tmp_path / "index", tmp_path / "cache")
