"""The vectors that the served index makes of texts, over the bus: request and reply on `gw.vectors`, answered by a search process.

`gw.embed` is another matter: there the process that owns the device makes vectors for a search process. The default embedder
is fitted on the documents, so its vectors reveal something about them: a client that may not see all documents gets none.
"""

from collections.abc import Awaitable, Callable

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.transport.envelope import read
from bus.transport.replying import reply_to, reply_with
from bus.wire.errors import Unavailable
from bus.wire.subjects import VECTORS

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


_encode = msgspec.json.Encoder().encode
_requests = msgspec.json.Decoder(VectorsRequest)
_replies = msgspec.json.Decoder(VectorsReply)


async def index_vectors(client: Client, request: VectorsRequest, *, timeout_s: float) -> VectorsReply:
    """Raises Unavailable."""
    reply = await reply_to(client, VECTORS, _encode(request), _replies, timeout_s=timeout_s)
    if reply.problem:
        raise Unavailable(reply.problem)
    return reply


async def serve_index_vectors(
    client: Client, embed: Callable[[VectorsRequest], Awaitable[VectorsReply]]
) -> Callable[[], Awaitable[None]]:
    """Answer with `embed`, which raises Unavailable. Returns a function that stops it."""

    async def answer(msg: Msg) -> bytes:
        return _encode(await embed(read(_requests, msg.data, "this request for vectors")))

    return await reply_with(
        client, VECTORS, answer, lambda problem: _encode(VectorsReply(problem=problem)), what="embedding"
    )
