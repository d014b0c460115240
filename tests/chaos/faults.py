"""Apply a schedule to a running stack. Every fault is undone, also when the test ends early."""

import asyncio
import contextlib
import random
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nats.errors
from nats.aio.client import Client

from bus.transport.connection import connect
from bus.wire.errors import Unavailable
from bus.wire.subjects import EVENTS, RUNS
from index.errors import IndexProblem
from index.snapshot import snapshot
from runtime.processes import nats_users
from runtime.processes.supervisor import Stack
from tests.bad_messages import put_any
from tests.chaos.house import fill
from tests.chaos.schedule import Fault

#: Messages of one burst.
BURST = 40
_BRING_IN = """
import sys
from pathlib import Path
from index.build.ingest import bring_in
bring_in(Path(sys.argv[1]), [sys.argv[2]], only=True)
"""


@dataclass
class Faults:
    """`losses`: times when events of active runs were discarded, on the monotonic clock; `said`: the applied faults."""

    stack: Stack
    index: Path
    own_disk: bool
    losses: list[float] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    _indexing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, schedule: Sequence[Fault]) -> None:
        began = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for fault in schedule:
                await asyncio.sleep(max(0.0, began + fault.at - time.monotonic()))
                group.create_task(self._do(fault))

    async def _do(self, fault: Fault) -> None:
        ways: dict[str, Callable[[Fault], Awaitable[None]]] = {
            "kill": self._kill,
            "stop": self._stop,
            "hang": self._stop,
            "messages": self._messages,
            "consumers": self._consumers,
            "events deleted": self._lose_events,
            "events purged": self._lose_events,
            "index away": self._index_away,
            "index damaged": self._index_damaged,
            "new snapshot": self._new_snapshot,
            "disk full": self._disk_full,
        }
        self.said.append(str(fault))
        try:
            await ways[fault.kind](fault)
        except (Unavailable, nats.errors.Error, TimeoutError, ConnectionError, IndexProblem) as error:
            self.said.append(f"       {fault.kind}: not done ({type(error).__name__}: {error})")

    # ------------------------------------------------------------ processes

    async def _kill(self, fault: Fault) -> None:
        for name in fault.names:
            with contextlib.suppress(ProcessLookupError):
                self.stack.processes[name].kill()

    async def _stop(self, fault: Fault) -> None:
        stopped = [self.stack.processes[name] for name in fault.names]
        try:
            for process in stopped:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGSTOP)
            await asyncio.sleep(fault.lasts)
        finally:
            for process in stopped:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGCONT)

    # ------------------------------------------------------------ the bus

    async def _messages(self, fault: Fault) -> None:
        chance = random.Random(fault.seed)
        users = nats_users.read(self.stack.folder)
        assert users is not None
        client = await connect(users.bus(self.stack.settings.bus, fault.names[0]), name="bad", user=fault.names[0])
        try:
            for _ in range(BURST):
                await put_any(client, chance)
        finally:
            await client.close()

    async def _operator(self) -> Client:
        return await connect(self.stack.settings.bus, name="faults")

    async def _consumers(self, fault: Fault) -> None:
        client = await self._operator()
        try:
            for name in fault.names:
                await client.jetstream(timeout=2.0).delete_consumer(RUNS, name)
        finally:
            await client.close()

    async def _lose_events(self, fault: Fault) -> None:
        client = await self._operator()
        self.losses.append(time.monotonic())
        try:
            if fault.kind == "events deleted":
                await client.jetstream(timeout=2.0).delete_stream(EVENTS)
            else:
                await client.jetstream(timeout=2.0).purge_stream(EVENTS)
        finally:
            await client.close()

    # ------------------------------------------------------------ index and disk

    async def _index_away(self, fault: Fault) -> None:
        async with self._indexing:
            away = self.index.rename(self.index.with_name("away"))
            try:
                await asyncio.sleep(fault.lasts)
            finally:
                away.rename(self.index)

    async def _index_damaged(self, fault: Fault) -> None:
        async with self._indexing:
            folder = self.index / "snapshots" / snapshot.current(self.index)
            path = next(path for path in folder.rglob("*.bin"))
            whole = path.read_bytes()
            path.unlink()  # older snapshots may share the file
            path.write_bytes(bytes(byte ^ 0xFF for byte in whole))
            try:
                await asyncio.sleep(fault.lasts)
            finally:
                path.unlink()
                path.write_bytes(whole)

    async def _new_snapshot(self, fault: Fault) -> None:
        docs = self.index.with_name("docs")
        async with self._indexing:
            made = len(list(docs.iterdir()))
            (docs / f"note-{made}.md").write_text(
                f"# Note {made}\n\nThe note of day {made} says that the pump is painted.\n"
            )
            command = [sys.executable, "-c", _BRING_IN, str(self.index), str(docs)]
            process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
            _, said = await process.communicate()
            assert process.returncode == 0, said.decode()

    async def _disk_full(self, fault: Fault) -> None:
        if not self.own_disk:
            self.said.append("       disk full: left out, no file system can be mounted here")
            return
        filler = self.stack.folder / "filler"
        try:
            fill(filler)
            await asyncio.sleep(fault.lasts)
        finally:
            filler.unlink(missing_ok=True)
