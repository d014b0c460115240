"""Events from the device thread to the loop, collected during a round and delivered in one call."""

import asyncio
import contextlib
from collections.abc import Callable

from bus.wire.errors import Failure
from runtime.engines.engine import Ending, RequestRecord
from runtime.engines.mlx.jobs import Job
from runtime.engines.mlx.tickets import Done, Event, Ticket, deliver

#: How much the newest request counts in the running average of service times.
NEWEST = 0.1


class Outbox:
    """Events and records of one round, with the count of replies and their average time since the start."""

    def __init__(self, loop: asyncio.AbstractEventLoop, on_record: Callable[[RequestRecord], None]) -> None:
        self._loop, self._on_record = loop, on_record
        self._events: list[tuple[Ticket, Event | None]] = []
        self._records: list[RequestRecord] = []
        self.service_s = 0.0  # running average, from a request's start to its end
        self.answered = 0

    def say(self, ticket: Ticket, text: str) -> None:
        self._events.append((ticket, text))

    def end(self, job: Job, event: Event | None, ending: Ending) -> None:
        record = event.record if isinstance(event, Done) else job.ending(ending)
        self._records.append(record)
        self._events.append((job.ticket, event))
        if event is not None and not isinstance(event, Failure):
            self.answered += 1
            self.service_s += NEWEST * (record.prefill_s + record.decode_s - self.service_s)

    def flush(self) -> None:
        """Wake the loop once if there is anything to deliver."""
        if self._events:
            events, self._events = self._events, []
            records, self._records = self._records, []
            # The loop may already be closed when the last rows end.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._tell, events, records)

    def _tell(self, events: list[tuple[Ticket, Event | None]], records: list[RequestRecord]) -> None:
        deliver(events)
        for record in records:
            self._on_record(record)
