"""Close the client's stream: references, the closest passages or an error, then DONE, exactly once and last.

RunFinished -> nothing
"""

from msgspec import UNSET

from bus.actor import actor
from bus.events import Done, Error, Event, Passages, References, TokensEnd
from bus.messages import RunFinished, Settled
from bus.powers import Emit
from index.languages.detection import detect
from prompts import notices


@actor()
async def stream_references(message: RunFinished, emit: Emit) -> None:
    progress = await emit.progress()
    if progress.phase != "closed":
        await emit.events(*closing(message.settled, ended=progress.phase == "ended"))


def closing(settled: Settled, *, ended: bool) -> list[Event]:
    """The events still to send when a run is over; `ended`: its tokens are complete."""
    if settled.outcome in ("failed", "cancelled"):
        return [Error(code=code_of(settled), content=words_of(settled)), Done()]
    events: list[Event] = [] if ended else [TokensEnd()]
    if settled.outcome == "answered" and settled.references:
        events.append(References(items=settled.references))
    if settled.outcome == "closest":
        events.append(Passages(items=settled.passages))
    return [*events, Done()]


def code_of(settled: Settled) -> str:
    if settled.unrun == "invalid":
        return settled.code or "invalid"
    if settled.unrun is not UNSET:
        return "overloaded" if settled.unrun == "overloaded" else "unavailable"
    return settled.reason or ("cancelled" if settled.outcome == "cancelled" else "internal")


def words_of(settled: Settled) -> str:
    """What the person is told, in the language of their question."""
    if settled.unrun == "invalid":
        return settled.detail  # for a program: the same sentence as over HTTP
    language = settled.language or detect(settled.question)
    if settled.outcome == "cancelled":
        return notices.cancelled(language)
    if settled.reason is not None:
        return notices.reason_text(settled.reason, language)
    if settled.unrun == "overloaded":
        return notices.overloaded(language)
    return notices.failed(language)
