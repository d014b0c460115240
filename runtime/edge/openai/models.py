"""/v1/models: the profiles, as models."""

from aiohttp import web

from bus.wire.subjects import ID_PATTERN
from runtime.edge.openai import schemas
from runtime.edge.openai.asking import check_model
from runtime.edge.openai.errors import OPENAI_ERRORS
from runtime.edge.responses import json_response
from runtime.edge.routes import Reply, Route, parameter
from runtime.edge.state import EDGE

MODEL = parameter("model", "path", "The name of a profile.", type="string", pattern=f"^{ID_PATTERN}$")


@Route("GET", "/v1/models", {200: Reply("The profiles, as models.", schemas.ModelList)}, "any", errors=OPENAI_ERRORS)
async def models(request: web.Request) -> web.StreamResponse:
    """List the profiles, as models."""
    names = await request.app[EDGE].profiles.names()
    return json_response(schemas.ModelList(data=tuple(schemas.ModelCard(id=name) for name in names)))


@Route(
    "GET",
    "/v1/models/{model}",
    {200: Reply("The profile, as a model.", schemas.ModelCard)},
    "any",
    problems=(404,),
    parameters=(MODEL,),
    errors=OPENAI_ERRORS,
)
async def model(request: web.Request) -> web.StreamResponse:
    """Look up a profile, as a model."""
    name = request.match_info["model"]
    await check_model(request, name)
    return json_response(schemas.ModelCard(id=name))
