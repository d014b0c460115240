"""Fetch a bucket's current snapshot into a folder, where it becomes the current one: what is there already is not fetched again."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import anyio

from bus.journal.bucket import PART, SNAPSHOTS, Absent, Bucket, Damaged
from index.build_job import Tell
from index.errors import IndexProblem
from index.snapshot import snapshot
from index.snapshot.arriving import Arriving
from runtime.bucket import first_failure

#: Parts on their way at a time: what hides the way to the server; a part is a megabyte of memory.
AT_ONCE = 8


class Pulled(NamedTuple):
    """`fetched_bytes`: of `size_bytes`; none when the folder had the snapshot."""

    snapshot: str
    size_bytes: int
    fetched_bytes: int


async def pull(bucket: Bucket, index: Path, tell: Tell, *, distrust: bool = False) -> Pulled:
    """`distrust`: read what the folder has, and replace what is damaged.

    Raises Absent, Damaged, Unavailable and IndexProblem.
    """
    while True:
        current = await bucket.current()
        if current is None:
            raise Absent(f"the bucket {bucket.name} holds no index; send one with 'groundwire index push --index DIR'")
        name = current.snapshot
        if not distrust and _is_here(index, name):
            return Pulled(name, 0, 0)
        try:
            with snapshot.writing(index):
                return await _fetch(bucket, index, name, tell, distrust)
        except (Absent, Damaged):
            newer = await bucket.current()
            if newer is None or newer.snapshot == name:
                raise  # else it left the bucket while it was fetched


def _is_here(index: Path, name: str) -> bool:
    try:
        return snapshot.current(index) == name and (index / "snapshots" / name).is_dir()
    except IndexProblem:
        return False


async def _fetch(bucket: Bucket, index: Path, name: str, tell: Tell, distrust: bool) -> Pulled:
    raw = await bucket.read(SNAPSHOTS + name)
    arriving = await asyncio.to_thread(Arriving, index, name, raw, distrust=distrust)
    await asyncio.to_thread(arriving.need_room)
    fetching = _Fetching(bucket, arriving, tell)
    async with first_failure(), anyio.create_task_group() as group:
        async for part in fetching.parts():
            await fetching.free.acquire()
            group.start_soon(fetching.fetch, *part)
    for digest in arriving.wanted:
        await asyncio.to_thread(arriving.finish, digest)
    skipped = b""
    if await bucket.has("skipped.json"):
        skipped = await bucket.read("skipped.json")
    await asyncio.to_thread(arriving.adopt, skipped)
    size = sum(size for size, _ in arriving.manifest.files.values())
    return Pulled(name, size, fetching.fetched)


class _Fetching:
    def __init__(self, bucket: Bucket, arriving: Arriving, tell: Tell) -> None:
        self._bucket = bucket
        self._arriving = arriving
        self._tell = tell
        self._done = 0
        self._total = sum(arriving.wanted.values())
        self.fetched = 0
        self.free = asyncio.Semaphore(AT_ONCE)

    async def parts(self) -> AsyncIterator[tuple[str, int, str]]:
        """What is not here: a file's digest, the offset in it, and the part's digest."""
        for digest, size in self._arriving.wanted.items():
            parts = [(digest, size)]
            if size > PART:
                listed = await self._bucket.parts(digest)
                parts = [(part, min(PART, size - at * PART)) for at, part in enumerate(listed)]
            missing = await asyncio.to_thread(self._arriving.missing, digest, parts)
            sizes = dict(parts)
            self._count(size - sum(sizes[part] for _, part in missing))
            for offset, part in missing:
                yield digest, offset, part

    async def fetch(self, digest: str, offset: int, part: str) -> None:
        """Fetch a part; what has come is kept, whatever ends the others."""
        data = await self._bucket.read_digest(part)
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._arriving.write, digest, offset, data)
        self.free.release()
        self.fetched += len(data)
        self._count(len(data))

    def _count(self, more: int) -> None:
        self._done += more
        self._tell("pull", self._done // 1_000_000, self._total // 1_000_000)
