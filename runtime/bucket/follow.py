"""The snapshots of a bucket, fetched into a folder of this machine, which several search processes may share."""

import asyncio
import logging
from pathlib import Path

import anyio

from bus.journal.bucket import Bucket
from bus.transport.connection import connect, keep_trying
from bus.transport.users import SEARCHING
from bus.wire.errors import Failure
from index.build.opening import LocalIndex
from index.errors import IndexProblem, NotFetched
from index.snapshot import snapshot
from runtime.bucket.pull import pull
from runtime.settings import Settings

log = logging.getLogger(__name__)

#: How often the bucket is asked for a newer snapshot, in seconds: a message of a few hundred bytes.
LOOK_S = 1.0


class BucketSnapshots(LocalIndex):
    """The folder of the snapshots that were fetched. `problem`: why no newer one comes, or how far it is; empty for nothing."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(Path(settings.state).expanduser() / "buckets" / settings.index.bucket)
        self.problem = f"the bucket {settings.index.bucket} has not answered yet"
        self._settings = settings
        self._distrust = False

    def newest(self) -> str:
        if not self.exists():
            raise NotFetched(self.problem)
        return super().newest()

    def damage(self, name: str) -> list[str] | None:
        """Damaged files are fetched again."""
        differences = super().damage(name)
        self._distrust = self._distrust or bool(differences)
        return differences

    async def follow(self, stop: asyncio.Event) -> None:
        """Until `stop` is set. Over a connection of its own, since megabytes would hold up searches. Raises Unavailable."""
        client = await connect(self._settings.bus, name="groundwire-search-bucket", user=SEARCHING.name)
        keep_trying(client)
        bucket = Bucket(client, self._settings.index.bucket)
        while not stop.is_set():
            try:
                await self._look(bucket)
                self.problem = ""
            except (Failure, IndexProblem) as problem:
                if str(problem) != self.problem:
                    log.warning("%s", problem)
                self.problem = str(problem)
            with anyio.move_on_after(LOOK_S):
                await stop.wait()
        await client.close()

    async def _look(self, bucket: Bucket) -> None:
        """Raises Failure, IndexProblem."""
        distrust, self._distrust = self._distrust, False
        try:
            pulled = await pull(bucket, self.folder, self._tell, distrust=distrust)
        except BaseException:
            self._distrust = self._distrust or distrust
            raise
        if pulled.size_bytes:
            log.warning("%s is here, %.1f MB of it fetched", pulled.snapshot, pulled.fetched_bytes / 1e6)
        elif len(snapshot.names(self.folder)) > 1:
            with snapshot.writing(self.folder):
                await asyncio.to_thread(snapshot.prune, self.folder, keep=0)

    def _tell(self, task: str, done: int, total: int) -> None:
        self.problem = f"a snapshot is on its way: {done} of {total} MB"
