"""Runs for the tests of MCP clients: one that cites, one that waits to be continued or cancelled."""

import asyncio

from groundwire.wire import Source as FoundSource

from bus.powers.events import Done, Emitter, Error, Sources, StageEvent, Withheld, tokens_of
from bus.transport.follow import follow
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Flag
from bus.wire.settled import Settled, WithheldSentence
from bus.wire.subjects import RUNS, finished
from tests.runtime.edge.citing import place, reference
from tests.runtime.edge.conftest import Pipeline, plays

ANSWER = "Refunds are paid within 14 days [1]. The shipping fee is kept [2]."
QUOTES = ("Refunds are paid within 14 days of the return.", "The shipping fee of 3,000 won is not refunded.")
_PLACES = (place(n, "", 50 * n, quote) for n, quote in enumerate(QUOTES, 1))
SOURCE = reference("shop/refunds.md", "Refunds", "/sources/shop/refunds.md", *_PLACES)
_FLAG = Flag(kind="fabricated_number", strength="strong", words="20", evidence_n=(1,), why="not there")
_WITHHELD = WithheldSentence(text="It takes 20 days.", flags=(_FLAG,))


async def cites(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
    """Reports a stage, its hits and its withheld sentences, and cites one source twice."""
    emitter = Emitter(pipeline.bus.journal, run_id, everything=question.events == "all")
    await emitter.aside(StageEvent(stage="select_evidence", lane="main", status="start"))
    await emitter.aside(Sources(items=(FoundSource(source_id="shop/refunds.md", title="Refunds", url="", score=0.5),)))
    await emitter.tokens(tokens_of(ANSWER[:36]))
    await emitter.aside(Withheld(content=_WITHHELD.text, flags=_WITHHELD.flags))
    await emitter.tokens(tokens_of(ANSWER[36:]))
    await _end(pipeline, emitter, question)


class Held:
    """A run that emits a few words and continues on command, or ends when it is cancelled."""

    def __init__(self) -> None:
        self.begun: asyncio.Queue[str] = asyncio.Queue()
        self.go_on = asyncio.Event()

    async def __call__(self, pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id, everything=question.events == "all")
        for piece in tokens_of(ANSWER[:36]):
            await emitter.tokens([piece])
        self.begun.put_nowait(run_id)
        going, cancelled = asyncio.create_task(self.go_on.wait()), asyncio.create_task(_cancelled(pipeline, run_id))
        try:
            await asyncio.wait([going, cancelled], return_when=asyncio.FIRST_COMPLETED)
        finally:
            going.cancel()
            cancelled.cancel()
        if self.go_on.is_set():
            await emitter.tokens(tokens_of(ANSWER[36:]))
            await _end(pipeline, emitter, question)
        else:
            await emitter.events(Error(code="cancelled", content="this run was cancelled"), Done())


_UNAVAILABLE = Error(code="model_unavailable", content="the model does not answer")
fails = plays("", _UNAVAILABLE, outcome="failed", reason="model_unavailable")


async def _cancelled(pipeline: Pipeline, run_id: str) -> None:
    async for _ in follow(pipeline.bus.client, RUNS, [finished(run_id).subject], after=0):
        return


async def _end(pipeline: Pipeline, emitter: Emitter, question: QuestionAsked) -> None:
    settled = Settled(
        outcome="answered",
        question=question.question,
        answer=ANSWER,
        confidence="high",
        re_gate="clean",
        references=(SOURCE,),
        withheld=(_WITHHELD,),
        profile=question.profile,
    )
    await pipeline.end(emitter, settled)
