"""Joins: which lanes belong to a round, and which message triggers the join."""

from collections.abc import Sequence

from bus.journal.records import Record
from bus.wire.errors import Poison
from bus.wire.messages import Message, message_type


def joined(records: Sequence[Record], last: Message, sequence: int) -> tuple[Record, ...]:
    """The lanes to join on this message, in plan order; none when a lane is missing or was written after this one.

    The record written last triggers the join: when it is delivered, all the others are in the journal. Raises Poison for
    a message that names no lanes.
    """
    plan = getattr(last, "plan", None)
    if plan is None:
        raise Poison(f"{type(last).__name__} names no lanes, so it cannot be joined")
    by_lane = {record.key.lane: record for record in records if record.key.type == message_type(type(last))}
    if any(planned.id not in by_lane for planned in plan):
        return ()
    lanes = tuple(by_lane[planned.id] for planned in plan)
    return lanes if max(record.sequence for record in lanes) == sequence else ()
