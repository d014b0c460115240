"""Put a fork into a journal, where it stands as any other run."""

import time

import msgspec

from bus.events import (
    Done,
    Emitter,
    Error,
    Event,
    References,
    Sources,
    StageEvent,
    Token,
    TokensEnd,
    VerdictEvent,
    Withheld,
)
from bus.journal import CAUSE, DEADLINE, Journal
from bus.subjects import finished
from runtime.replay.trace import Trace, own

_tokens = msgspec.json.Decoder(Token)
_others = msgspec.json.Decoder(References | Error | Done | StageEvent | Sources | Withheld | VerdictEvent)


class _Kind(msgspec.Struct):
    type: str
    status: str = ""


async def keep(journal: Journal, trace: Trace) -> None:
    """Write a fork's events and records. Raises Unavailable.

    Nobody is to do its work again: actors that listen are told that the run is over before its first record is there, and to
    those that start later its deadline has passed.
    """
    emitter = Emitter(journal, trace.run_id, everything=True)
    for frame in trace.frames:
        events = [event_of(line) for line in frame.data.split(b"\n")]
        if frame.fenced:
            await emitter.events(*events)
        else:
            for event in events:
                await emitter.aside(event)
    # For another stream than the one that listens: the server stores it nowhere, and whoever follows the ends of runs hears it.
    await journal.client.publish(finished(trace.run_id).subject, b"", headers={"Nats-Expected-Stream": "none"})
    numbers: dict[str, str] = {}
    over = f"{time.time():.3f}"
    for record in trace.records:
        headers = {**own(record.headers), DEADLINE: over}
        if CAUSE in headers:
            headers[CAUSE] = numbers[headers[CAUSE]]
        await journal.publish(record.key.subject, record.data, headers=headers)
        written = await journal.latest([record.key.subject])
        numbers[str(record.sequence)] = str(written[0].sequence)


def event_of(line: bytes) -> Event:
    """An event, read back. Raises DecodeError."""
    kind = msgspec.json.decode(line, type=_Kind)
    if kind.type != "token":
        other: Event = _others.decode(line)
        return other
    return TokensEnd() if kind.status == "end" else _tokens.decode(line)
