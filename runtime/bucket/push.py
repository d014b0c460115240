"""Send a snapshot to a bucket: what is there is not sent again, and it becomes current once all of it is there.

A push that was killed is repeated: each megabyte that arrived stays. Two that push at the same time do no harm: each makes sure
that its own is whole before and after it makes it current, and the one that comes second is told.
"""

import asyncio
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bus.journal.bucket import FILES, PART, PARTS, SNAPSHOTS, Absent, Bucket, sha256
from bus.wire.errors import Unavailable
from index.build_job import Tell
from index.errors import IndexProblem
from index.snapshot import snapshot
from index.snapshot.arriving import files_by_digest, skipped_files
from runtime.bucket.failing import first_failure
from runtime.bucket.prune import prune

#: Messages on their way at a time: what hides the way to the server and its disk.
AT_ONCE = 8


class Pushed(NamedTuple):
    """What a push came to. `sent_bytes`: of `size_bytes`; `removed`: older snapshots that left the bucket."""

    snapshot: str
    size_bytes: int
    sent_bytes: int
    files: int
    sent_files: int
    removed: int


async def push(
    bucket: Bucket, index: Path, tell: Tell, *, keep: int, replicas: int = 0, resend: bool = False
) -> Pushed:
    """Send the index's current snapshot. `resend`: what is there too. Raises IndexProblem, Unavailable."""
    await bucket.declare(replicas)
    found = await bucket.current()
    handle = snapshot.hold(index)
    try:
        sending = _Sending(bucket, handle, tell)
        if resend:
            await sending.everything()
        await sending.missing()
        name = handle.manifest.snapshot
        raw = (handle.directory / "manifest.json").read_bytes()
        if len(raw) > PART:
            raise IndexProblem(
                f"{name} has {len(handle.manifest.files)} files, more than a bucket lists; build it again"
            )
        if skipped := skipped_files(index)[:PART]:
            await bucket.put("skipped.json", skipped, sha256(skipped))
        await bucket.put(SNAPSHOTS + name, raw, sha256(raw))
        await sending.missing()
        if found is None or found.snapshot != name:
            if not await bucket.point_at(name, found.revision if found is not None else 0):
                raise Unavailable(
                    f"another index was pushed to {bucket.name} meanwhile; push again if this one is newer"
                )
            await sending.missing()
        removed = await prune(bucket, keep)
    finally:
        handle.close()
    return Pushed(name, sending.size, sending.sent, len(handle.manifest.files), len(sending.files_sent), removed)


class _Sending:
    """`sent` counts bytes; `files_sent` are the names of files of which any were."""

    def __init__(self, bucket: Bucket, handle: snapshot.Handle, tell: Tell) -> None:
        self._bucket = bucket
        self._folder = handle.directory
        self._files = files_by_digest(handle.manifest)
        self._tell = tell
        self.size = sum(size for _, size in self._files.values())
        self.sent = 0
        self.files_sent: set[str] = set()
        self._stored: set[str] = set()
        self._free = asyncio.Semaphore(AT_ONCE)

    async def everything(self) -> None:
        """Raises IndexProblem, Unavailable."""
        await self._send(set(), again=True)

    async def missing(self) -> None:
        """Raises Damaged, IndexProblem, Unavailable."""
        names, self._stored = await self._bucket.names(), await self._bucket.digests()
        # One that prunes meanwhile may take the bytes from under a name that it has not seen.
        await self._send({n for n in names if not n.startswith(FILES) or n.removeprefix(FILES) in self._stored})

    async def _send(self, there: set[str], *, again: bool = False) -> None:
        """Send what is not among these names; `again`: in place of what is there."""
        lists: dict[str, bytes] = {}
        seen = 0
        async with first_failure(), asyncio.TaskGroup() as group:
            for digest, (name, size) in self._files.items():
                if not await self._is_there(digest, size, there):
                    parts = await self._parts(name, digest, there, group, again=again)
                    if size > PART:
                        lists[digest] = "\n".join(parts).encode("ascii")
                seen += size
                self._tell("push", seen // 1_000_000, self.size // 1_000_000)
        for digest, listed in lists.items():
            if again:
                await self._bucket.remove([sha256(listed)])
            await self._bucket.put(PARTS + digest, listed, sha256(listed))

    async def _is_there(self, digest: str, size: int, there: set[str]) -> bool:
        if size <= PART:
            return FILES + digest in there
        if PARTS + digest not in there:
            return False
        try:
            return all(FILES + part in there for part in await self._bucket.parts(digest))
        except Absent:
            return False

    async def _parts(
        self, name: str, digest: str, there: set[str], group: asyncio.TaskGroup, *, again: bool
    ) -> list[str]:
        """Have what is missing of a file sent; returns the digests of its parts."""
        whole, parts = hashlib.sha256(), list[str]()
        self.files_sent.add(name)
        pieces = _pieces(self._folder / name)
        while data := await asyncio.to_thread(next, pieces, b""):
            part = await asyncio.to_thread(_digests, data, whole)
            if FILES + part not in there:
                there.add(FILES + part)
                await self._free.acquire()
                group.create_task(self._put(part, data, again=again))
            parts.append(part)
        if whole.hexdigest() != digest:
            raise IndexProblem(f"{self._folder / name} has changed; see 'groundwire index verify'")
        return parts

    async def _put(self, digest: str, data: bytes, *, again: bool) -> None:
        try:
            if digest in self._stored and not again:  # a push was killed before it could give them a name
                await self._bucket.name_it(FILES + digest, digest, len(data))
                return
            if again:
                await self._bucket.remove([digest])
            await self._bucket.put(FILES + digest, data, digest)
            self.sent += len(data)
        finally:
            self._free.release()


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while data := file.read(PART):
            yield data


def _digests(data: bytes, whole: "hashlib._Hash") -> str:
    whole.update(data)
    return sha256(data)
