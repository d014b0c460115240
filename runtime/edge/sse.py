"""Write a run's events as server-sent events, in the specification's exact format.

Waiting events go out in one write: a client that keeps up gets each as it comes, a slow one gets several at once, and one
that stops reading is disconnected. It can resume after the last event number it received.
"""

import asyncio
import time

from aiohttp import web

from bus.errors import Unavailable
from bus.router import Numbered, Reader, TooSlow
from runtime.edge.responses import run_headers
from runtime.edge.state import Edge

HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
}
#: Bytes that a socket with an empty buffer accepts at once.
SMALL_BYTES = 16 * 1024
COMMENT = b": alive\n\n"
#: After how many milliseconds a client that lost its connection comes back; told once, before the first event.
RETRY = b"retry: 1000\n"


def sse(events: list[Numbered]) -> bytes:
    """Events in their wire format."""
    return b"".join(b"id: %d\ndata: %s\n\n" % event for event in events)


async def stream(request: web.Request, edge: Edge, reader: Reader, *, after: int = 0) -> web.StreamResponse:
    """Send the events after number `after` until DONE, or until the client or this process ends the stream.

    Raises CancelledError or ConnectionResetError when the client has disconnected.
    """
    response = web.StreamResponse(headers=HEADERS | run_headers(reader.run_id))
    began = time.monotonic()
    await response.prepare(request)
    first = True
    with edge.metrics.streams.labels("sse").track_inprogress():
        try:
            while (batch := await reader.batch_within(edge.timeouts.keepalive_s)) != []:
                if batch is None:
                    await write(request, response, COMMENT, edge)
                    continue
                wanted = batch if batch[0][0] > after else [event for event in batch if event[0] > after]
                if not wanted:
                    continue
                await write(request, response, RETRY + sse(wanted) if first else sse(wanted), edge)
                edge.metrics.sent(len(wanted))
                if first:
                    first = False
                    edge.metrics.first_event_s.observe(time.monotonic() - began)
        except (TooSlow, TimeoutError):
            raise disconnect(request, edge) from None
        except Unavailable:
            pass  # the process is stopping: a stream that ends without DONE tells the client to resume elsewhere
    await response.write_eof()
    return response


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
