"""Embeddings over the bus, both ends: `gw.embed` is served by the process that owns the device, for search processes.

`gw.vectors` is served by a search process: the vectors that the served index makes of texts. The default embedder is fitted on
the documents, so its vectors reveal something about them: a client that may not see all documents gets none.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.transport.envelope import read, set_aside
from bus.transport.replying import reply_to, reply_with
from bus.wire.errors import Poison, Unavailable
from bus.wire.subjects import EMBED, VECTORS

#: How many texts a request may hold, so that the vectors of any model fit into a reply.
TEXTS = 32


class VectorsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """`query`: the texts are queries, for models with two encodings. `groups`: those whose documents count."""

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


_vectors_requests = msgspec.json.Decoder(VectorsRequest)
_vectors_replies = msgspec.json.Decoder(VectorsReply)


async def index_vectors(client: Client, request: VectorsRequest, *, timeout_s: float) -> VectorsReply:
    """Raises Unavailable."""
    reply = await reply_to(client, VECTORS, _encode(request), _vectors_replies, timeout_s=timeout_s)
    if reply.problem:
        raise Unavailable(reply.problem)
    return reply


async def serve_index_vectors(
    client: Client, embed: Callable[[VectorsRequest], Awaitable[VectorsReply]]
) -> Callable[[], Awaitable[None]]:
    """Answer with `embed`, which raises Unavailable. Returns a function that stops it."""

    async def answer(msg: Msg) -> bytes:
        return _encode(await embed(read(_vectors_requests, msg.data, "this request for vectors")))

    return await reply_with(
        client, VECTORS, answer, lambda problem: _encode(VectorsReply(problem=problem)), what="embedding"
    )


class EmbedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """`query`: the texts are queries, for models that encode queries and passages differently."""

    texts: tuple[str, ...]
    query: bool


class EmbedReply(msgspec.Struct, frozen=True, kw_only=True):
    """One vector per text, in the same order; or the reason why there are none."""

    model: str = ""
    vectors: tuple[tuple[float, ...], ...] = ()
    problem: str = ""


_encode = msgspec.json.Encoder().encode
_requests = msgspec.json.Decoder(EmbedRequest)
_replies = msgspec.json.Decoder(EmbedReply)


async def ask_vectors(client: Client, texts: Sequence[str], *, query: bool, patience_s: float = 30.0) -> EmbedReply:
    """The vectors; retries until a process answers. Raises Unavailable."""
    request = _encode(EmbedRequest(texts=tuple(texts), query=query))
    give_up = time.monotonic() + patience_s
    while True:
        try:
            msg = await client.request(EMBED, request, timeout=min(10.0, patience_s))
        except (nats.errors.Error, TimeoutError) as error:
            if time.monotonic() > give_up:
                raise Unavailable(
                    f"no process answers embedding requests ({error}); start the inference process with the same embedder"
                ) from None
            await asyncio.sleep(0.1)
            continue
        try:
            reply = read(_replies, msg.data, "this reply")
        except Poison as poison:
            set_aside("reply", EMBED, poison)
            raise Unavailable(str(poison)) from None
        if reply.problem:
            raise Unavailable(reply.problem)
        return reply


async def serve_vectors(
    client: Client, embed: Callable[[EmbedRequest], Awaitable[list[list[float]]]], *, model: str
) -> None:
    """Answer requests with `embed` until the connection closes."""

    async def answer(msg: Msg) -> bytes:
        vectors = await embed(read(_requests, msg.data, "this request for vectors"))
        return _encode(EmbedReply(model=model, vectors=tuple(tuple(vector) for vector in vectors)))

    await reply_with(
        client,
        EMBED,
        answer,
        lambda problem: _encode(EmbedReply(problem=problem)),
        queue="inference",
        what="embedding",
    )
