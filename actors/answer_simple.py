"""Answer a simple question in two to four sentences, each with its source number, shown as they pass.

SimpleAnswerRequested -> AnswerDrafted | AnswerVerified | DraftMistranslated        prompt: answer_simple

Without a model there is no answer: the run fails with `model_unavailable`.
"""

from msgspec import UNSET

from actors.answer.drafting import advice, no_model, prose
from actors.answer.shaped import shaped
from actors.evidence.prompt_shapes import evidence_of
from bus.delivery.actor import actor
from bus.powers.protocols import Ask, Emit
from bus.wire.messages import AnswerDrafted, AnswerSettled, AnswerVerified, DraftMistranslated, SimpleAnswerRequested
from prompts import contracts


@actor(prompts=("answer_simple", "verify_answer", "guard_language"), priority="answer", fallback=no_model)
async def answer_simple(
    message: SimpleAnswerRequested, ask: Ask, emit: Emit
) -> AnswerDrafted | AnswerVerified | DraftMistranslated | AnswerSettled:
    variables = contracts.AnswerSimple(
        original_query=message.question.text,
        retrieved_chunks=evidence_of(message.evidence),
        language=message.question.language,
        safety_advice=advice(message),
    )
    schema = message.question.constraints.response_schema
    if schema is not UNSET:
        return await shaped(message, ask, variables, schema)
    return await prose(message, ask, emit, variables, "simple")
