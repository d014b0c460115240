"""The queue of requests: by priority, then deadline, then arrival; an expired request is never started."""

import heapq
import itertools
from collections.abc import Iterator
from typing import Protocol

from prompts.vocabulary import PRIORITIES
from runtime.engines.mlx.tickets import Ticket


class Queued(Protocol):
    ticket: Ticket
    submitted: float


class Waiting[J: Queued]:
    """Requests without a row."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, float, int, J]] = []
        self._order = itertools.count()

    def __len__(self) -> int:
        return len(self._heap)

    def __iter__(self) -> Iterator[J]:
        return (entry[3] for entry in self._heap)

    def put(self, job: J) -> None:
        ticket = job.ticket
        rank = PRIORITIES.index(ticket.priority)
        heapq.heappush(self._heap, (rank, ticket.expires, next(self._order), job))

    def first(self) -> J | None:
        return self._heap[0][3] if self._heap else None

    def pop(self) -> J:
        return heapq.heappop(self._heap)[3]

    def take_expired(self, now: float) -> list[J]:
        """Remove and return the expired requests."""
        return self._take({id(job) for job in self if job.ticket.expires <= now})

    def take(self, ticket: Ticket) -> list[J]:
        return self._take({id(job) for job in self if job.ticket is ticket})

    def _take(self, ids: set[int]) -> list[J]:
        if not ids:
            return []
        out = [entry[3] for entry in self._heap if id(entry[3]) in ids]
        self._heap = [entry for entry in self._heap if id(entry[3]) not in ids]
        heapq.heapify(self._heap)
        return out
