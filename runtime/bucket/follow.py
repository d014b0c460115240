"""What a search process does beside searching when its index comes from a bucket: it fetches each new snapshot."""

import asyncio
import logging
from pathlib import Path

import anyio

from bus.journal.bucket import Bucket
from bus.transport.connection import connect, keep_trying
from bus.transport.users import SEARCHING
from bus.wire.errors import Failure
from index.errors import IndexProblem
from index.snapshot import snapshot
from index.snapshot.arriving import prune_others
from runtime.bucket.pull import pull
from runtime.settings import Settings

log = logging.getLogger(__name__)

#: How often a newer snapshot is asked for, in seconds: a message of a few hundred bytes.
LOOK_S = 1.0


def cache_folder(settings: Settings) -> Path:
    """Where the snapshots of the bucket stand on this machine: several processes may share it."""
    return Path(settings.state).expanduser() / "buckets" / settings.index.bucket


class Following:
    """`problem` says why no newer snapshot comes, or how far it is; empty for nothing."""

    def __init__(self, settings: Settings) -> None:
        self.folder = cache_folder(settings)
        self.problem = f"the bucket {settings.index.bucket} has not answered yet"
        self._settings = settings
        self._distrust = False

    def mend(self) -> None:
        """A snapshot in the folder is damaged: have what is not as it should be fetched again."""
        self._distrust = True

    async def follow(self, stop: asyncio.Event) -> None:
        """Until `stop` is set. Over a connection of its own, since megabytes would hold up searches. Raises Unavailable."""
        client = await connect(self._settings.bus, name="groundwire-search-bucket", user=SEARCHING.name)
        keep_trying(client)
        bucket = Bucket(client, self._settings.index.bucket)
        while not stop.is_set():
            try:
                await self._look(bucket)
                self._told("")
            except (Failure, IndexProblem) as problem:
                self._told(str(problem))
            with anyio.move_on_after(LOOK_S):
                await stop.wait()
        await client.close()

    async def _look(self, bucket: Bucket) -> None:
        """Raises Failure, IndexProblem."""
        distrust, self._distrust = self._distrust, False
        try:
            pulled = await pull(bucket, self.folder, self._far, distrust=distrust)
        except BaseException:
            self._distrust = self._distrust or distrust
            raise
        if pulled.size_bytes:
            log.warning("%s is here, %.1f MB of it fetched", pulled.snapshot, pulled.fetched_bytes / 1e6)
        elif len(snapshot.names(self.folder)) > 1:
            with snapshot.writing(self.folder):
                await asyncio.to_thread(prune_others, self.folder)

    def _far(self, task: str, done: int, total: int) -> None:
        self.problem = f"a snapshot is on its way: {done} of {total} MB"

    def _told(self, problem: str) -> None:
        if problem and problem != self.problem:
            log.warning("%s", problem)
        self.problem = problem
