"""A process with the actor `intake`, which begins its work, reports it, and never finishes: a test kills it."""

import asyncio
import sys

from bus.delivery.actor import actor
from bus.delivery.graph import Graph
from bus.delivery.worker import Worker
from bus.transport.settings import BusSettings
from bus.wire.messages import QuestionAsked, RunFinished


@actor()
async def intake(message: QuestionAsked) -> RunFinished:
    print("working", flush=True)
    await asyncio.Event().wait()
    raise AssertionError


@actor()
async def done(message: RunFinished) -> None:
    return


async def main() -> None:
    worker = Worker(
        Graph((intake, done)), BusSettings(url=sys.argv[1], ack_wait_s=1.5, heartbeat_s=0.1, max_deliver=100)
    )
    await worker.start()
    await asyncio.Event().wait()


asyncio.run(main())
