"""Answers of every kind, as the pipeline's own last stages end them: what the tests of /v1/responses ask for by its first word."""

import asyncio

from actors.stream_answer import stream_answer
from actors.stream_references import stream_references
from bus.powers.events import Emitter
from bus.wire.messages import AnswerSettled, QuestionAsked
from bus.wire.settled import CitedPlace, Reference, Settled
from bus.wire.subjects import finished, key_of
from tests.runtime.edge.conftest import Answer, Pipeline

#: Two sources, the second without an address; a character outside the basic plane precedes the markers.
CITED = (
    Reference(
        source_id="handbook.md",
        title="Handbook",
        url="https://example.org/handbook",
        score=0.9,
        n=(1,),
        cited=(
            CitedPlace(
                n=1,
                url="https://example.org/handbook#loans",
                page=None,
                source_start=10,
                source_end=40,
                cited_text="A loan is for three weeks.",
            ),
        ),
    ),
    Reference(
        source_id="fees 2026.md",
        title="",
        url="",
        score=0.5,
        n=(2,),
        cited=(CitedPlace(n=2, url="", page=2, source_start=0, source_end=9, cited_text="No fees."),),
    ),
)
CITED_TEXT = "📚 A loan is for three weeks [1]. There are no fees [2]."


async def end(pipeline: Pipeline, run_id: str, settled: Settled, *, shown: str = "") -> None:
    """Show the given text before the end, then end the run like its last stages."""
    emitter = Emitter(pipeline.bus.journal, run_id)
    await emitter.text(shown)
    message = AnswerSettled(settled=settled, shown=shown, retract=bool(shown) and settled.answer != shown)
    await pipeline.bus.journal.write(key_of(AnswerSettled, run_id), message)
    over = await stream_answer.handle(message, emitter)
    await pipeline.bus.journal.write(finished(run_id), over)
    await stream_references.handle(over, emitter)


async def cite(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
    settled = Settled(
        outcome="answered",
        question=question.question,
        answer=CITED_TEXT,
        confidence="high",
        references=CITED,
        language="en",
        profile=question.profile,
    )
    await end(pipeline, run_id, settled, shown=CITED_TEXT)


async def cut(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
    answer = CITED_TEXT[:20]
    settled = Settled(
        outcome="answered", question=question.question, answer=answer, cut="length", references=CITED, language="en"
    )
    await end(pipeline, run_id, settled, shown=answer)


async def shape(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
    settled = Settled(outcome="answered", question=question.question, answer='{"weeks": 3}', language="en")
    await end(pipeline, run_id, settled)


async def refuse(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
    answer = "The documents do not say."
    settled = Settled(
        outcome="refused",
        question=question.question,
        reason="no_evidence",
        answer=answer,
        language="en",
        profile="general",
    )
    await end(pipeline, run_id, settled)


async def withdraw(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
    settled = Settled(
        outcome="refused",
        question=question.question,
        reason="grounding_failed",
        answer="It is withdrawn.",
        references=CITED,  # of what was shown
        language="en",
        profile="general",
    )
    await end(pipeline, run_id, settled, shown="Within 90 days [1].")


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
    "cite": cite,
    "cut": cut,
    "shape": shape,
    "refuse": refuse,
    "withdraw": withdraw,
    "fail": fail,
    "hang": hang,
}
