"""Answer from the evidence in the requested style, and show each sentence as it passes its checks.

AnswerRequested -> AnswerDrafted | AnswerVerified | DraftMistranslated        prompt: answer_ and the style

If the model fails there is no answer: the run fails with the reason of the failure.
"""

from actors.answering.drafting import no_model
from actors.answering.styles import STYLES
from bus.delivery.actor import actor
from bus.powers.protocols import Ask, Emit
from bus.wire.messages import AnswerDrafted, AnswerRequested, AnswerSettled, AnswerVerified, DraftMistranslated


@actor(
    prompts=(*(f"answer_{style}" for style in STYLES), "verify_answer", "guard_language"),
    priority="answer",
    fallback=no_model,
)
async def answer(
    message: AnswerRequested, ask: Ask, emit: Emit
) -> AnswerDrafted | AnswerVerified | DraftMistranslated | AnswerSettled:
    return await STYLES[message.style](message, ask, emit)
