"""Joins: which of a round's lanes there are, and whose turn it is to take them all."""

from collections.abc import Sequence

from bus.errors import Poison
from bus.journal import Record
from bus.messages import Message, message_type


def joined(records: Sequence[Record], last: Message, sequence: int) -> tuple[Record, ...]:
    """The lanes that a join takes with this message, in the order of their plan; none when one is missing or came after it.

    The record that was written last joins: when it was delivered, all the others stood in the journal. Raises Poison for a
    message that names no lanes.
    """
    plan = getattr(last, "plan", None)
    if plan is None:
        raise Poison(f"{type(last).__name__} names no lanes, so nobody can join it")
    by_lane = {record.key.lane: record for record in records if record.key.type == message_type(type(last))}
    if any(planned.id not in by_lane for planned in plan):
        return ()
    lanes = tuple(by_lane[planned.id] for planned in plan)
    return lanes if max(record.sequence for record in lanes) == sequence else ()
