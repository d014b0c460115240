"""Runs for the tests of MCP clients: one that cites, one that waits to be continued or cancelled."""

from typing import Any

from groundwire.wire import Source as FoundSource

from bus.powers.events import Emitter, Error, Sources, StageEvent, Withheld, tokens_of
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Flag
from bus.wire.settled import Settled, WithheldSentence
from tests.clients.halves import Halves
from tests.runtime.edge.citing import place, reference
from tests.runtime.edge.conftest import Pipeline, plays

ANSWER = "Refunds are paid within 14 days [1]. The shipping fee is kept [2]."
QUOTES = ("Refunds are paid within 14 days of the return.", "The shipping fee of 3,000 won is not refunded.")
_PLACES = (place(n, "", 50 * n, quote) for n, quote in enumerate(QUOTES, 1))
SOURCE = reference("shop/refunds.md", "Refunds", "/sources/shop/refunds.md", *_PLACES)
_FLAG = Flag(kind="fabricated_number", strength="strong", words="20", evidence_n=(1,), why="not there")
_WITHHELD = WithheldSentence(text="It takes 20 days.", flags=(_FLAG,))
_ENDED: dict[str, Any] = {
    "outcome": "answered",
    "answer": ANSWER,
    "confidence": "high",
    "re_gate": "clean",
    "references": (SOURCE,),
    "withheld": (_WITHHELD,),
}


async def cites(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
    """Reports a stage, its hits and its withheld sentences, and cites one source twice."""
    emitter = Emitter(pipeline.bus.journal, run_id, everything=question.events == "all")
    await emitter.aside(StageEvent(stage="select_evidence", lane="main", status="start"))
    await emitter.aside(Sources(items=(FoundSource(source_id="shop/refunds.md", title="Refunds", url="", score=0.5),)))
    await emitter.tokens(tokens_of(ANSWER[:36]))
    await emitter.aside(Withheld(content=_WITHHELD.text, flags=_WITHHELD.flags))
    await emitter.tokens(tokens_of(ANSWER[36:]))
    await pipeline.end(emitter, Settled(question=question.question, profile=question.profile, **_ENDED))


def held() -> Halves:
    """A run that emits its first sentence, and ends on command."""
    return Halves(ANSWER, 36, **_ENDED)


_UNAVAILABLE = Error(code="model_unavailable", content="the model does not answer")
fails = plays("", _UNAVAILABLE, outcome="failed", reason="model_unavailable")
