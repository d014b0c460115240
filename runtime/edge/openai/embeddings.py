"""/v1/embeddings: the vectors that the served index makes of texts, for OpenAI clients."""

import base64
from array import array
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

import msgspec
from aiohttp import web
from msgspec import Meta

from bus.powers.embedding import TEXTS, VectorsReply, VectorsRequest, index_vectors
from runtime.edge.door import CALLER
from runtime.edge.openai.errors import OPENAI_ERRORS, unsupported
from runtime.edge.problems import Problem
from runtime.edge.responses import json_response
from runtime.edge.routes import Reply, Route
from runtime.edge.state import EDGE, Edge

#: How many texts OpenAI takes at a time.
INPUTS = 2048
#: How much larger than other bodies one may be: LangChain sends a thousand texts of a thousand characters at a time.
BODY_TIMES = 32
#: The most bytes, as JSON, of one text, and of the texts of one request over the bus, which allows 1 MB.
TEXT_BYTES, REQUEST_BYTES = 256 * 1024, 512 * 1024
#: An estimate, where no model counts tokens.
BYTES_A_TOKEN = 4


class EmbeddingsAsked(msgspec.Struct, frozen=True, kw_only=True):
    """The body of `POST /v1/embeddings`; the default is numbers, for passages.

    `input_type` is Groundwire's own: for models that encode passages and queries differently.
    """

    model: str
    input: str | Annotated[tuple[str | int | tuple[int, ...], ...], Meta(min_length=1, max_length=INPUTS)]
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: int | None = None
    input_type: Literal["passage", "query"] | None = None


class Embedding(msgspec.Struct, frozen=True, kw_only=True):
    """The vector of one text, of length 1: as numbers, or as base64 of little-endian floats of 4 bytes."""

    index: int
    embedding: tuple[float, ...] | str
    object: Literal["embedding"] = "embedding"


class EmbeddingsUsage(msgspec.Struct, frozen=True, kw_only=True):
    """An estimate: a token for every four bytes."""

    prompt_tokens: int
    total_tokens: int


class _Written(msgspec.Struct, frozen=True, kw_only=True):
    """`Embeddings` with encoded vectors, in the order of its fields."""

    data: tuple[msgspec.Raw, ...]
    model: str
    usage: EmbeddingsUsage
    object: Literal["list"] = "list"


class Embeddings(msgspec.Struct, frozen=True, kw_only=True):
    data: tuple[Embedding, ...]
    model: str
    usage: EmbeddingsUsage
    object: Literal["list"] = "list"


@Route(
    "POST",
    "/v1/embeddings",
    {200: Reply("The vectors, in the order of the texts.", Embeddings)},
    "search",
    problems=(404, 503),
    errors=OPENAI_ERRORS,
    body_times=BODY_TIMES,
)
async def embeddings(request: web.Request, body: EmbeddingsAsked) -> web.Response:
    """Make vectors of texts, with the embedder of the index that is served.

    They are written as they come: all at once would keep every other request waiting.
    """
    texts = texts_of(body)
    groups, data = request[CALLER].groups, list[msgspec.Raw]()
    for some in together(texts):
        wanted = VectorsRequest(texts=some, query=body.input_type == "query", groups=groups)
        made = await _vectors(request.app[EDGE], wanted)
        check_fits(body, made)
        data += [_written(n, row, body) for n, row in enumerate(made.rows, len(data))]
    tokens = sum(-(-len(text.encode()) // BYTES_A_TOKEN) for text in texts)
    return json_response(
        _Written(
            data=tuple(data),
            model=body.model,
            usage=EmbeddingsUsage(prompt_tokens=tokens, total_tokens=tokens),
        )
    )


def texts_of(body: EmbeddingsAsked) -> tuple[str, ...]:
    """Raises Problem for token numbers, and for empty and long texts."""
    given = (body.input,) if isinstance(body.input, str) else body.input
    texts = tuple(text for text in given if isinstance(text, str))
    if len(texts) < len(given):
        raise unsupported(
            "input", "token numbers are not read; send text (LangChain: check_embedding_ctx_length=False)"
        )
    for n, text in enumerate(texts):
        field = "input" if isinstance(body.input, str) else f"input[{n}]"
        if not text.strip():
            raise Problem(400, "invalid", f"{field}: the text is empty; leave it out")
        if _size(text) > TEXT_BYTES:
            raise Problem(400, "invalid", f"{field}: the text takes more than {TEXT_BYTES // 1024} KB; split it")
    return texts


def together(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The texts in order, as many at a time as one request over the bus may hold."""
    some: list[str] = []
    left = REQUEST_BYTES
    for text in texts:
        size = _size(text)
        if some and (len(some) == TEXTS or size > left):
            yield tuple(some)
            some, left = [], REQUEST_BYTES
        some.append(text)
        left -= size
    if some:
        yield tuple(some)


def _size(text: str) -> int:
    return len(msgspec.json.encode(text)) + 1


def check_fits(body: EmbeddingsAsked, made: VectorsReply) -> None:
    """Raises Problem when the index has another embedder."""
    if body.model not in (made.embedder, made.version, f"{made.embedder} {made.version}"):
        detail = f"model: there is no embedder {body.model[:100]!r}; the index's is {made.embedder!r}"
        raise Problem(404, "model_not_found", detail)
    if body.dimensions not in (None, made.dimension):
        raise unsupported("dimensions", f"the index's vectors have {made.dimension}; send that, or leave it out")
    if made.withheld:
        detail = (
            "this key does not see every document, and the embedder was fitted on all of them; use a key with"
            " `--group '*'`, or an index with a neural embedder"
        )
        raise Problem(403, "no_scope", detail)


async def _vectors(edge: Edge, wanted: VectorsRequest) -> VectorsReply:
    return await index_vectors(edge.runs.client, wanted, timeout_s=edge.timeouts.search_s)


def _written(n: int, row: bytes, body: EmbeddingsAsked) -> msgspec.Raw:
    as_text = body.encoding_format == "base64"
    vector = base64.b64encode(row).decode() if as_text else tuple(array("f", row))
    return msgspec.Raw(msgspec.json.encode(Embedding(index=n, embedding=vector)))
