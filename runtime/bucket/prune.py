"""What leaves a bucket: snapshots beyond the newest few, and the bytes that none of those that stay has.

One that was current until a moment ago stays a while longer, since somebody may be pulling it. Whoever pulls more slowly than
that finds a part gone, and goes on with the current one.
"""

import re
from collections.abc import Iterable
from itertools import pairwise

from bus.journal.bucket import CURRENT, FILES, PART, PARTS, SNAPSHOTS, Bucket
from index.snapshot.arriving import files_named
from runtime.bucket import KEEP

#: How long a snapshot stays after another took its place, in seconds.
GRACE_S = 600.0
_DIGEST = re.compile(r"[0-9a-f]{64}")


async def prune(bucket: Bucket, keep: int = KEEP, *, grace_s: float = GRACE_S) -> int:
    """Remove what is not needed; returns the number of snapshots that left. Raises Absent, Damaged, Unavailable."""
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
