"""The re-gate: decide by the table whether the draft becomes the answer, with which confidence, or is refused.

AnswerVerified -> AnswerSettled

Pure: everything it weighs is in the message.
"""

from actors.outcome.regate_table import decide, faults
from actors.outcome.settling import mostly_withheld, settle
from actors.question.profile import profile_of
from actors.question.resolved import must_cite
from bus.delivery.actor import actor
from bus.powers.events import VerdictEvent
from bus.powers.protocols import Emit
from bus.wire.messages import AnswerSettled, AnswerVerified


@actor()
async def settle_answer(message: AnswerVerified, emit: Emit) -> AnswerSettled:
    question = message.question
    decision = decide(
        [flag for sentence in message.sentences for flag in faults(sentence.flags)],
        message.contradictions,
        message.refused,
        message.confidence,
        question.numeric_promote or profile_of(question.profile).verifier_numeric_promote,
        mostly_withheld=mostly_withheld(message),
    )
    settled = settle(message, decision, must_cite=must_cite(question))
    if question.events == "all":
        await emit.aside(
            VerdictEvent(
                re_gate=settled.settled.re_gate or "",
                confidence=settled.settled.confidence,
                outcome=settled.settled.outcome,
            )
        )
    return settled
