"""Hand each finished run to an outside receiver, at least once, although any process may die meanwhile.

A durable consumer of the ends of runs keeps the position; processes that bind it share them. What is not taken
is offered again, later and later, until it is too old.
"""

import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Sequence

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from bus.journal.journal import Journal
from bus.journal.records import Record
from bus.transport.envelope import place_of, set_aside
from bus.wire.errors import Unavailable
from bus.wire.messages import RunFinished
from bus.wire.subjects import RUNS, BadId, consumed_subject, is_canary, parse

log = logging.getLogger("groundwire.telemetry")

#: How many runs are handed over together, and how long an offer waits for the first.
BATCH, WAIT_S = 32, 5.0
#: The pause before what was not taken is offered again: it doubles with each offer.
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
#: A run that ended so long ago, in seconds, is not handed over any more.
TOO_OLD_S = 3600.0
#: A process that dies with runs in its hands leaves them to others after this.
ACK_WAIT_S = 60.0

#: Takes the records of some runs. Raises Unavailable when it cannot take them now.
type Take = Callable[[Sequence[Sequence[Record]]], Awaitable[None]]


async def hand_over(client: Client, journal: Journal, name: str, take: Take) -> None:
    """Hand over all runs that end from the first call under this `name` on, for ever. Raises Unavailable."""
    js = client.jetstream(timeout=2.0)
    config = ConsumerConfig(
        name=name,
        durable_name=name,
        filter_subject=consumed_subject(RunFinished),
        deliver_policy=DeliverPolicy.NEW,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=ACK_WAIT_S,
        max_ack_pending=10 * BATCH,
        headers_only=True,
    )
    try:
        await js.add_consumer(RUNS, config)
        offers = await js.pull_subscribe_bind(consumer=name, stream=RUNS)
        try:
            while True:
                try:
                    offered = await offers.fetch(BATCH, timeout=WAIT_S)
                except TimeoutError:
                    await js.consumer_info(RUNS, name)  # a deleted consumer is not even refused
                    continue
                await _hand(journal, offered, take)
        finally:
            with contextlib.suppress(nats.errors.Error):
                await offers.unsubscribe()
    except (nats.errors.Error, TimeoutError) as error:
        raise Unavailable(f"the ends of runs cannot be read ({error})") from None


async def _hand(journal: Journal, offered: Sequence[Msg], take: Take) -> None:
    runs = [records for msg in offered if (records := await _records(journal, msg))]
    try:
        if runs:
            await take(runs)
    except Unavailable as failure:
        log.warning("%d runs are not told: %s; trying again", len(runs), failure)
        for msg in offered:
            place = place_of(msg.reply)
            tries = min(place.delivered if place else 1, 16)
            await msg.nak(delay=min(FIRST_PAUSE_S * 2 ** (tries - 1), LONGEST_PAUSE_S))
        return
    for msg in offered:
        await msg.ack()


async def _records(journal: Journal, msg: Msg) -> list[Record]:
    """The records of the finished run; none for a run that is not exported. Raises Unavailable."""
    try:
        run_id = parse(msg.subject).run_id
    except BadId as error:
        set_aside("subject", msg.subject, error)
        return []
    place = place_of(msg.reply)
    if is_canary(run_id) or (place is not None and time.time() - place.time > TOO_OLD_S):
        return []
    return await journal.run(run_id)
