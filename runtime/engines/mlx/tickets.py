"""Requests and their events on the way between the asyncio side and the device thread.

A ticket carries a request's events back: one wake-up of the loop per step, not per token.
"""

import asyncio
import math
import time
from collections.abc import Sequence

import msgspec

from bus.wire.errors import Failure, NoReply
from prompts.vocabulary import Priority
from runtime.engines.engine import RequestRecord


class Done(msgspec.Struct, frozen=True):
    """The last event of a text reply."""

    text: str
    record: RequestRecord


type Event = str | Done | Failure


class Ticket:
    """One request as both sides see it. `deadline` is on the loop's clock; None for no limit."""

    def __init__(self, request_id: str, priority: Priority, deadline: float | None) -> None:
        loop = asyncio.get_running_loop()
        self.request_id = request_id
        self.priority = priority
        self.deadline = deadline
        # The device thread has no loop to read the time from.
        self.expires = math.inf if deadline is None else time.monotonic() + (deadline - loop.time())
        self.events: asyncio.Queue[Event] = asyncio.Queue()
        self.closed = asyncio.Event()  # set once the device has released the request
        self._timer: asyncio.TimerHandle | None = None

    def start_timer(self) -> None:
        """Deliver NoReply as an event at the deadline: one timer per request, not per token."""
        if self.deadline is not None:
            late = NoReply("the device did not answer before the deadline; allow more time")
            self._timer = asyncio.get_running_loop().call_at(self.deadline, self.events.put_nowait, late)

    def stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def deliver(batch: Sequence[tuple[Ticket, Event | None]]) -> None:
    """Deliver events, on the loop. None means that the device released the request without an event."""
    for ticket, event in batch:
        if event is not None:
            ticket.events.put_nowait(event)
        if not isinstance(event, str):
            ticket.closed.set()
