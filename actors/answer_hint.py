"""Help with an exercise: guide towards the answer without ever stating the final result.

HintRequested -> AnswerDrafted | AnswerVerified | DraftMistranslated        prompt: answer_hint

Without a model there is no answer: the run fails with `model_unavailable`.
"""

from actors.answer.drafting import budget, layout, no_model, written
from actors.evidence.prompt_shapes import evidence_of
from actors.question.resolved import must_cite
from bus.delivery.actor import actor
from bus.powers.protocols import Ask, Emit
from bus.wire.messages import AnswerDrafted, AnswerSettled, AnswerVerified, DraftMistranslated, HintRequested
from prompts import contracts


@actor(prompts=("answer_hint", "verify_answer", "guard_language"), priority="answer", fallback=no_model)
async def answer_hint(
    message: HintRequested, ask: Ask, emit: Emit
) -> AnswerDrafted | AnswerVerified | DraftMistranslated | AnswerSettled:
    reply = await ask(
        contracts.AnswerHint(
            question=message.question.text,
            contexts=evidence_of(message.evidence),
            language=message.question.language,
            max_tokens=budget(message),
            style="hint",
            must_cite=must_cite(message.question),
        )
    )
    return await written(message, ask, emit, layout(reply), "hint", cited=reply.citations)
