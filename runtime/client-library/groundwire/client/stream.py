"""The events of one run, as they come, over as many connections as it takes."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import aiohttp
from aiohttp import StreamReader

from groundwire.client.errors import RunFailed, Unreachable
from groundwire.client.events import Error, Known, Passages, References, Token, Unknown, event_of
from groundwire.client.messages import Cancelled, Question, Run
from groundwire.wire import FAILURES, NearPassage, Reference

if TYPE_CHECKING:
    from groundwire.client.client import Client


#: How long it waits before it comes back to a stream that broke, unless the server sets another time.
FIRST_PAUSE_S = 0.1


class Stream:
    """`async with` it, then `async for` its events once. `run_id` is known from the beginning of the context.

    While it is followed, `text`, `unverified_at` (what of the text goes beyond its sources, at its end), `references`, `passages`,
    `withdrawn` (why the text shown was taken back) and `failure` grow with it, and `after` is the number of the last event: what
    `Client.resume` takes.
    """

    def __init__(self, client: "Client", question: Question | None, run_id: str = "", after: int = 0) -> None:
        self.client = client
        self.question = question
        self.run_id = run_id
        self.after = after
        self.text = ""
        self.unverified_at: tuple[tuple[int, int], ...] = ()
        self.references: tuple[Reference, ...] = ()
        self.passages: tuple[NearPassage, ...] = ()
        self.withdrawn = ""
        self.failure: Error | None = None
        self._response: aiohttp.ClientResponse | None = None
        self._pause_s = FIRST_PAUSE_S
        self._over = False

    async def __aenter__(self) -> Self:
        """Raises GroundwireError."""
        self._response = await self.client.patiently(self._open)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._response is not None:
            self._response.close()

    async def __aiter__(self) -> AsyncIterator[Known | Unknown]:
        """Each event once, in order, up to and with Done. Raises GroundwireError when the rest cannot be had."""
        async for _, line in self.lines():
            event = event_of(line)
            self._note(event)
            yield event

    async def lines(self) -> AsyncIterator[tuple[int, bytes]]:
        """Each event as its number and the JSON that was sent. Raises GroundwireError."""
        heard_at = time.monotonic()
        while not self._over:
            try:
                if self._response is None:
                    self._response = await self.client.patiently(self._open, heard_at + self.client.patience_s)
                if self._response.status == 204:
                    return
                async for message in messages(self._response.content):
                    heard_at = time.monotonic()
                    if message.retry_s is not None:
                        self._pause_s = message.retry_s
                    if message.id > self.after or not message.id:  # 0: an event before the run, or in place of it
                        self.after = max(self.after, message.id)
                        self._over = message.data == b'{"type":"DONE"}'
                        yield message.id, message.data
                    if self._over:
                        return
            except (aiohttp.ClientError, TimeoutError, OSError):
                pass  # it is taken up after the last event that arrived
            finally:
                if self._response is not None:
                    self._response.close()
                    self._response = None
            if time.monotonic() > heard_at + self.client.patience_s:
                raise Unreachable(0, "unreachable", f"{self.client.url} sends no more of run {self.run_id}")
            await asyncio.sleep(self._pause_s)

    async def text_at_end(self, *, raising: bool = True) -> str:
        """Follow to the end; the whole text. Raises RunFailed for a run that failed, unless disabled; GroundwireError."""
        async for _ in self:
            pass
        if self.failure is not None and raising:
            raise RunFailed(0, self.failure.code, self.failure.content)
        return self.text

    async def cancel(self) -> Cancelled:
        """End the run. Raises GroundwireError."""
        return await self.client.cancel(self.run_id)

    async def record(self) -> Run:
        """The record of the run so far. Raises GroundwireError."""
        return await self.client.run(self.run_id)

    async def _open(self) -> aiohttp.ClientResponse:
        if not self.run_id:
            assert self.question is not None, "a stream has a question or a run"
            headers = {"Accept": "text/event-stream"}
            response = await self.client.request("POST", "/v1/runs", self.question, headers)
            self.run_id = response.headers.get("X-Run-Id", "")
            return response
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(self.after)}
        return await self.client.request("GET", f"/v1/runs/{self.run_id}/events", headers=headers)

    def _note(self, event: Known | Unknown) -> None:
        match event:
            case Token():
                self.text += event.content
                self.unverified_at = event.unverified_at
            case References():
                self.references = event.items
            case Passages():
                self.passages = event.items
            case Error() if event.code in FAILURES:
                self.failure = event
            case Error():
                self.withdrawn = event.content
            case _:
                pass


@dataclass(slots=True)
class Message:
    """One event. `retry_s`: how long the server wants a client to wait before it comes back; None if it did not say."""

    id: int
    data: bytes
    retry_s: float | None = None


async def messages(stream: StreamReader) -> AsyncIterator[Message]:
    """The events of a response; an incomplete one is left out. Raises the errors of reading."""
    rest = b""
    number = 0
    data: list[bytes] = []
    retry_s: float | None = None
    async for chunk in stream.iter_any():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in (each.removesuffix(b"\r") for each in lines):
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if not line:
                if data:
                    yield Message(number, b"\n".join(data), retry_s)
                data, retry_s = [], None
            elif name == b"data":
                data.append(value)
            elif name == b"id" and value.isdigit():
                number = int(value)
            elif name == b"retry" and value.isdigit():
                retry_s = int(value) / 1000
