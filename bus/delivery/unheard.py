"""Ends of runs that were not heard of here: the server that told them could not reach ours, or we were away for a moment.

News of an end goes over core NATS, which repeats nothing and which a cluster passes on between neighbours alone. Where the door
of the questions waits for such an end, it is looked for in the journal.
"""

import asyncio
import logging

from bus.delivery.admission import Admission
from bus.journal.journal import Journal
from bus.wire.errors import Failure
from bus.wire.subjects import finished

log = logging.getLogger("groundwire.actors")

LOOK_S = 2.0
#: How many runs are looked for at a time, the oldest first.
AT_ONCE = 200


async def look(intake: Admission, journal: Journal) -> None:
    """Every two seconds, while questions wait: let go of the runs under way that are over. Never returns."""
    while True:
        await asyncio.sleep(LOOK_S)
        if not intake.waiting():
            continue
        under_way = intake.under_way(LOOK_S)[:AT_ONCE]
        try:
            ends = await journal.latest([finished(run_id).subject for run_id in under_way]) if under_way else []
        except Failure as failure:
            log.info("ends that were not heard of cannot be looked for yet: %s", failure)
            continue
        for end in ends:
            intake.forget(end.key.run_id)
