"""An answer in two halves, so that a client can come, leave or cancel between them."""

import asyncio

import pytest

from bus.powers.events import Done, Emitter, Error
from bus.wire.messages import QuestionAsked, RunFinished
from bus.wire.settled import Settled
from bus.wire.subjects import cancel_subject, finished
from tests.runtime.edge.conftest import Pipeline

#: The reply to the question `halves`.
WORDS = "one two three four"


class Halves:
    """Emits one word, and the others on the test's command; a cancellation ends it."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.stopped = False

    async def __call__(self, pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id)
        cancelled = await pipeline.bus.client.subscribe(cancel_subject(run_id), cb=self._cancel)
        await emitter.tokens(["one"])
        await self.go_on.wait()
        await cancelled.unsubscribe()
        if self.stopped:
            await emitter.events(Error(code="cancelled", content="It was cancelled."), Done())
        else:
            await emitter.tokens([" two", " three", " four"])
            settled = Settled(outcome="answered", question=question.question, answer=WORDS)
            await pipeline.bus.journal.write(finished(run_id), RunFinished(settled=settled))
            await emitter.events(Done())

    async def _cancel(self, _: object) -> None:
        self.stopped = True
        self.go_on.set()


@pytest.fixture
def halves(pipeline: Pipeline) -> Halves:
    pipeline.scripts["halves"] = made = Halves()
    return made
