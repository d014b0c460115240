"""The whole pipeline in this process, asked one question at a time, with the outcome of each."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from actors.text.numbering import as_evidence
from bus.powers.events import numbers_behind, shown_text
from bus.runs.run_record import RunRecord
from bus.runs.runs import Runs
from bus.wire.messages import QuestionAsked
from runtime.engines.engine import Engine
from tests.whole import whole


@dataclass
class RunResult:
    """The result of one question: every line for the client, the shown text, and the run's record.

    `said`: the shown text, with the numbers of the evidence that the model wrote.
    """

    run_id: str
    lines: list[str]
    shown: str
    record: RunRecord
    said: str

    @property
    def types(self) -> list[str]:
        """The events' types in order, a run of tokens as one."""
        found = [str(msgspec.json.decode(line)["type"]) for line in self.lines]
        return [one for at, one in enumerate(found) if at == 0 or one != found[at - 1]]


@dataclass
class Stack:
    runs: Runs

    async def ask(self, question: QuestionAsked) -> RunResult:
        submitted = await self.runs.submit(question)
        lines = [line.decode() async for _, line in self.runs.events(submitted.run_id)]
        record = await self.runs.record(submitted.run_id)
        assert record is not None
        frames = await self.runs.journal.frames(submitted.run_id)
        shown, numbers = shown_text(frames), next(filter(None, map(numbers_behind, reversed(frames))), ())
        return RunResult(submitted.run_id, lines, shown, record, as_evidence(shown, numbers))


@contextlib.asynccontextmanager
async def stack(folder: Path, engine: Engine) -> AsyncIterator[Stack]:
    """`whole` without a cache of answers, for questions with their own contexts."""
    async with whole(folder, engine, cache_entries=0) as run:
        yield Stack(run.runs)
