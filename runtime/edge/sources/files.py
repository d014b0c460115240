"""The file of a document, and the pages of a PDF as pictures; fetched in chunks from the search process.

The content of a file never runs as a page of this origin: it is sandboxed, and its type is fixed.
"""

import asyncio
import codecs
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from aiohttp import hdrs, web
from msgspec.structs import replace

from bus.powers.sources import NARROWEST, WIDEST, WIDTH, Piece, PieceAsked, ask_sources
from bus.wire.errors import Failure
from runtime.edge.door import CALLER
from runtime.edge.parameters import value_of
from runtime.edge.problems import Problem
from runtime.edge.routes import Reply, Route, parameter
from runtime.edge.sources.data import SOURCE_ID, source_id
from runtime.edge.sources.markup import DRAW_S, LARGEST_PAGE, PDF
from runtime.edge.state import EDGE

#: Types that a browser displays; it saves every other.
_DISPLAYED = frozenset((PDF, "text/plain", "image/png", "image/jpeg", "image/webp"))
_ALONE = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
#: A browser's own viewer of PDFs does not work in a sandbox; a PDF is no page of this origin without one.
_POLICIES = {PDF: f"{_ALONE}; style-src 'unsafe-inline'; object-src 'self'"}
_SANDBOX = f"{_ALONE}; sandbox"

_WIDTH = parameter(
    "width", "query", "How wide, in pixels.", type="integer", minimum=NARROWEST, maximum=WIDEST, default=WIDTH
)
_TICKET = parameter("ticket", "query", "In place of a key: see `/v1/sources/{source_id}/link`.", type="string")


@Route(
    "GET",
    "/v1/sources/{source_id}/original",
    {
        200: Reply("The file, of whatever type it is.", "*/*"),
        304: Reply("It is as it was."),
    },
    "search",
    parameters=(SOURCE_ID, _TICKET),
    for_ticket=source_id,
)
async def original(request: web.Request) -> web.StreamResponse:
    """Give the file that a source was read from, if it still is that file."""
    wanted = PieceAsked(source_id=source_id(request), groups=request[CALLER].groups)
    return await _sent(request, wanted, request.app[EDGE].timeouts.search_s)


@Route(
    "GET",
    "/v1/sources/{source_id}/pages/{page}",
    {
        200: Reply("The picture.", "image/webp"),
        304: Reply("It is as it was."),
    },
    "search",
    parameters=(
        SOURCE_ID,
        parameter("page", "path", "The page, from 1.", type="integer", minimum=1, maximum=LARGEST_PAGE),
        _WIDTH,
        _TICKET,
    ),
    for_ticket=source_id,
)
async def picture(request: web.Request) -> web.StreamResponse:
    """Give a page of a PDF as a picture."""
    written = request.match_info["page"]
    if not written.isascii() or not written.isdigit() or len(written) > 7 or not 1 <= int(written) <= LARGEST_PAGE:
        raise Problem(404, "no_such_page", f"a page is a number from 1 to {LARGEST_PAGE}")
    width = value_of(request, _WIDTH)
    wanted = PieceAsked(source_id=source_id(request), page=int(written), width=width, groups=request[CALLER].groups)
    return await _sent(request, wanted, DRAW_S)


async def _sent(request: web.Request, wanted: PieceAsked, timeout_s: float) -> web.StreamResponse:
    """Raises NoSuchSource, NotServed, Unavailable."""
    edge = request.app[EDGE]

    async def chunk(offset: int) -> Piece:
        return await ask_sources(edge.runs.client, replace(wanted, offset=offset), Piece, timeout_s=timeout_s)

    first = await chunk(0)
    headers = _headers(first) | {"ETag": f'"{first.version}"'}
    if any(each.value in ("*", first.version) for each in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    response = web.StreamResponse(headers=headers)
    response.content_type = first.media_type
    if first.media_type.startswith("text/") and _is_utf8(first.data):
        response.charset = "utf-8"
    response.content_length = first.size
    await response.prepare(request)
    at = 0 if request.method != hdrs.METH_HEAD else first.size
    while at < first.size:
        try:
            data = first.data[at:] or await _later(chunk, at, first.version)
            async with asyncio.timeout(edge.timeouts.stall_s):
                await response.write(data)
        except (Failure, TimeoutError):  # the client must not take what it has for the whole
            if request.transport is not None:
                request.transport.abort()
            break
        at += len(data)
    return response


async def _later(chunk: Callable[[int], Awaitable[Piece]], offset: int, version: str) -> bytes:
    """The file from `offset` on. Raises Failure, TimeoutError when it has changed or is gone."""
    later = await chunk(offset)
    if later.version != version or not later.data:
        raise TimeoutError
    return later.data


def _headers(first: Piece) -> dict[str, str]:
    kind = "inline" if first.media_type in _DISPLAYED else "attachment"
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_. ") else "_" for c in first.name)
    return {
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(first.name, safe='', errors='replace')}",
        "Content-Security-Policy": _POLICIES.get(first.media_type, _SANDBOX),
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "Vary": "Authorization",
        "X-Content-Type-Options": "nosniff",
    }


def _is_utf8(beginning: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(beginning)
    except UnicodeDecodeError:
        return False
    return True
