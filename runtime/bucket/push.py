"""Send a snapshot to a bucket: files that the bucket has are not sent again, and the snapshot becomes current once it is whole.

A push that was killed is repeated: each megabyte that arrived stays. Two pushes at the same time do no harm: each checks that its
snapshot is whole before and after making it current, and the second one fails with the reason.
"""

import asyncio
import hashlib
import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import anyio

from bus.journal.bucket import CURRENT, FILES, PART, PARTS, SNAPSHOTS, Absent, Bucket, sha256
from bus.wire.errors import Unavailable
from index.build_job import Tell
from index.errors import IndexProblem
from index.snapshot import snapshot
from index.snapshot.arriving import files_by_digest, files_named, skipped_files
from runtime.bucket import KEEP, first_failure

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
            await sending.send(set(), again=True)
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

    async def missing(self) -> None:
        """Raises Damaged, IndexProblem, Unavailable."""
        names, self._stored = await self._bucket.names(), await self._bucket.digests()
        # One that prunes meanwhile may take the bytes from under a name that it has not seen.
        await self.send({n for n in names if not n.startswith(FILES) or n.removeprefix(FILES) in self._stored})

    async def send(self, there: set[str], *, again: bool = False) -> None:
        """Send what is not among these names; `again`: in place of what is there. Raises IndexProblem, Unavailable."""
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
        async with await anyio.open_file(self._folder / name, "rb") as file:
            while data := await file.read(PART):
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


def _digests(data: bytes, whole: "hashlib._Hash") -> str:
    whole.update(data)
    return sha256(data)


#: How long a snapshot stays after another took its place, in seconds.
GRACE_S = 600.0
_DIGEST = re.compile(r"[0-9a-f]{64}")


async def prune(bucket: Bucket, keep: int = KEEP, *, grace_s: float = GRACE_S) -> int:
    """Remove all but the newest snapshots and their bytes; returns the number that left. Raises Absent, Damaged, Unavailable.

    A snapshot that was current until a moment ago stays a while longer, since a pull may be under way.
    """
    names = await bucket.names()
    kept = await _kept(bucket, (name for name in names if name.startswith(SNAPSHOTS)), keep, grace_s)
    needed, digests = set(kept), set[str]()
    for name in kept:
        for digest, size in files_named(await bucket.read(name)):
            needed.add((FILES if size <= PART else PARTS) + digest)
            if size > PART and PARTS + digest in names:
                needed.update(FILES + part for part in await bucket.parts(digest))
    doomed = sorted(name for name in names - needed if name.startswith((SNAPSHOTS, FILES, PARTS)))
    for name in names.difference(doomed):
        digests.add(name.removeprefix(FILES) if name.startswith(FILES) else (await bucket.stored(name)).digest)
    snapshots = [name for name in doomed if name.startswith(SNAPSHOTS)]
    await bucket.forget(snapshots)  # first: what is named is whole
    await bucket.forget(name for name in doomed if not name.startswith(SNAPSHOTS))
    await bucket.remove(filter(_DIGEST.fullmatch, await bucket.digests() - digests))
    return len(snapshots)


async def _kept(bucket: Bucket, snapshots: Iterable[str], keep: int, grace_s: float) -> set[str]:
    """The newest, the current one, and those that another took the place of a moment before it."""
    stored = {name: await bucket.stored(name) for name in snapshots}
    order = sorted(stored, key=lambda name: stored[name].revision)
    kept = set(order[-keep:])
    if (current := await bucket.current()) is not None:
        now = (await bucket.stored(CURRENT)).at
        kept |= {SNAPSHOTS + current.snapshot} & set(order)
        kept |= {name for name, next_one in pairwise(order) if now - stored[next_one].at < grace_s}
    return kept
