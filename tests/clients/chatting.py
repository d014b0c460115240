"""What the tests of the clients of /v1/chat/completions share: a script that does it all, and a run that its client leaves."""

import asyncio
import json
from pathlib import Path
from typing import Any

from bus.runs.runs import Runs
from bus.wire.messages import QuestionAsked
from tests.clients.installed import output_of
from tests.polling import ended
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.response_kinds import KINDS, hang


class Leaving:
    """Answers `leave` with the beginning of an answer that does not go on; `runs` are those that were asked for it."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.runs: list[str] = []
        pipeline.scripts |= KINDS | {"leave": self}

    async def __call__(self, pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        self.runs.append(run_id)
        await hang(pipeline, run_id, question)

    async def all_cancelled(self, runs: Runs) -> bool:
        """Whether every one of them ends, since its client left."""
        assert self.runs
        return {(await ended(runs, run_id)).outcome for run_id in self.runs} == {"cancelled"}


async def told(*command: str | Path, **env: str) -> dict[str, Any]:
    """The results of a client's script, by step."""
    async with asyncio.timeout(120):
        said: dict[str, Any] = json.loads((await output_of(*command, timeout_s=110, **env)).strip().splitlines()[-1])
    return said
