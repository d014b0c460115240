"""The file of a document, whole or by range, and the pages of a PDF as pictures; fetched a piece at a time from the search process.

What a document's file holds never runs as a page of ours: it is sandboxed, its type is fixed, and a browser may not guess another.
"""

import asyncio
import codecs
import re
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from aiohttp import hdrs, web

from bus.powers.sources import NARROWEST, WIDEST, WIDTH, Piece, PieceAsked, ask_sources
from bus.wire.errors import Failure
from runtime.edge.door import CALLER
from runtime.edge.problems import Problem
from runtime.edge.query import number
from runtime.edge.routes import Reply, Route, parameter
from runtime.edge.sources.addresses import source_id
from runtime.edge.sources.data import SOURCE_ID
from runtime.edge.state import EDGE

_PDF = "application/pdf"
#: What a browser shows in place; everything else it saves.
_SHOWN = frozenset((_PDF, "text/plain", "image/png", "image/jpeg", "image/webp"))
_ALONE = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
#: A browser's own viewer of PDFs does not work in a sandbox; a PDF is no page of ours without one.
_POLICIES = {_PDF: f"{_ALONE}; style-src 'unsafe-inline'; object-src 'self'"}
_SANDBOX = f"{_ALONE}; sandbox"
_LARGEST_PAGE = 1_000_000
_RANGE = re.compile(r"\s*bytes\s*=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*", re.ASCII)

_FILE = parameter("Range", "header", "A range of bytes, as `bytes=0-1023`.", type="string")
_TICKET = parameter("ticket", "query", "In place of a key: see `/v1/sources/{source_id}/link`.", type="string")


@Route(
    "GET",
    "/v1/sources/{source_id}/original",
    {
        200: Reply("The file, of whatever type it is.", "*/*"),
        206: Reply("The range of it that was asked for.", "*/*"),
        304: Reply("It is as it was."),
        416: Reply("The file has no such range."),
    },
    "search",
    problems=(503,),
    parameters=(SOURCE_ID, _FILE, _TICKET),
    for_ticket=source_id,
)
async def original(request: web.Request) -> web.StreamResponse:
    """Give the file that a source was read from, if it still is that file."""
    edge = request.app[EDGE]

    async def ask(asked: PieceAsked) -> Piece:
        return await ask_sources(edge.runs.client, asked, Piece, timeout_s=edge.timeouts.search_s)

    return await _sent(request, PieceAsked(source_id=source_id(request), groups=request[CALLER].groups), ask)


@Route(
    "GET",
    "/v1/sources/{source_id}/pages/{page}",
    {
        200: Reply("The picture.", "image/webp"),
        206: Reply("A range of it.", "image/webp"),
        304: Reply("It is as it was."),
        416: Reply("It has no such range."),
    },
    "search",
    problems=(503,),
    parameters=(
        SOURCE_ID,
        parameter("page", "path", "The page, from 1.", type="integer", minimum=1, maximum=_LARGEST_PAGE),
        parameter(
            "width", "query", "How wide, in pixels.", type="integer", minimum=NARROWEST, maximum=WIDEST, default=WIDTH
        ),
        _FILE,
        _TICKET,
    ),
    for_ticket=source_id,
)
async def picture(request: web.Request) -> web.StreamResponse:
    """Give a page of a PDF as a picture."""
    written = request.match_info["page"]
    if not written.isascii() or not written.isdigit() or len(written) > 7 or not 1 <= int(written) <= _LARGEST_PAGE:
        raise Problem(404, "no_such_page", f"a page is a number from 1 to {_LARGEST_PAGE}")
    width = number(request, "width", WIDTH, least=NARROWEST, most=WIDEST)
    asked = PieceAsked(source_id=source_id(request), page=int(written), width=width, groups=request[CALLER].groups)
    edge, key_id = request.app[EDGE], request[CALLER].key_id
    return await _sent(request, asked, lambda asked: edge.drawing.ask(edge.runs.client, key_id, asked, Piece))


async def _sent(
    request: web.Request, asked: PieceAsked, ask: Callable[[PieceAsked], Awaitable[Piece]]
) -> web.StreamResponse:
    """The file, or its range, a piece at a time from `ask`. Raises NoSuchSource, NotServed, Unavailable."""

    async def piece(offset: int) -> Piece:
        return await ask(
            PieceAsked(
                source_id=asked.source_id, page=asked.page, width=asked.width, groups=asked.groups, offset=offset
            )
        )

    first = await piece(0)
    tag = f'"{first.version}"'
    headers = _headers(first) | {"ETag": tag}
    if _names(request.headers.get(hdrs.IF_NONE_MATCH, ""), tag):
        return web.Response(status=304, headers=headers)
    start, end, status = 0, first.size, 200
    if hdrs.RANGE in request.headers and request.headers.get(hdrs.IF_RANGE, tag) == tag:
        found = _range(request.headers[hdrs.RANGE], first.size)
        if found == (0, 0):
            return web.Response(status=416, headers=headers | {"Content-Range": f"bytes */{first.size}"})
        if found is not None:
            start, end = found
            status = 206
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{first.size}"
    response = web.StreamResponse(status=status, headers=headers)
    response.content_type = first.media_type
    if first.media_type.startswith("text/") and _is_utf8(first.data):
        response.charset = "utf-8"
    response.content_length = end - start
    await response.prepare(request)
    at = start if request.method != hdrs.METH_HEAD else end
    while at < end:
        data = first.data[at:] or await _more(piece, at, first.version)
        try:
            if not data:
                raise TimeoutError
            async with asyncio.timeout(request.app[EDGE].timeouts.stall_s):
                await response.write(data[: end - at])
        except (
            TimeoutError
        ):  # it changed or went away, or nobody reads: a client must not take what it has for the whole
            if request.transport is not None:
                request.transport.abort()
            break
        at += len(data)
    return response


async def _more(piece: Callable[[int], Awaitable[Piece]], offset: int, version: str) -> bytes:
    """The file from there on; empty when it is another by now, or cannot be had."""
    try:
        found = await piece(offset)
    except (Failure, TimeoutError):
        return b""
    return found.data if found.version == version else b""


def _headers(first: Piece) -> dict[str, str]:
    shown = "inline" if first.media_type in _SHOWN else "attachment"
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_. ") else "_" for c in first.name)
    return {
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f"{shown}; filename=\"{plain}\"; filename*=UTF-8''{quote(first.name, safe='', errors='replace')}",
        "Content-Security-Policy": _POLICIES.get(first.media_type, _SANDBOX),
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "Vary": "Authorization",
        "X-Content-Type-Options": "nosniff",
    }


def _names(header: str, tag: str) -> bool:
    """Whether a list of entity tags names this one."""
    return header.strip() == "*" or tag in {each.strip().removeprefix("W/") for each in header.split(",")}


def _range(header: str, size: int) -> tuple[int, int] | None:
    """The bytes that a range names; (0, 0) for one that the file does not have, None for what is no single range of bytes."""
    found = _RANGE.fullmatch(header)
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        start, end = max(0, size - int(found[2])), size
    else:
        start, end = int(found[1]), min(size, int(found[2]) + 1 if found[2] else size)
        if found[2] and int(found[2]) < start:
            return None
    return (start, end) if start < end else (0, 0)


def _is_utf8(beginning: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(beginning)
    except UnicodeDecodeError:
        return False
    return True
