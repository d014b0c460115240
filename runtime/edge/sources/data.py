"""/v1/sources: the list of documents, and the text of each, a stretch at a time.

Documents are not masked, unlike answers; so a key needs the scope `search`, as for passages.
"""

import time
from urllib.parse import quote, unquote, urlencode

import msgspec
from aiohttp import web

from bus.powers.sources import LONGEST, MOST, ListAsked, SourceList, SourceText, TextAsked, ask_sources
from index.source_paths import API, PAGES, quoted, source_path
from runtime.edge.door import CALLER
from runtime.edge.parameters import LARGEST, check_known, value_of
from runtime.edge.problems import Problem
from runtime.edge.routes import Reply, Route, json_response, parameter
from runtime.edge.state import EDGE
from runtime.edge.tickets import PARAMETER, VALID_S, ticket

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


#: The default length of a stretch, in characters.
USUAL = 50_000

SOURCE_ID = parameter(
    "source_id",
    "path",
    "The id of the source. Its slashes stand as they are; or all of it is percent-encoded, `%2F` for a slash.",
    type="string",
)
_START = parameter("start", "query", "The first character to tell, from 0.", type="integer", minimum=0, default=0)
_END = parameter(
    "end", "query", f"The character to stop before; at most {LONGEST} characters are sent.", type="integer", minimum=0
)


_AFTER = parameter(
    "after", "query", "The id that the list goes on behind: the `next` of the last reply.", type="string", default=""
)
_LIMIT = parameter("limit", "query", "How many at most.", type="integer", minimum=1, maximum=MOST, default=100)


@Route("GET", "/v1/sources", {200: Reply("The sources, by id.", SourceList)}, "search", parameters=(_AFTER, _LIMIT))
async def sources(request: web.Request) -> web.Response:
    """List the sources that the caller may see."""
    check_known(request, (_AFTER, _LIMIT))
    edge, after = request.app[EDGE], limited(value_of(request, _AFTER), "after")
    query = ListAsked(after=after, most=value_of(request, _LIMIT), groups=request[CALLER].groups)
    return json_response(await ask_sources(edge.runs.client, query, SourceList, timeout_s=edge.timeouts.search_s))


@Route(
    "GET",
    "/v1/sources/{source_id}",
    {200: Reply("The source, and its text from `start` to `end`.", SourceText)},
    "search",
    parameters=(SOURCE_ID, _START, _END),
    for_ticket=source_id,
)
async def source(request: web.Request) -> web.Response:
    """Give a source's metadata, and its text or a stretch of it."""
    check_known(request, (_START, _END), PARAMETER)
    edge, start, end = request.app[EDGE], value_of(request, _START), value_of(request, _END)
    end = min(start + USUAL, LARGEST) if end is None else end
    query = TextAsked(source_id=source_id(request), start=start, end=end, groups=request[CALLER].groups)
    return json_response(await ask_sources(edge.runs.client, query, SourceText, timeout_s=edge.timeouts.search_s))


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """An address of a source's page that opens without a header; `valid_s` seconds long where a key is needed."""

    url: str
    valid_s: int | None = None


@Route(
    "POST",
    "/v1/sources/{source_id}/link",
    {200: Reply("The address.", Opening)},
    "search",
    parameters=(SOURCE_ID, _START, _END),
)
async def link(request: web.Request) -> web.Response:
    """Give an address of the source's page that a browser can open, which sends no key."""
    edge = request.app[EDGE]
    caller, named = request[CALLER], source_id(request)
    start, end = value_of(request, _START), value_of(request, _END)
    query = TextAsked(source_id=named, end=1, groups=caller.groups)
    await ask_sources(edge.runs.client, query, SourceText, timeout_s=edge.timeouts.search_s)
    url = source_path(named, *((start, end) if end else ()))
    if not caller.name:
        return json_response(Opening(url=url))
    given = ticket(edge.door.secret, caller.key_id, named, time.time())
    return json_response(Opening(url=f"{url}{'&' if '?' in url else '?'}{PARAMETER}={given}", valid_s=VALID_S))
