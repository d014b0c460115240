"""Write a run as server-sent events, in the specification's exact format.

Waiting events go out in one write: a client that keeps up gets each as it comes, a slow one gets several at once.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec
from aiohttp import web

from bus.runs.router import Numbered, Reader
from runtime.edge.problems import Problem
from runtime.edge.relay import Client, Form, events_of, relay
from runtime.edge.routes import run_headers
from runtime.edge.state import EDGE, Edge

HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
}
#: Bytes that a socket with an empty buffer accepts at once.
SMALL_BYTES = 16 * 1024
COMMENT = b": alive\n\n"
#: The last event of the protocols of OpenAI and of the AI SDK.
DONE = b"data: [DONE]\n\n"
_encode = msgspec.json.Encoder().encode
#: After how many milliseconds a client that lost its connection comes back; sent once, before the first event.
RETRY = b"retry: 1000\n"


class EventForm(Form[bytes]):
    """The run's own events after number `after`."""

    def __init__(self, after: int = 0) -> None:
        self._after = after
        self._retry = RETRY

    def events(self, batch: Sequence[Numbered]) -> Iterator[bytes]:
        for event in batch:
            if event[0] > self._after or not event[0]:
                yield b"%sid: %d\ndata: %s\n\n" % (self._retry, *event)
                self._retry = b""

    def failed(self, problem: Problem) -> Iterator[bytes]:
        for event in events_of(problem):
            yield b"id: 0\ndata: %s\n\n" % event


class SseClient(Client[bytes]):
    """An HTTP client that reads server-sent events. `cut`: how its stream is cut off; without it the client gets the error."""

    def __init__(
        self, request: web.Request, response: web.StreamResponse, cut: Literal["end", "abort"] | None = None
    ) -> None:
        self.resumes = cut is not None
        self._request = request
        self._response = response
        self._edge = request.app[EDGE]
        self._cut = cut

    async def send(self, units: Iterable[bytes]) -> None:
        if events := [unit for unit in units if unit]:
            await write(self._request, self._response, b"".join(events), self._edge)
            self._edge.metrics.sent(len(events))

    async def alive(self) -> None:
        await write(self._request, self._response, COMMENT, self._edge)

    async def cut_off(self) -> None:
        if self._cut == "abort" and self._request.transport is not None:
            self._request.transport.abort()

    async def drop(self) -> ConnectionResetError:
        return disconnect(self._request, self._edge)


async def stream(
    request: web.Request,
    reader: Reader,
    form: Form[bytes],
    transport: str,
    *,
    headers: Mapping[str, str] | None = None,
    cut: Literal["end", "abort"] | None = None,
) -> web.StreamResponse:
    """Answer the request with the run. Raises CancelledError or ConnectionResetError when the client has disconnected."""
    edge = request.app[EDGE]
    response = web.StreamResponse(headers=HEADERS | run_headers(reader.run_id) | dict(headers or {}))
    await response.prepare(request)
    with edge.metrics.streams.labels(transport).track_inprogress():
        await relay(edge, reader, form, SseClient(request, response, cut))
    return response


def data_line(chunk: msgspec.Struct) -> bytes:
    """A chunk of another protocol's stream as an event without a number."""
    return b"data: %s\n\n" % _encode(chunk)


def disconnect(request: web.Request, edge: Edge) -> ConnectionResetError:
    """Disconnect a client that has stopped reading; its run treats it as a client that left."""
    edge.metrics.slow.inc()
    if request.transport is not None:
        request.transport.abort()
    return ConnectionResetError("the client read too slowly")


async def write(request: web.Request, response: web.StreamResponse, data: bytes, edge: Edge) -> None:
    """Raises TimeoutError when the client stops reading."""
    transport = request.transport
    if transport is not None and not transport.get_write_buffer_size() and len(data) < SMALL_BYTES:
        await response.write(data)  # sent immediately, so it needs no timeout
        return
    async with asyncio.timeout(edge.timeouts.stall_s):
        await response.write(data)
