"""The five styles of an answer: what each asks of the model, and how its reply becomes a draft.

simple       two to four sentences, each with its source number
report       TL;DR, conclusion, then numbered arguments with source and quotation
synthesis    one short text with markers, or a refusal with its reason
structured   a summary and up to three details, with the ids of the sources
hint         help with an exercise that never states the final result
"""

from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import UNSET

from actors.answering.drafting import Drafted, advice, budget, layout, prose, written
from actors.answering.sentence_check import cited_in
from actors.evidence.prompt_evidence import analysis_to_prompt, evidence_of
from actors.question.profile import profile_of
from actors.question.resolved import as_read, must_cite, wording
from bus.powers.protocols import Ask, Emit
from bus.wire.messages import AnswerRequested
from prompts import contracts
from prompts.vocabulary import Style

#: The most characters of a synthesis, unless the profile sets another limit.
SYNTHESIS_CHARS: Final = 400


async def _simple(request: AnswerRequested, ask: Ask, emit: Emit) -> Drafted:
    variables = contracts.AnswerSimple(
        original_query=as_read(request.question),
        retrieved_chunks=evidence_of(request.evidence, to_model=request.question.has_model),
        language=request.question.language,
        style=wording(request.question) or UNSET,
        safety_advice=advice(request),
        today=request.question.today or UNSET,
    )
    return await prose(request, ask, emit, variables)


async def _report(request: AnswerRequested, ask: Ask, emit: Emit) -> Drafted:
    variables = contracts.AnswerReport(
        original_query=as_read(request.question),
        sub_query_analyses=tuple(analysis_to_prompt(analysis) for analysis in request.analyses),
        evidence=evidence_of(request.evidence, to_model=request.question.has_model),
        language=request.question.language,
        style=wording(request.question) or UNSET,
        safety_advice=advice(request),
        today=request.question.today or UNSET,
    )
    return await prose(request, ask, emit, variables)


async def _synthesis(request: AnswerRequested, ask: Ask, emit: Emit) -> Drafted:
    reply = await ask(
        contracts.AnswerSynthesis(
            query=as_read(request.question),
            evidence=evidence_of(request.evidence, to_model=request.question.has_model),
            language=request.question.language,
            style=wording(request.question) or UNSET,
            today=request.question.today or UNSET,
        )
    )
    text = reply.answer.strip()
    return await written(
        request,
        ask,
        emit,
        text,
        confidence=reply.confidence if set(reply.used_citations) == cited_in(text) else "low",
        refused=reply.refused or not text,
        refuse_reason=reply.refuse_reason,
        most_chars=profile_of(request.question.profile).max_answer_chars or SYNTHESIS_CHARS,
    )


def _structured(prompt: type[contracts.AnswerStructured | contracts.AnswerHint]) -> "Answering":
    async def structured(request: AnswerRequested, ask: Ask, emit: Emit) -> Drafted:
        variables = prompt(
            question=as_read(request.question),
            contexts=evidence_of(request.evidence, to_model=request.question.has_model),
            language=request.question.language,
            max_tokens=budget(request),
            style=wording(request.question),
            must_cite=must_cite(request.question),
            today=request.question.today or UNSET,
        )
        reply: contracts.StructuredAnswer = await ask(variables)
        return await written(request, ask, emit, layout(reply), cited=reply.citations)

    return structured


type Answering = Callable[[AnswerRequested, Ask, Emit], Awaitable[Drafted]]

STYLES: Final[dict[Style, Answering]] = {
    "simple": _simple,
    "report": _report,
    "synthesis": _synthesis,
    "structured": _structured(contracts.AnswerStructured),
    "hint": _structured(contracts.AnswerHint),
}
