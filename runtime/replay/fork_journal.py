"""Put a fork into a journal, where it stands as any other run."""

import time

from bus.events import Emitter, decode_event
from bus.journal import CAUSE, DEADLINE, Journal
from bus.subjects import finished
from runtime.replay.trace import Trace, own


async def keep(journal: Journal, trace: Trace) -> None:
    """Write a fork's events and records. Raises Unavailable.

    Nobody is to do its work again: actors that listen are told that the run is over before its first record is there, and to
    those that start later its deadline has passed.
    """
    emitter = Emitter(journal, trace.run_id, everything=True)
    for frame in trace.frames:
        events = [decode_event(line) for line in frame.data.split(b"\n")]
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
