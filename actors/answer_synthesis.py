"""Answer with one short text of at most 400 characters with markers, or refuse with a reason.

SynthesisRequested -> AnswerDrafted | AnswerVerified | DraftMistranslated        prompt: answer_synthesis

Without a model there is no answer: the run fails with `model_unavailable`.
"""

from actors.answer.drafting import no_model, written
from actors.evidence.prompt_shapes import evidence_of
from actors.question.profile import profile_of
from bus.delivery.actor import actor
from bus.powers.protocols import Ask, Emit
from bus.wire.messages import AnswerDrafted, AnswerSettled, AnswerVerified, DraftMistranslated, SynthesisRequested
from prompts import contracts

LONGEST = 400


@actor(prompts=("answer_synthesis", "verify_answer", "guard_language"), priority="answer", fallback=no_model)
async def answer_synthesis(
    message: SynthesisRequested, ask: Ask, emit: Emit
) -> AnswerDrafted | AnswerVerified | DraftMistranslated | AnswerSettled:
    reply = await ask(
        contracts.AnswerSynthesis(
            query=message.question.text,
            evidence=evidence_of(message.evidence),
            language=message.question.language,
        )
    )
    text = reply.answer.strip()
    return await written(
        message,
        ask,
        emit,
        text,
        "synthesis",
        confidence=reply.confidence,
        refused=reply.refused or not text,
        refuse_reason=reply.refuse_reason,
        most_chars=profile_of(message.question.profile).max_answer_chars or LONGEST,
    )
