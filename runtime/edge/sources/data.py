"""/v1/sources: which documents there are, and the text of each, a stretch at a time.

Documents are told as they are, not masked as answers are; so a key needs the scope `search`, as for passages.
"""

from urllib.parse import unquote

from aiohttp import web

from bus.sources import LONGEST, MOST, ListAsked, SourceList, SourceText, TextAsked, ask_sources
from index.source_paths import API
from runtime.edge.door import CALLER
from runtime.edge.problems import Problem
from runtime.edge.responses import json_response
from runtime.edge.routes import Reply, Route, parameter
from runtime.edge.state import EDGE

#: How much of a document is told where nobody says how much.
USUAL = 50_000
_LARGEST = 2**40
_LONGEST_ID = 4000

SOURCE_ID = parameter(
    "source_id",
    "path",
    "The id of the source. Its slashes stand as they are; or all of it is percent-encoded, `%2F` for a slash.",
    type="string",
)
_START = parameter("start", "query", "The first character to tell, from 0.", type="integer", minimum=0)
_END = parameter(
    "end", "query", f"The character to stop before; at most {LONGEST} characters are told.", type="integer", minimum=0
)


@Route(
    "GET",
    "/v1/sources",
    {200: Reply("The sources, by id.", SourceList)},
    "search",
    problems=(503,),
    parameters=(
        parameter(
            "after", "query", "The id that the list goes on behind: the `next` of the last reply.", type="string"
        ),
        parameter("limit", "query", "How many at most.", type="integer", minimum=1, maximum=MOST, default=100),
    ),
)
async def sources(request: web.Request) -> web.Response:
    """List the sources that the caller may see."""
    edge = request.app[EDGE]
    after = request.query.get("after", "")
    if len(after) > _LONGEST_ID:
        raise Problem(400, "bad_parameter", f"after: has more than {_LONGEST_ID} characters")
    asked = ListAsked(
        after=after, most=number(request, "limit", 100, least=1, most=MOST), groups=request[CALLER].groups
    )
    return json_response(await ask_sources(edge.runs.client, asked, SourceList, timeout_s=edge.timeouts.search_s))


@Route(
    "GET",
    "/v1/sources/{source_id}",
    {200: Reply("The source, and its text from `start` to `end`.", SourceText)},
    "search",
    problems=(503,),
    parameters=(SOURCE_ID, _START, _END),
)
async def source(request: web.Request) -> web.Response:
    """Tell what a source is, and its text or a stretch of it."""
    edge = request.app[EDGE]
    start = number(request, "start", 0)
    end = number(request, "end", start + USUAL)
    asked = TextAsked(source_id=source_id(request, API), start=start, end=end, groups=request[CALLER].groups)
    return json_response(await ask_sources(edge.runs.client, asked, SourceText, timeout_s=edge.timeouts.search_s))


def source_id(request: web.Request, before: str, behind: str = "") -> str:
    """The id in the path, as it was encoded; the router's own value keeps some of its percents."""
    path = request.rel_url.raw_path
    found = unquote(path[len(before) : len(path) - len(behind)], errors="replace")
    if len(found) > _LONGEST_ID:
        raise Problem(404, "no_such_source", "no source has so long an id")
    return found


def number(request: web.Request, name: str, default: int, *, least: int = 0, most: int = _LARGEST) -> int:
    """A number of the query. Raises Problem 400."""
    values = request.query.getall(name, [])
    if not values:
        return min(default, most)
    value = values[0]
    if (
        len(values) > 1
        or not value.isascii()
        or not value.isdigit()
        or len(value) > 15
        or not least <= int(value) <= most
    ):
        raise Problem(400, "bad_parameter", f"{name}: must be one number from {least} to {most}")
    return int(value)
