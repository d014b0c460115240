"""Answer questions that are asked by no client and kept nowhere, so that a client's first one finds everything loaded."""

import asyncio
import contextlib
import time
from collections.abc import Mapping
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.delivery.graph import Graph
from bus.delivery.stages import Delivery, Stages, Step
from bus.journal.journal import Journal
from bus.powers.asking import Answer
from bus.powers.served_index import held_for
from bus.transport.envelope import Place
from bus.wire.errors import Failure, Unavailable
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import key_of

#: How many questions, and the most seconds for all of them, with the wait for the search process.
MOST, LONGEST_S = 6, 5.0
RUN = "rehearsal"


class _Unkept(Journal):
    """Stores nothing and has nothing."""

    async def _put(self, stream: str, subject: str, data: bytes, headers: Mapping[str, str] | None, **_: Any) -> int:
        return 1

    async def _raw(self, stream: str, request: dict[str, object], **_: Any) -> list[Msg]:
        return []


async def rehearse(client: Client, graph: Graph, answer: Answer) -> None:
    """Ask what the documents themselves ask, in each of their languages; without such questions, their titles."""
    stages, deadline = Stages(_Unkept(client), graph, answer), time.time() + 2 * LONGEST_S
    (first,) = graph.consumers(QuestionAsked)
    with contextlib.suppress(Failure, TimeoutError):
        async with asyncio.timeout(LONGEST_S):
            for question in await _questions(client):
                key, place = key_of(QuestionAsked, RUN), Place(1, 1, 1, deadline, 0)
                delivery = Delivery(first, key, Msg(_client=client), place, deadline=deadline)
                await stages.go_on(delivery, Step(first, key, 1, QuestionAsked(question=question), 1))


async def _questions(client: Client) -> list[str]:
    while True:
        try:
            held = await held_for(client, None, timeout_s=1.0)
        except Unavailable:  # it is still starting
            await asyncio.sleep(0.05)
        else:
            return ([each.question for each in held.examples] or [each.title for each in held.titles])[:MOST]
