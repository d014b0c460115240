"""The vectors that the served index makes of texts, over the bus: request and reply on `gw.vectors`, answered by a search process.

`gw.embed` is another matter: there the process that owns the device makes vectors for a search process. The default embedder
is fitted on the documents, so what it says of a text says something of them: whoever does not see all of them gets none.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.envelope import read, set_aside
from bus.errors import Poison, Unavailable
from bus.subjects import VECTORS

#: How many texts a request may hold, so that the vectors of any model fit into a reply.
TEXTS = 32

log = logging.getLogger("groundwire.bus")


class VectorsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """`query`: the texts are queries, for models that encode queries and passages differently. `groups`: whose documents count."""

    texts: tuple[str, ...]
    query: bool = False
    groups: tuple[str, ...] | None = None


class VectorsReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row per text, in order: `dimension` little-endian floats of 4 bytes. Or why there are none.

    `withheld`: the caller does not see every document that the embedder was fitted on.
    """

    embedder: str = ""
    version: str = ""
    dimension: int = 0
    rows: tuple[bytes, ...] = ()
    withheld: bool = False
    problem: str = ""


_encoder = msgspec.json.Encoder()
_requests = msgspec.json.Decoder(VectorsRequest)
_replies = msgspec.json.Decoder(VectorsReply)


async def index_vectors(client: Client, request: VectorsRequest, *, timeout_s: float) -> VectorsReply:
    """Raises Unavailable."""
    try:
        msg = await client.request(VECTORS, _encoder.encode(request), timeout=timeout_s)
    except (nats.errors.Error, TimeoutError) as error:
        raise Unavailable(f"no search process answers ({error}); start one with `groundwire up`") from None
    try:
        reply = read(_replies, msg.data, "this reply")
    except Poison as poison:
        set_aside("reply", VECTORS, poison)
        raise Unavailable(str(poison)) from None
    if reply.problem:
        raise Unavailable(reply.problem)
    return reply


async def serve_index_vectors(
    client: Client, embed: Callable[[VectorsRequest], Awaitable[VectorsReply]]
) -> Callable[[], Awaitable[None]]:
    """Answer with `embed`, which raises Unavailable. Returns a function that stops it."""
    tasks: set[asyncio.Task[None]] = set()

    async def answer(msg: Msg) -> None:
        try:
            reply = await embed(read(_requests, msg.data, "this request for vectors"))
        except Unavailable as failure:
            reply = VectorsReply(problem=str(failure))
        except Poison as poison:
            set_aside("request", VECTORS, poison)
            reply = VectorsReply(problem=str(poison))
        except Exception as bug:
            # The outermost handler of this process: whoever asked must not wait for an answer that will never come.
            log.exception("a bug in the embedding")
            reply = VectorsReply(problem=f"the embedding broke ({type(bug).__name__})")
        if msg.reply:
            with contextlib.suppress(nats.errors.Error):
                await client.publish(msg.reply, _encoder.encode(reply))

    async def take(msg: Msg) -> None:
        task = asyncio.create_task(answer(msg))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    subscription = await client.subscribe(VECTORS, queue="search", cb=take)

    async def close() -> None:
        await subscription.unsubscribe()
        await asyncio.gather(*tasks, return_exceptions=True)

    return close
