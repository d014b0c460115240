"""An index of files that hold nothing but bytes, and a bucket on the session's nats-server."""

import hashlib
import itertools
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bus.journal.bucket import Bucket
from bus.transport.connection import Client, connect
from bus.transport.settings import BusSettings
from index.embedders.embedder import EmbedderSpec
from index.model import FORMAT
from index.snapshot import snapshot
from index.snapshot.snapshot import Manifest

type Snap = Callable[..., str]
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


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def snap(index: Path) -> Snap:
    """Publishes a snapshot of these files, by their names, in which those that were there before and are the same are linked."""

    def publish(files: dict[str, bytes]) -> str:
        with snapshot.writing(index):
            names = snapshot.names(index)
            known = snapshot.read_manifest(index / "snapshots" / names[-1]) if names else None
            building = index / "building" / "new"
            for name, data in files.items():
                (building / name).parent.mkdir(parents=True, exist_ok=True)
                old = known.files.get(name) if known else None
                if known and old == (len(data), hashlib.sha256(data).hexdigest()):
                    snapshot.link(index / "snapshots" / known.snapshot / name, building / name)
                else:
                    (building / name).write_bytes(data)
            manifest = Manifest(
                format=FORMAT,
                snapshot=snapshot.next_id(index),
                parent=known.snapshot if known else "",
                created="2026-01-01T00:00:00Z",
                embedder=EmbedderSpec("none", "1", 0),
                languages={},
                documents=1,
                passages=1,
                next_number=1,
            )
            return snapshot.publish(index, building, manifest, known).snapshot

    return publish


def same(one: Path, other: Path) -> bool:
    """Whether the current snapshots of two indexes hold the same files, byte by byte."""
    handles = [snapshot.hold(folder) for folder in (one, other)]
    try:
        manifest = handles[0].manifest
        return manifest == handles[1].manifest and not any(
            snapshot.verify_files(handle.directory, manifest) for handle in handles
        )
    finally:
        for handle in handles:
            handle.close()
