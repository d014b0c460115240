"""Answer with a summary and up to three details, with the ids of the sources.

StructureRequested -> AnswerDrafted | AnswerVerified | DraftMistranslated        prompt: answer_structured

Without a model there is no answer: the run fails with `model_unavailable`.
"""

from actors.answer.drafting import budget, layout, no_model, written
from actors.evidence.prompt_shapes import evidence_of
from actors.question.resolved import must_cite
from bus.delivery.actor import actor
from bus.powers.protocols import Ask, Emit
from bus.wire.messages import AnswerDrafted, AnswerSettled, AnswerVerified, DraftMistranslated, StructureRequested
from prompts import contracts


@actor(prompts=("answer_structured", "verify_answer", "guard_language"), priority="answer", fallback=no_model)
async def answer_structured(
    message: StructureRequested, ask: Ask, emit: Emit
) -> AnswerDrafted | AnswerVerified | DraftMistranslated | AnswerSettled:
    reply = await ask(
        contracts.AnswerStructured(
            question=message.question.text,
            contexts=evidence_of(message.evidence),
            language=message.question.language,
            max_tokens=budget(message),
            style="structured",
            must_cite=must_cite(message.question),
        )
    )
    return await written(message, ask, emit, layout(reply), "structured", cited=reply.citations)
