"""What a process still knows of the runs that ended in it, so that neither their events nor their records are read back."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bus.journal.journal import EventFrame, Journal
from bus.journal.records import Record, Stage
from bus.runs.story import RunStory, StageRun
from bus.wire.messages import Message, RunFinished


@dataclass(slots=True)
class Events:
    """The events of one run, in the journal. The last frame is not read back if it was written here.

    `after`: the write of the record that the events come from; they are written behind it.
    """

    journal: Journal
    last: EventFrame | None = None
    after: "asyncio.Task[Any] | None" = None

    async def last_frame(self, run_id: str) -> EventFrame | None:
        return self.last or await self.journal.last_frame(run_id)

    async def frames(self, run_id: str) -> list[EventFrame]:
        return await self.journal.frames(run_id)

    async def add_frame(self, run_id: str, data: bytes, headers: Mapping[str, str]) -> int | None:
        if self.after is not None:
            await asyncio.shield(self.after)
        sequence = await self.journal.add_frame(run_id, data, headers)
        # Without a sequence, another writer came first.
        self.last = None if sequence is None else EventFrame(run_id, sequence, data, headers, fenced=True)
        return sequence

    async def add_aside(self, run_id: str, data: bytes) -> None:
        await self.journal.add_aside(run_id, data)


@dataclass(slots=True)
class RunMemory:
    """A run under way in this process, from its question on."""

    events: Events
    asked_at: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    stages: list[StageRun] = field(default_factory=list)

    def add(self, record: Record, message: Message, stage: Stage | None) -> None:
        self.messages.append(message)
        if stage is not None:
            self.stages.append(StageRun(record, stage))

    def story(self, run_id: str, end: RunFinished, finished_at: float) -> RunStory:
        """As `story_of` its records."""
        messages, stages = tuple(self.messages), tuple(self.stages)
        return RunStory(run_id, self.asked_at, self.headers, messages, stages, finished_at, end.settled)
