"""An answer in two halves, so that a client can come, leave or cancel between them."""

import asyncio
from typing import Any

import pytest

from bus.powers.events import Done, Emitter, Error, tokens_of
from bus.wire.messages import QuestionAsked
from bus.wire.settled import Settled
from bus.wire.subjects import cancel_subject
from tests.runtime.edge.conftest import Pipeline

#: The reply to the question `halves`.
WORDS = "one two three four"


class Halves:
    """Emits the first `half` characters, a word a frame, and the others on the test's command; a cancellation ends it.

    `begun`: the runs that have emitted their first half. `ended`: fields of Settled.
    """

    def __init__(self, words: str = WORDS, half: int = 3, **ended: Any) -> None:
        self.begun: asyncio.Queue[str] = asyncio.Queue()
        self.go_on = asyncio.Event()
        self.stopped = False
        self._halves, self._ended = (words[:half], words[half:]), {"outcome": "answered", "answer": words} | ended

    async def __call__(self, pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id, everything=question.events == "all")
        cancelled = await pipeline.bus.client.subscribe(cancel_subject(run_id), cb=self._cancel)
        for piece in tokens_of(self._halves[0]):
            await emitter.tokens([piece])
        self.begun.put_nowait(run_id)
        await self.go_on.wait()
        await cancelled.unsubscribe()
        if self.stopped:
            await emitter.events(Error(code="cancelled", content="It was cancelled."), Done())
        else:
            await emitter.tokens(tokens_of(self._halves[1]))
            await pipeline.end(emitter, Settled(question=question.question, profile=question.profile, **self._ended))

    async def _cancel(self, _: object) -> None:
        self.stopped = True
        self.go_on.set()


@pytest.fixture
def halves(pipeline: Pipeline) -> Halves:
    pipeline.scripts["halves"] = made = Halves()
    return made
