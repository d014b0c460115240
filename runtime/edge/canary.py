"""The canary: a question that the edge submits every few seconds, to know whether the whole path works.

The model classifies it, or rules do in place of a model server that answered last and still lists its models; the index searches
for it. No document passes its filter, so it ends there, after a few dozen tokens.
It is left out while questions of clients are answered, since those prove the same.
"""

import asyncio
import contextlib
import logging

from bus.journal.canary import admit_canary, canary_id, canary_question
from bus.runs.run_record import RunRecord
from bus.runs.runs import Runs
from bus.transport.health import Health
from bus.wire.errors import Failure

log = logging.getLogger("groundwire.edge")

#: A reply that did not come at all: the stage went on without it, as it would for a client, but the model is not there.
_AWAY = ("NoReply", "Unavailable", "Busy", "Rejected", "OverQuota")
#: The pause, in seconds, before the next canary after a client cancelled one.
AGAIN_S = 0.5


class Canary:
    """Asks every `period_s`, twice as often while something is wrong; never when that is 0. Keep `run` going."""

    def __init__(self, runs: Runs, period_s: float) -> None:
        self.runs = runs
        self.period_s = period_s
        self.submitted = 0
        self._problem = "the first question of its own is under way"
        self._alive_at = 0.0  # on the loop's clock

    @property
    def health(self) -> Health:
        """Whether a question was answered recently; else why not."""
        silent_s = asyncio.get_running_loop().time() - self._alive_at
        if self._problem:
            return Health(detail=self._problem)
        if silent_s > 2 * self.period_s + AGAIN_S:
            return Health(detail=f"no question was answered in the last {silent_s:.0f} s")
        return Health(ready=True, detail="a question goes all the way")

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            if began - self.runs.router.answered_at < self.period_s:
                self._lives()
                problem: str | None = ""
            else:
                problem = await self._probe()
                if problem == "":
                    self._lives()
                elif problem is not None:
                    if problem != self._problem:
                        log.warning("not ready: %s", problem)
                    self._problem = problem
            due_s = AGAIN_S if problem is None else self.period_s / 2 if problem else self.period_s
            pause = due_s - (loop.time() - began)
            await asyncio.sleep(max(pause, AGAIN_S))

    def _lives(self) -> None:
        self._alive_at, self._problem = asyncio.get_running_loop().time(), ""

    async def _probe(self) -> str | None:
        """The problem; empty for none, None if this question proves nothing."""
        run_id = canary_id()
        self.submitted += 1
        try:
            async with asyncio.timeout(self.period_s):
                await admit_canary(self.runs.journal, run_id, patience_s=self.period_s)
                with self.runs.router.reader(run_id) as reader:
                    await self.runs.submit(canary_question(self.period_s), run_id)
                    while await reader.batch():
                        pass
                return problem_of(await self.runs.record(run_id))
        except TimeoutError:
            record = None
            with contextlib.suppress(TimeoutError, Failure):
                async with asyncio.timeout(self.period_s / 2):
                    record = await self.runs.record(run_id)
            reached = f"; it came as far as {record.stages[-1].stage}" if record and record.stages else ""
            return f"a question of its own did not end within {self.period_s:g} s{reached}"
        except Failure as failure:
            return f"a question of its own failed: {failure}"


def problem_of(record: RunRecord | None) -> str | None:
    if record is None or record.outcome == "cancelled":
        return None
    if record.outcome == "failed":
        return f"a question of its own failed: {record.detail or record.reason}"
    away = next((each for each in record.stages if each.fallback.startswith(_AWAY)), None)
    return f"a question of its own got no reply in {away.stage}: {away.fallback}" if away is not None else ""
