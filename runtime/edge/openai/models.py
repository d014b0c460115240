"""/v1/models: the profiles, as models."""

from aiohttp import web

from runtime.edge.openai import schemas
from runtime.edge.openai.errors import OPENAI_ERRORS
from runtime.edge.responses import json_response
from runtime.edge.routes import Reply, Route
from runtime.edge.state import EDGE


@Route("GET", "/v1/models", {200: Reply("The profiles, as models.", schemas.ModelList)}, "any", errors=OPENAI_ERRORS)
async def models(request: web.Request) -> web.StreamResponse:
    """List the profiles, as models."""
    names = await request.app[EDGE].profiles.names()
    return json_response(schemas.ModelList(data=tuple(schemas.ModelCard(id=name) for name in names)))
