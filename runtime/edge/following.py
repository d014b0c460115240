"""A run as MCP reads it."""

from collections.abc import AsyncIterator

from bus.powers.events import ProgressEvent
from bus.runs.router import Reader
from runtime.edge.relay import Transcript


class Followed(Transcript):
    """What a run has shown so far."""

    def __init__(self, reader: Reader, keepalive_s: float) -> None:
        super().__init__(reader.run_id)
        self._reader = reader
        self._keepalive_s = keepalive_s

    async def numbered(self) -> AsyncIterator[list[tuple[int, str | ProgressEvent]] | None]:
        """What is ready, each part with its number; None after a silence. Raises Problem for a failure, TooSlow, Unavailable."""
        while (batch := await self._reader.batch_within(self._keepalive_s)) != []:
            if batch is None:
                yield None
                continue
            parts = (part for event in batch for part in self.add([event]))
            yield [(number, "".join(part) if isinstance(part, list) else part) for number, part in parts]
        self.check()
