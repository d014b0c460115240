"""Answers of every kind, as the pipeline's own last stages end them: what the tests of /v1/responses ask for by its first word."""

import asyncio

from actors.stream_answer import stream_answer
from actors.stream_references import stream_references
from bus.powers.events import Emitter
from bus.wire.messages import AnswerSettled, QuestionAsked
from bus.wire.settled import Settled
from bus.wire.subjects import finished
from tests.runtime.edge.citing import place, reference
from tests.runtime.edge.conftest import Answer, Pipeline, ends

#: Two sources, the second without an address; a character outside the basic plane precedes the markers.
_HANDBOOK = "https://example.org/handbook"
CITED = (
    reference("handbook.md", "Handbook", _HANDBOOK, place(1, f"{_HANDBOOK}#loans", 10, "A loan is for three weeks.")),
    reference("fees 2026.md", "", "", place(2, "", 0, "No fees.", page=2)),
)
CITED_TEXT = "📚 A loan is for three weeks [1]. There are no fees [2]."


async def fail(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
    await Emitter(pipeline.bus.journal, run_id).text("Half of")
    settled = Settled(outcome="failed", reason="model_unavailable", question=question.question, language="en")
    message = AnswerSettled(settled=settled, shown="Half of")
    emitter = Emitter(pipeline.bus.journal, run_id)
    over = await stream_answer.handle(message, emitter)
    await pipeline.bus.journal.write(finished(run_id), over)
    await emitter.progress()
    await stream_references.handle(over, emitter)


async def hang(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
    """Emits a word, and no more until another process ends the run."""
    emitter = Emitter(pipeline.bus.journal, run_id)
    await emitter.text("A loan is")
    while True:
        found = await pipeline.bus.journal.latest([finished(run_id).subject])
        if found:
            over = found[0].message
            await emitter.progress()
            await stream_references.handle(over, emitter)
            return
        await asyncio.sleep(0.02)  # the journal has no event for one key


KINDS: dict[str, Answer] = {
    "cite": ends(CITED_TEXT, outcome="answered", answer=CITED_TEXT, confidence="high", references=CITED),
    "cut": ends(CITED_TEXT[:20], outcome="answered", answer=CITED_TEXT[:20], cut="length", references=CITED),
    "refuse": ends(outcome="refused", reason="no_evidence", answer="The documents do not say."),
    "withdraw": ends(
        "Within 90 days [1].",
        outcome="refused",
        reason="grounding_failed",
        answer="It is withdrawn.",
        references=CITED,  # of what was shown
    ),
    "fail": fail,
    "hang": hang,
}
