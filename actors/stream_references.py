"""Close the client's stream: references, the closest passages or an error, then DONE, exactly once and last.

RunFinished -> nothing
"""

from msgspec import UNSET

from actors.outcome.refusals import code_of, words_of
from bus.delivery.actor import actor
from bus.powers.events import Done, Error, Event, Passages, References, TokensEnd
from bus.powers.protocols import Emit
from bus.wire.messages import RunFinished
from bus.wire.settled import Settled


@actor()
async def stream_references(message: RunFinished, emit: Emit) -> None:
    progress = await emit.progress()
    if progress.phase != "closed":
        await emit.events(*closing(message.settled, ended=progress.phase == "ended"))


def closing(settled: Settled, *, ended: bool) -> list[Event]:
    """The events still to send when a run is over; `ended`: its tokens are complete."""
    if settled.outcome in ("failed", "cancelled"):
        error = Error(code=code_of(settled), content=words_of(settled), retry_after_s=settled.retry_after_s)
        return [error, Done()]
    marked = tuple((each.answer_start, each.answer_end) for each in settled.unverified or ())
    events: list[Event] = [] if ended else [TokensEnd(unverified_at=marked or UNSET)]
    if settled.outcome == "answered" and settled.references:
        events.append(References(items=settled.references))
    if settled.outcome == "closest":
        events.append(Passages(items=settled.passages))
    return [*events, Done()]
