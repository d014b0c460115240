"""/v1/index: the served index, its age and its unreadable files; /v1/examples: questions that it can answer."""

from aiohttp import web

from bus.powers.served_index import Held, ServedIndex, held_for, served_index
from index.masking import masked
from runtime.edge.door import CALLER
from runtime.edge.responses import json_response
from runtime.edge.routes import Reply, Route
from runtime.edge.state import EDGE


@Route("GET", "/v1/index", {200: Reply("The index.", ServedIndex)}, "admin", problems=(503,))
async def index(request: web.Request) -> web.Response:
    """Say which index is served, since when, and which files could not be read."""
    edge = request.app[EDGE]
    return json_response(await served_index(edge.runs.client, timeout_s=edge.timeouts.search_s))


@Route("GET", "/v1/examples", {200: Reply("What can be asked.", Held)}, "ask", problems=(503,))
async def examples(request: web.Request) -> web.Response:
    """Say what the caller's questions are answered from, with questions that the documents ask themselves."""
    edge = request.app[EDGE]
    examples = await held_for(edge.runs.client, request[CALLER].groups, timeout_s=edge.timeouts.search_s)
    return json_response(masked(examples))
