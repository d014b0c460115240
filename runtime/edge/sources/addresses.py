"""The path and query of a request for a source, and the addresses of a source's parts."""

from urllib.parse import quote, unquote, urlencode

from aiohttp import web

from index.source_paths import API, PAGES, quoted
from runtime.edge.problems import Problem
from runtime.edge.tickets import PARAMETER

ORIGINAL = "/original"
#: The parameter of a page inside another page, which has the document's name.
FRAMED = "framed"
_LONGEST_ID = 4000


def source_id(request: web.Request) -> str:
    """The id in the path of a page or of the API, decoded; the router's own value keeps some percent signs.

    Raises Problem 404 for an id that is too long.
    """
    path = request.rel_url.raw_path
    before = API if path.startswith(API) else PAGES
    named = request.match_info.route.resource
    behind = named.canonical.partition("{source_id}")[2] if named is not None else ""
    parts = path[len(before) :].split("/")
    decoded = unquote("/".join(parts[: len(parts) - behind.count("/")]), errors="replace")
    if len(decoded) > _LONGEST_ID:
        raise Problem(404, "no_such_source", "no source has so long an id")
    return decoded


def limited(text: str, name: str) -> str:
    """Raises Problem 400 for a value that is longer than any id."""
    if len(text) > _LONGEST_ID:
        raise Problem(400, "bad_parameter", f"{name}: has more than {_LONGEST_ID} characters")
    return text


class Addresses:
    """The addresses of one source's parts for one reader; the ticket, the language and the frame of the request are carried on."""

    def __init__(self, request: web.Request, source_id: str) -> None:
        self._id = quoted(source_id)
        self._kept = {name: request.query[name] for name in ("ui", FRAMED, PARAMETER) if name in request.query}

    def page(self, **offsets: int | None) -> str:
        return f"{PAGES}{self._id}{self._query(**offsets)}"

    def original(self) -> str:
        return f"{API}{self._id}{ORIGINAL}{self._query()}"

    def picture(self, page: int, width: int) -> str:
        return f"{API}{self._id}/pages/{page}{self._query(width=width)}"

    def _query(self, **offsets: int | None) -> str:
        query = {name: str(offset) for name, offset in offsets.items() if offset is not None} | self._kept
        return f"?{urlencode(query, quote_via=quote)}" if query else ""
