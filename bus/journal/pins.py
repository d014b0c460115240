"""Pins: a record of a run that keeps it in the journal, at any age, until the pin is removed.

A pin's lane names its owner: `main` is a person. Every other owner of pins has a lane of its own.
"""

from bus.journal.journal import Journal
from bus.wire.messages import MAIN
from bus.wire.subjects import Key

PINNED = "pinned"


def pin_key(run_id: str, by: str = MAIN) -> Key:
    """The subject of a run's pin."""
    return Key(PINNED, run_id, by)


async def pin(journal: Journal, run_id: str, by: str = MAIN) -> bool:
    """Keep the run. False: it is pinned already. Raises Unavailable."""
    return await journal.publish(pin_key(run_id, by).subject, b"{}") is not None


async def unpin(journal: Journal, run_id: str, by: str = MAIN) -> bool:
    """Take that pin out. False: there was none. Raises Unavailable."""
    found = await journal.latest([pin_key(run_id, by).subject])
    return bool(found) and await journal.remove(found[0].sequence)
