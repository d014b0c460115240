"""The four clients of NATS, each with the same few steps: two in this process, two in separate processes.

A step is that of `tests/clients/talking.py`: `open`, `ask`, `until`, `cancel`, `read_back` and `close`. The messages are not
reported: only the events, in the order of their numbers, since a message has the number of its first event.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, Protocol

import nats
from faststream.nats import NatsBroker, NatsMessage
from nats.aio.msg import Msg

Events = list[dict[str, Any]]

#: FastStream by itself waits half a second for an answer, which a disk may take to store a question.
PATIENCE_S = 10


class Steps(Protocol):
    """What the tests ask of a client."""

    async def do(self, name: str, **fields: object) -> Any: ...


class _Heard:
    """The events of one run as its messages bring them."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()

    def take(self, data: bytes) -> None:
        for line in data.splitlines():
            self._lines.put_nowait(line)

    async def until(self, text: str) -> Events:
        found = []
        async with asyncio.timeout(20):
            while not found or text.encode() not in found[-1]:
                found.append(await self._lines.get())
        return [json.loads(line) for line in found]


class NatsPy:
    """nats-py."""

    async def do(self, name: str, **fields: object) -> Any:
        return await getattr(self, name)(**fields)

    async def open(self, url: str) -> None:
        self._client = await nats.connect(url)

    async def ask(self, run_id: str, question: str) -> None:
        self._heard = heard = _Heard()

        async def take(message: Msg) -> None:
            heard.take(message.data)

        await self._client.subscribe(f"gw.event.{run_id}", cb=take)
        request = json.dumps({"type": "question_asked", "question": question}).encode()
        await self._client.jetstream().publish(f"gw.question_asked.{run_id}", request)

    async def until(self, text: str = '"DONE"') -> Events:
        return await self._heard.until(text)

    async def cancel(self, run_id: str) -> None:
        await self._client.publish(f"gw.cancel.{run_id}", b"")

    async def read_back(self, run_id: str, after: int = 0) -> Events:
        inbox = self._client.new_inbox()
        found = await self._client.subscribe(inbox)
        asked = {"seq": 1, "next_by_subj": f"gw.event.{run_id}", "batch": 1000}
        await self._client.publish("gw.events", json.dumps(asked).encode(), reply=inbox)
        events: Events = []
        while "Gw-First" in ((message := await found.next_msg(timeout=10)).headers or {}):
            events += json_lines(message.data)
        await found.unsubscribe()
        return events[after:]

    async def close(self) -> None:
        await self._client.close()


class FastStream:
    """FastStream's broker."""

    async def do(self, name: str, **fields: object) -> Any:
        return await getattr(self, name)(**fields)

    async def open(self, url: str) -> None:
        self._broker = NatsBroker(url, logger=None)
        await self._broker.start()

    async def ask(self, run_id: str, question: str) -> None:
        self._heard = heard = _Heard()
        subscriber = self._broker.subscriber(f"gw.event.{run_id}")

        @subscriber
        async def take(message: NatsMessage) -> None:
            heard.take(message.body)

        await subscriber.start()
        asked = {"type": "question_asked", "question": question}
        await self._broker.publish(asked, f"gw.question_asked.{run_id}", stream="RUNS", timeout=PATIENCE_S)

    async def until(self, text: str = '"DONE"') -> Events:
        return await self._heard.until(text)

    async def cancel(self, run_id: str) -> None:
        await self._broker.publish(b"", f"gw.cancel.{run_id}")

    async def read_back(self, run_id: str, after: int = 0) -> Events:
        return [event async for event in self._read_back(run_id)][after:]

    async def _read_back(self, run_id: str) -> AsyncIterator[dict[str, Any]]:
        sequence = 0
        while True:
            asked = {"seq": sequence + 1, "next_by_subj": f"gw.event.{run_id}"}
            found = await self._broker.request(asked, "gw.events", timeout=PATIENCE_S)
            if "Gw-First" not in found.headers:
                return
            sequence = int(found.headers["Nats-Sequence"])
            for event in json_lines(found.body):
                yield event

    async def close(self) -> None:
        await self._broker.stop()


def json_lines(data: bytes) -> Events:
    return [json.loads(line) for line in data.splitlines()]
