"""Write the events of a run as server-sent events, byte for byte as the specification has them.

All events that wait are sent in one write: a client that keeps up gets each as it comes, one that does not gets several at once,
and one that reads nothing is disconnected. It resumes after the number of the last event that it received.
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
#: What a socket with an empty buffer takes at once.
SMALL_BYTES = 16 * 1024
COMMENT = b": alive\n\n"


def sse(events: list[Numbered]) -> bytes:
    """Events in their wire form."""
    return b"".join(b"id: %d\ndata: %s\n\n" % event for event in events)


async def next_batch(reader: Reader, timeout_s: float) -> list[Numbered] | None:
    """The next events; None when none came in time, an empty list after DONE. Raises TooSlow, Unavailable."""
    if reader.waiting:
        return await reader.batch()
    try:
        async with asyncio.timeout(timeout_s):
            return await reader.batch()
    except TimeoutError:
        return None


async def stream(request: web.Request, edge: Edge, reader: Reader, *, after: int = 0) -> web.StreamResponse:
    """Send the events after number `after` until DONE, or until the client or this process ends the stream.

    Raises CancelledError or ConnectionResetError when the client has gone.
    """
    response = web.StreamResponse(headers=HEADERS | run_headers(reader.run_id))
    began = time.monotonic()
    await response.prepare(request)
    first = True
    with edge.metrics.streams.labels("sse").track_inprogress():
        try:
            while (batch := await next_batch(reader, edge.timeouts.keepalive_s)) != []:
                if batch is None:
                    await write(request, response, COMMENT, edge)
                    continue
                wanted = batch if batch[0][0] > after else [event for event in batch if event[0] > after]
                if not wanted:
                    continue
                await write(request, response, sse(wanted), edge)
                edge.metrics.events.inc(len(wanted))
                edge.metrics.writes.inc()
                if first:
                    first = False
                    edge.metrics.first_event_s.observe(time.monotonic() - began)
            edge.metrics.run_s.observe(time.monotonic() - began)
        except (TooSlow, TimeoutError):
            raise disconnect(request, edge) from None
        except Unavailable:
            pass  # this process stops: a stream that ends without DONE tells the client to resume elsewhere
    await response.write_eof()
    return response


def disconnect(request: web.Request, edge: Edge) -> ConnectionResetError:
    """Cut off a client that reads nothing; to its run it is one that has left."""
    edge.metrics.slow.inc()
    if request.transport is not None:
        request.transport.abort()
    return ConnectionResetError("the client read too slowly")


async def write(request: web.Request, response: web.StreamResponse, data: bytes, edge: Edge) -> None:
    """Raises TimeoutError when the client reads nothing for too long."""
    transport = request.transport
    if transport is not None and not transport.get_write_buffer_size() and len(data) < SMALL_BYTES:
        await response.write(data)  # sent at once, so it needs no time limit
        return
    async with asyncio.timeout(edge.timeouts.stall_s):
        await response.write(data)
