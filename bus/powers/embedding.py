"""Embeddings over the bus, both ends: `gw.embed` is served by the process that owns the device, for search processes."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.transport.envelope import read, set_aside
from bus.transport.replying import reply_with
from bus.wire.errors import Poison, Unavailable
from bus.wire.subjects import EMBED


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
