"""Show the part of a settled answer that the client has not seen, or retract what it should not have seen.

AnswerSettled -> RunFinished

Where the profile masks personal data, the rest of the tokens, the references and the record are masked from here on.
stream_references sends the end of the tokens with the events after it.
"""

from actors.outcome.private import private
from actors.question.profile import profile_of
from bus.delivery.actor import actor
from bus.powers.events import Error
from bus.powers.protocols import Emit
from bus.wire.messages import AnswerSettled, RunFinished


@actor()
async def stream_answer(message: AnswerSettled, emit: Emit) -> RunFinished:
    settled = message.settled
    if profile_of(settled.profile).mask_personal_data:
        settled = private(settled, shown_text=message.shown)
    rest = settled.outcome != "failed" and settled.answer != message.shown
    if rest and (await emit.progress()).phase == "open":
        if message.retract:
            await emit.events(Error(code=settled.reason or "withdrawn", content=settled.answer))
        else:
            rest_of_it = settled.answer.removeprefix(await emit.shown())
            at = len(settled.answer) - len(rest_of_it)
            marked = [(each.answer_start - at, each.answer_end - at) for each in settled.unverified or ()]
            await emit.text(rest_of_it, unverified=marked)
    return RunFinished(settled=settled)
