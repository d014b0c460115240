"""Joins: which lanes belong to a round, and which message triggers the join."""

from collections.abc import Sequence
from typing import Protocol

from bus.wire.errors import Poison
from bus.wire.messages import Message, message_type
from bus.wire.subjects import Key


class InLane(Protocol):
    @property
    def key(self) -> Key: ...
    @property
    def sequence(self) -> int: ...


def joined[R: InLane](records: Sequence[R], last: Message, sequence: int = 0) -> tuple[R, ...]:
    """The lanes to join on this message, in plan order; none when a lane is missing or, with `sequence`, was written after it.

    `sequence` is for the records of a whole run, of which the one written last triggers the join. Raises Poison for a message
    that names no lanes.
    """
    plan = getattr(last, "plan", None)
    if plan is None:
        raise Poison(f"{type(last).__name__} names no lanes, so it cannot be joined")
    by_lane = {record.key.lane: record for record in records if record.key.type == message_type(type(last))}
    if any(planned.id not in by_lane for planned in plan):
        return ()
    lanes = tuple(by_lane[planned.id] for planned in plan)
    return () if sequence and max(record.sequence for record in lanes) != sequence else lanes
