"""Whether the journal has room for another question, so that the runs under way keep the last of it."""

import time

from bus.journal.journal import Journal, Usage
from bus.journal.pruner import journal_state, why_full
from bus.wire.errors import Unavailable

#: Share of the journal that questions may fill; the rest is for the records of runs under way.
FULL_FROM = 0.95
#: How long an answer is believed: the fuller the journal, the shorter.
FRESH_S = 1.0


class Room:
    """Looks at the journal once a second while it has room, more often as it fills."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._problem = ""
        self._until = 0.0

    async def check(self) -> None:
        """Raises Unavailable, with the reason, when the journal cannot take a question."""
        if time.monotonic() >= self._until:
            usage = await self.journal.usage()
            share = usage.size_bytes / usage.limit_bytes if usage.limit_bytes else 0.0
            self._problem = await self._why(usage) if share >= FULL_FROM else ""
            self._until = time.monotonic() + FRESH_S * max(0.02, 1 - share) ** 2
        if self._problem:
            raise Unavailable(self._problem)

    async def _why(self, usage: Usage) -> str:
        state = await journal_state(self.journal.client)
        if state is None:
            return (
                f"the journal is full ({usage.size_bytes / 1e6:.1f} of {usage.limit_bytes / 1e6:.1f} MB) and no actors process"
                " removes old runs; start one with `groundwire up`, or raise bus.runs_max_bytes"
            )
        return why_full(state)
