"""The five styles of an answer: what each asks of the model, and how its reply becomes a draft.

simple       two to four sentences, each with its source number; or JSON in the requested shape
report       TL;DR, conclusion, then numbered arguments with source and quotation
synthesis    one short text with markers, or a refusal with its reason
structured   a summary and up to three details, with the ids of the sources
hint         help with an exercise that never states the final result
"""

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET

from actors.answering.drafting import Drafted, advice, budget, layout, probability_shown, prose, written
from actors.answering.outgoing import Cleaning
from actors.answering.sentence_check import cited_in, each_checked
from actors.choosing.weights import confidence_of
from actors.evidence.prompt_evidence import analysis_to_prompt, evidence_of
from actors.question.profile import profile_of
from actors.question.resolved import must_cite, wording
from bus.powers.protocols import Ask, Emit
from bus.wire.messages import AnswerDrafted, AnswerRequested
from bus.wire.parts import Sentence
from prompts import contracts
from prompts.vocabulary import Style

#: The most characters of a synthesis, unless the profile sets another limit.
SYNTHESIS_CHARS: Final = 400


async def _simple(request: AnswerRequested, ask: Ask, emit: Emit) -> Drafted:
    variables = contracts.AnswerSimple(
        original_query=request.question.text,
        retrieved_chunks=evidence_of(request.evidence),
        language=request.question.language,
        style=wording(request.question) or UNSET,
        safety_advice=advice(request),
    )
    schema = request.question.constraints.response_schema
    if schema is not UNSET:
        return await shaped(request, ask, variables, schema)
    return await prose(request, ask, emit, variables)


async def _report(request: AnswerRequested, ask: Ask, emit: Emit) -> Drafted:
    variables = contracts.AnswerReport(
        original_query=request.question.text,
        sub_query_analyses=tuple(analysis_to_prompt(analysis) for analysis in request.analyses),
        evidence=evidence_of(request.evidence),
        language=request.question.language,
        style=wording(request.question) or UNSET,
        safety_advice=advice(request),
    )
    return await prose(request, ask, emit, variables)


async def _synthesis(request: AnswerRequested, ask: Ask, emit: Emit) -> Drafted:
    reply = await ask(
        contracts.AnswerSynthesis(
            query=request.question.text,
            evidence=evidence_of(request.evidence),
            language=request.question.language,
            style=wording(request.question) or UNSET,
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
            question=request.question.text,
            contexts=evidence_of(request.evidence),
            language=request.question.language,
            max_tokens=budget(request),
            style=wording(request.question),
            must_cite=must_cite(request.question),
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


#: Flags that do not apply to a text in a shape: it need not cite, nor be in the question's language.
_EXCUSED = frozenset({"uncited", "empty", "wrong_language"})


async def shaped(
    request: AnswerRequested, ask: Ask, variables: contracts.AnswerSimple, schema: dict[str, object]
) -> AnswerDrafted:
    """The draft of a whole JSON, of which nothing has been shown; the device's grammar keeps its shape.

    Each sentence in its texts is checked like a sentence of an answer. One withheld sentence withholds the whole JSON, since a
    shape has no gaps. Markers are checked and removed. Numbers, booleans and field names are not checked.
    """
    value = msgspec.json.decode(await ask.shaped(variables, schema))
    cleaning = Cleaning(request)
    sentences = tuple(excused(each) for text in _texts(value) for each in each_checked(text, request, cleaning))
    probability = probability_shown(request, sentences)
    return AnswerDrafted(
        question=request.question,
        evidence=request.evidence,
        conflicts=(),
        sentences=sentences,
        style="simple",
        confidence="medium" if probability is None else confidence_of(probability),
        snapshot=request.snapshot,
        rounds=request.rounds,
        probability=probability,
        shaped=msgspec.json.encode(_changed(value, cleaning.unmarked)).decode(),
    )


def excused(sentence: Sentence) -> Sentence:
    """The sentence without the flags that do not apply to a text in a shape."""
    flags = tuple(flag for flag in sentence.flags if flag.kind not in _EXCUSED)
    return msgspec.structs.replace(sentence, flags=flags, withheld=False)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, in order."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(inner)


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _changed(inner, change) for name, inner in value.items()}
    return [_changed(inner, change) for inner in value] if isinstance(value, list) else value
