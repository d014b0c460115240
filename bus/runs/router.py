"""The events of many runs over one subscription: one `follow` of EVENTS per process, routed in memory to each run's readers.

A reader gets earlier events from the stream and later ones live, numbered 1, 2, 3… in stream order, each once. The two parts
meet at a sequence: the router notes its position when a reader arrives; up to there events come from the stream, after that
from the router.
"""

import asyncio
import contextlib
import logging
import math
import time
from collections import deque
from collections.abc import Callable

from bus.journal.journal import Journal
from bus.powers.events import DONE_LINE, FIRST, is_event
from bus.transport.connection import take
from bus.transport.envelope import Frame, count_in
from bus.transport.follow import Following, Stored
from bus.transport.health import Watch
from bus.transport.wake import Wake
from bus.wire.errors import Unavailable
from bus.wire.subjects import EVENTS, RECORD, is_canary

log = logging.getLogger("groundwire.events")

#: How many events may queue for a slow reader before it is dropped; it can resume from its last event's number.
WAITING_FRAMES = 4096
WAITING_BYTES = 16 * 1024 * 1024
#: How many frames the server may send before it is asked for more: what an edge that is behind takes at a time. With the quarter
#: that may come on top they are fewer than wait for one reader, since all may be of one run.
AHEAD = 3000

#: What the last frame of a run holds that was answered. The closest passages are shown without a model too.
_ANSWERED = b'{"type":"references"'

type Numbered = tuple[int, bytes]


class TooSlow(Exception):
    """The reader fell too far behind and was dropped; read on from the last event received."""


class Closing(Unavailable):
    """This process stops; another can read on from the last event received."""

    def __init__(self) -> None:
        super().__init__("this process is closing; read on from the last event you had")


class Reader(contextlib.AbstractContextManager["Reader"]):
    """The events of one run, in batches. Use as a context manager: leaving it ends the subscription."""

    def __init__(self, router: "EventRouter", run_id: str) -> None:
        self.run_id = run_id
        self.position = router.position
        self.done = False
        self._router = router
        self._frames: deque[bytes] = deque()
        self._notes: list[bytes] = []
        self._bytes = 0
        self._count = 0
        #: The run's record, as JSON, where its client waits for the whole run. Empty: it is to be read from the journal.
        self.record = b""
        self._woken = Wake()
        self._problem: Exception | None = None

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._router.forget(self)
        self._woken.close()

    async def read_back(self) -> int:
        """Load the run's events from before this reader arrived; returns the number of frames. Raises Unavailable."""
        found = await self._router.journal.frames(self.run_id, progress=True, up_to=self.position)
        before = [frame for frame in found if frame.sequence <= self.position]
        if before and before[0].fenced:
            # The beginning may have expired; the rest keeps its numbers.
            self._count = max(1, count_in(before[0].headers, FIRST, 1)) - 1
        self._frames.extendleft(frame.data for frame in reversed(before))
        if before:
            self._woken.set()
        return len(before)

    def ends_by(self, after: int) -> bool:
        """Whether the events read back include DONE with a number of at most `after`: nothing more will come."""
        number = self._count
        for data in self._frames:
            for line in data.split(b"\n"):
                number += 1
                if line == DONE_LINE:
                    return number <= after
        return False

    def put(self, data: bytes) -> None:
        self._bytes += len(data)
        if len(self._frames) >= WAITING_FRAMES or self._bytes > WAITING_BYTES:
            self.fail(TooSlow(f"the reader of run {self.run_id} is {len(self._frames)} frames behind"))
            self._frames.clear()
            self.close()
            return
        self._frames.append(data)
        self._woken.set()

    def note(self, event: bytes) -> None:
        """Add an event that only this reader gets; its number is 0."""
        self._notes.append(event)
        self._woken.set()

    def fail(self, problem: Exception) -> None:
        self._problem = problem
        self._woken.set()

    def begin_anew(self) -> None:
        """The stream was lost: a reader that has events cannot be told the rest; one that has none begins with the new stream."""
        if self._count or self._frames:
            self.fail(Unavailable("the events were lost; ask for what is left of them"))
        self.position = 0

    async def batch(self) -> list[Numbered]:
        """All events available, at least one; empty after DONE. Raises TooSlow, or Unavailable when the router ended.

        A line that is no event is left out, but has its number. May be cancelled (by a time limit) without losing an event.
        """
        return await self.batch_within(None) or []

    async def batch_within(self, silence_s: float | None) -> list[Numbered] | None:
        """`batch`, or None after so long a silence."""
        while not self.done:
            if self._notes:
                notes, self._notes = self._notes, []
                return [(0, note) for note in notes]
            if self._frames:
                if found := self._take():
                    return found
                continue
            if self._problem is not None:
                raise self._problem
            if not await self._woken.wait(silence_s):
                return None
        return []

    def _take(self) -> list[Numbered]:
        found: list[Numbered] = []
        self._bytes = 0
        while self._frames:
            for line in self._frames.popleft().split(b"\n"):
                self._count += 1
                if is_event(line):
                    found.append((self._count, line))
                if line == DONE_LINE:
                    self.done = True
                    self.close()
                    return found
        return found


class EventRouter:
    """Follows EVENTS from the moment it started; `position` is the last sequence it has seen."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.position = 0
        self._client = journal.client
        self._readers: dict[str, list[Reader]] = {}
        #: Called with the id of each run whose DONE arrives, however slowly its readers read.
        self.ended: Callable[[str], None] = lambda run_id: None
        self.watch = Watch()
        self._open = False
        #: When a question of a client was last answered, on the loop's clock.
        self.answered_at = -math.inf

    @property
    def readers(self) -> int:
        return sum(map(len, self._readers.values()))

    async def start(self) -> None:
        """Begin at the stream's end. Raises Unavailable when the stream does not exist."""
        self.position = (await self.journal.usage(EVENTS)).last
        self._open = True
        await take(self._client, f"{RECORD}.*", self._take_record)
        self.watch.keep("event router", self._run)

    async def stop(self) -> None:
        self._open = False
        await self.watch.stop()
        for reader in self._all():
            reader.fail(Closing())

    def reader(self, run_id: str) -> Reader:
        """A reader of a run's events from now on."""
        reader = Reader(self, run_id)
        self._readers.setdefault(run_id, []).append(reader)
        if not self._open:
            reader.fail(Closing())
        return reader

    def forget(self, reader: Reader) -> None:
        readers = self._readers.get(reader.run_id, [])
        if reader in readers:
            readers.remove(reader)
        if not readers:
            self._readers.pop(reader.run_id, None)

    async def _run(self) -> None:
        # Without filters: they would name all of the stream, and with them a server cannot feed an edge that is behind.
        found = Following(self._client, EVENTS, (), anew=self._anew, ahead=AHEAD).batches(after=self.position)
        async with contextlib.aclosing(found):
            async for batch in found:
                for stored in batch:
                    self._hand_out(stored)

    def _hand_out(self, stored: Stored) -> None:
        self.position = stored.sequence
        run_id = stored.subject.rpartition(".")[2]
        data = stored.data
        for reader in tuple(self._readers.get(run_id, ())):
            reader.put(data)
        if not data.endswith(DONE_LINE):
            return
        if _ANSWERED in data and not is_canary(run_id):
            self.answered_at = asyncio.get_running_loop().time() - max(0.0, time.time() - stored.time)
        self.ended(run_id)

    def _take_record(self, frame: Frame) -> None:
        subject, _, _, data = frame
        for reader in self._readers.get(subject.decode(errors="replace").rpartition(".")[2], ()):
            reader.record = data

    def _anew(self) -> None:
        """The stream was deleted and recreated, so the position that readers counted from is gone."""
        log.warning("the stream %s was recreated; its earlier events are lost", EVENTS)
        self.position = 0
        for reader in self._all():
            reader.begin_anew()

    def _all(self) -> list[Reader]:
        return [each for readers in self._readers.values() for each in readers]
