"""/v1/index: what is served, since when, and what could not be read."""

from aiohttp import web

from bus.served_index import ServedIndex, served_index
from runtime.edge.responses import json_response
from runtime.edge.routes import Reply, Route
from runtime.edge.state import EDGE


@Route("GET", "/v1/index", {200: Reply("The index.", ServedIndex)}, "admin", problems=(503,))
async def index(request: web.Request) -> web.Response:
    """Say which index is served, since when, and which files could not be read."""
    edge = request.app[EDGE]
    return json_response(await served_index(edge.runs.client, timeout_s=edge.timeouts.search_s))
