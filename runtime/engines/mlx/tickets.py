"""Requests and their events on the way between the asyncio side and the device thread.

A ticket carries a request's events back: one wake-up of the loop per step, not per token.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence

import msgspec

from bus.wire.errors import Failure
from prompts.vocabulary import Priority
from runtime.engines.engine import RequestRecord


class Done(msgspec.Struct, frozen=True):
    """The last event of a text reply."""

    text: str
    record: RequestRecord


type Event = str | Done | Failure


class Ticket:
    """One request as both sides see it. `deadline` is on the loop's clock."""

    def __init__(self, priority: Priority, deadline: float) -> None:
        self.priority = priority
        # The device thread has no loop to read the time from.
        self.expires = time.monotonic() + (deadline - asyncio.get_running_loop().time())
        self.events: asyncio.Queue[Event] = asyncio.Queue()
        self.closed = asyncio.Event()  # set once the device has released the request


def deliver(batch: Sequence[tuple[Ticket, Event | None]]) -> None:
    """Deliver events, on the loop. None means that the device released the request without an event."""
    for ticket, event in batch:
        if event is not None:
            ticket.events.put_nowait(event)
        if not isinstance(event, str):
            ticket.closed.set()


#: How much the newest request counts in the running average of service times.
NEWEST = 0.1


class Outbox:
    """Events from the device thread to the loop, and records, collected during a round and delivered in one call.

    `answered` counts replies, `service_s` is their average time since the start.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, on_record: Callable[[RequestRecord], None]) -> None:
        self._loop, self._on_record = loop, on_record
        self._events: list[tuple[Ticket, Event | None]] = []
        self._records: list[RequestRecord] = []
        self.service_s = 0.0  # running average, from a request's start to its end
        self.answered = 0

    def say(self, ticket: Ticket, text: str) -> None:
        self._events.append((ticket, text))

    def end(self, ticket: Ticket, event: Event | None, record: RequestRecord) -> None:
        self._records.append(record)
        self._events.append((ticket, event))
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
