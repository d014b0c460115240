"""A process with the actor `intake`, which begins its work, says so, and never finishes: a test kills it."""

import asyncio
import sys

from bus.actor import actor
from bus.delivery import Worker
from bus.graph import Graph
from bus.messages import QuestionAsked, RunFinished
from bus.settings import BusSettings


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
