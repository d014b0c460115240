"""Replays of answers with markers numbered in reading order, of one that two workers showed, and of older runs."""

import asyncio
from collections.abc import AsyncIterator
from typing import Literal

import pytest

from actors.pipeline import pipeline
from actors.question.resolved import Defaults
from bus.journal.journal import EventFrame
from bus.powers.events import CITED, shown_text
from bus.wire.messages import QuestionAsked
from runtime.engines.engine import Delta, Finished, Request
from runtime.engines.scripted.engine import ScriptedEngine
from runtime.replay.replayer import replay
from runtime.replay.trace import Trace, dump, load
from tests.polling import until
from tests.runtime.replay.conftest import Recorder, given
from tests.runtime.replay.test_replayer import drop
from tests.whole import Whole

TEXTS = (
    "Refunds are paid within 14 days of the return.",
    "Ladders must be checked every 6 months.",
    "The shop opens at nine on weekdays.",
)
FIRST = "The shop opens at nine on weekdays [3]. "
REST = "Refunds are paid within 14 days of the return [1]. Ladders must be checked every 6 months [2]."
IN_ORDER = (
    "The shop opens at nine on weekdays [1]. Refunds are paid within 14 days of the return [2]. "
    "Ladders must be checked every 6 months [3]."
)
PICKED = '{"spans": [' + ", ".join(f'{{"passage": {n}, "text": "{t}"}}' for n, t in enumerate(TEXTS, start=1)) + "]}"


class Numbers(ScriptedEngine):
    """Cites [2] first, and may stop after that until it is asked to continue; `told` is the text it continues."""

    def __init__(self, *, stalls: bool) -> None:
        super().__init__({"select_evidence": PICKED})
        self.stalls, self.told = stalls, list[str]()

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        if request.variables.name != "answer_simple":
            async for part in super().generate(request):
                yield part
            return
        self.told.append(request.already_shown)
        if self.stalls and not request.already_shown:
            yield Delta(f"{FIRST}Refunds are paid")
            await asyncio.Event().wait()
        yield Delta((FIRST + REST).removeprefix(request.already_shown))
        yield Finished(text=FIRST + REST, finish_reason="stop", engine="numbers", model="numbers")


def asked(release: Literal["sentence", "token", "draft"]) -> QuestionAsked:
    return QuestionAsked(
        question="When does the shop open, are refunds paid and ladders checked?",
        contexts=given(*TEXTS),
        release=release,
        style="simple",
    )


def text_of(trace: Trace) -> str:
    return shown_text([EventFrame("", f.sequence, f.data, f.headers, f.fenced) for f in trace.frames])


@pytest.mark.parametrize("release", ["sentence", "token", "draft"])
async def test_replay_assigns_the_same_numbers(
    recorder: Recorder, release: Literal["sentence", "token", "draft"]
) -> None:
    async with recorder(Numbers(stalls=False)) as record:
        trace = await record.traced(asked(release))
    assert text_of(trace) == IN_ORDER
    assert (await replay(trace, pipeline())).divergence is None
    again = load(list(dump(trace)), name="again")
    assert (await replay(again, pipeline())).divergence is None


async def cited(record: Whole, run_id: str) -> bool:
    return any(CITED in frame.headers for frame in await record.journal.frames(run_id))


async def test_second_worker_continues_the_numbers(recorder: Recorder) -> None:
    engine = Numbers(stalls=True)
    run_id = "numbers-sentence"
    async with recorder(engine) as record:
        task = asyncio.create_task(record.traced(asked("sentence"), run_id))
        await until(lambda: cited(record, run_id), what="the first marker")
        drop(record.worker, run_id)
        trace = await task
    assert (FIRST + REST).startswith(engine.told[-1])
    assert "[3]" in engine.told[-1]
    assert text_of(trace) == IN_ORDER
    assert any(CITED in frame.headers for frame in trace.frames)
    assert (await replay(trace, pipeline())).divergence is None


@pytest.mark.parametrize("release", ["sentence", "token", "draft"])
async def test_older_run_keeps_its_numbers(recorder: Recorder, release: Literal["sentence", "token", "draft"]) -> None:
    """Runs of before the numbering show the numbers of the evidence, and still do when they are replayed."""
    async with recorder(Numbers(stalls=False), defaults=Defaults(renumbered=False, has_model=True)) as record:
        trace = await record.traced(asked(release))
    assert text_of(trace) == FIRST + REST
    assert (await replay(trace, pipeline())).divergence is None
