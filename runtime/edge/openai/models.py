"""/v1/models: the profiles, as models."""

from aiohttp import web

from bus.wire.subjects import ID_PATTERN
from prompts.profiles import ONE_USE
from runtime.edge.openai import schemas
from runtime.edge.openai.asking import OpenAIRoute, check_model
from runtime.edge.parameters import check_known, value_of
from runtime.edge.routes import Reply, json_response, parameter
from runtime.edge.state import EDGE

MODEL = parameter("model", "path", "The name of a profile.", type="string", pattern=f"^{ID_PATTERN}$")


OFFERED = parameter(
    "offered",
    "query",
    "`true` leaves out built-in profiles for one use that the settings do not list.",
    type="string",
    enum=["true", "false"],
)


@OpenAIRoute(
    "GET",
    "/v1/models",
    {200: Reply("The profiles, as models.", schemas.ModelList)},
    "any",
    parameters=(OFFERED,),
)
async def models(request: web.Request) -> web.StreamResponse:
    """List the profiles, as models."""
    check_known(request, (OFFERED,))
    edge = request.app[EDGE]
    offered = value_of(request, OFFERED)
    names = await edge.profiles.names()
    if offered == "true":
        unlisted = ONE_USE - {*edge.settings.profiles.replace(" ", "").split(",")}
        names = tuple(name for name in names if name not in unlisted or edge.profiles.is_own(name))
    return json_response(schemas.ModelList(data=tuple(schemas.ModelCard(id=name) for name in names)))


@OpenAIRoute(
    "GET",
    "/v1/models/{model}",
    {200: Reply("The profile, as a model.", schemas.ModelCard)},
    "any",
    problems=(404,),
    parameters=(MODEL,),
)
async def model(request: web.Request) -> web.StreamResponse:
    """Look up a profile, as a model."""
    name = request.match_info["model"]
    await check_model(request, name)
    return json_response(schemas.ModelCard(id=name))
