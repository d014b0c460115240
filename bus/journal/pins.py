"""Pins: a record of a run that keeps it in the journal, whatever its age, until the pin is taken out.

A pin's lane says who keeps the run: `main` a person. Whatever else has to keep runs pins them in a lane of its own.
"""

from bus.journal.journal import Journal
from bus.wire.messages import MAIN
from bus.wire.subjects import Key

PINNED = "pinned"


def pin_key(run_id: str, by: str = MAIN) -> Key:
    """Where a run's pin stands in the journal."""
    return Key(PINNED, run_id, by)


async def pin(journal: Journal, run_id: str, by: str = MAIN) -> bool:
    """Keep the run. False: it is pinned already. Raises Unavailable."""
    return await journal.publish(pin_key(run_id, by).subject, b"{}")


async def unpin(journal: Journal, run_id: str, by: str = MAIN) -> bool:
    """Take that pin out. False: there was none. Raises Unavailable."""
    found = await journal.latest([pin_key(run_id, by).subject])
    return bool(found) and await journal.remove(found[0].sequence)
