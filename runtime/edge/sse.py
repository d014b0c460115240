"""Write a run's events as server-sent events, byte for byte as the specification has them.

What is there is written at once, in one write: a client that keeps up gets every event as it comes, one that does not gets them
in larger pieces, and one that stands still is let go. It resumes by the number of the last event it had.
"""

import asyncio
import time

from aiohttp import web

from bus.errors import Unavailable
from bus.router import Numbered, Reader, TooSlow
from runtime.edge.state import Edge

HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
}
#: What a socket without arrears takes at once.
SMALL_BYTES = 16 * 1024
COMMENT = b": alive\n\n"


def run_headers(run_id: str) -> dict[str, str]:
    return {"X-Run-Id": run_id, "Location": f"/v1/runs/{run_id}"}


def sse(events: list[Numbered]) -> bytes:
    """Events as they stand on the wire."""
    return b"".join(b"id: %d\ndata: %s\n\n" % event for event in events)


async def next_batch(reader: Reader, patience_s: float) -> list[Numbered] | None:
    """The next events; None when none came in time, an empty list after DONE. Raises TooSlow, Unavailable."""
    if reader.waiting:
        return await reader.batch()
    try:
        async with asyncio.timeout(patience_s):
            return await reader.batch()
    except TimeoutError:
        return None


async def stream(request: web.Request, edge: Edge, reader: Reader, *, after: int = 0) -> web.StreamResponse:
    """Send the run's events above `after` until DONE, or until the client or this process ends it.

    Raises CancelledError or ConnectionResetError when the client has gone.
    """
    response = web.StreamResponse(headers=HEADERS | run_headers(reader.run_id))
    began = time.monotonic()
    await response.prepare(request)
    first = True
    with edge.metrics.streams.labels("sse").track_inprogress():
        try:
            while (batch := await next_batch(reader, edge.pace.comment_s)) != []:
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
            raise let_go(request, edge) from None
        except Unavailable:
            pass  # this process closes: the end without DONE tells the client to resume elsewhere
    await response.write_eof()
    return response


def let_go(request: web.Request, edge: Edge) -> ConnectionResetError:
    """End the connection of a client that stands still; for its run it is gone like one that left."""
    edge.metrics.slow.inc()
    if request.transport is not None:
        request.transport.abort()
    return ConnectionResetError("the client reads too slowly")


async def write(request: web.Request, response: web.StreamResponse, data: bytes, edge: Edge) -> None:
    """Raises TimeoutError when the client takes nothing for too long."""
    transport = request.transport
    if transport is not None and not transport.get_write_buffer_size() and len(data) < SMALL_BYTES:
        await response.write(data)  # goes out at once, and needs no time limit
        return
    async with asyncio.timeout(edge.pace.stall_s):
        await response.write(data)
