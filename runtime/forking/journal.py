"""Write a fork to a journal, where it is a run like any other."""

import time

from bus.journal.journal import Journal
from bus.journal.records import CAUSE, DEADLINE
from bus.powers.events import Emitter, decode_event
from bus.wire.subjects import finished
from runtime.replay.trace import Trace, own


async def keep(journal: Journal, trace: Trace) -> None:
    """Write a fork's events and records. Raises Unavailable.

    No actor may work on it again: running actors learn that the run has ended before its first record arrives, and for those
    that start later its deadline has passed.
    """
    emitter = Emitter(journal, trace.run_id, everything=True)
    for frame in trace.frames:
        events = [decode_event(line) for line in frame.data.split(b"\n")]
        if frame.fenced:
            await emitter.events(*events)
        else:
            for event in events:
                await emitter.aside(event)
    # Addressed to another stream, so the server stores it nowhere, yet every subscriber to the ends of runs receives it.
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
