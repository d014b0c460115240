"""Assemble the aiohttp app: its routes, its middlewares and the state its handlers share."""

from collections.abc import Sequence
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler

from bus.runs import Runs
from runtime.edge import asyncapi, chat, health, index, openapi, page, runs, search, websocket
from runtime.edge.canary import Canary
from runtime.edge.known_profiles import KnownProfiles
from runtime.edge.openapi import ROUTES
from runtime.edge.problems import problems_middleware
from runtime.edge.routes import Route
from runtime.edge.state import EDGE, Edge
from runtime.edge.timeouts import Timeouts
from runtime.settings import EdgeSettings


def all_routes() -> tuple[Route, ...]:
    """Every route, in the order of /openapi.json."""
    modules = (runs, websocket, search, index, chat, health, page, openapi, asyncapi)
    return tuple(each for module in modules for each in vars(module).values() if isinstance(each, Route))


def make_app(
    settings: EdgeSettings,
    pipeline: Runs,
    *,
    profiles: Path | None = None,
    timeouts: Timeouts | None = None,
    needed: Sequence[str] = ("search", "inference", "actors"),
) -> web.Application:
    """The app in front of a started `pipeline`, which stops with it. `profiles`: the user's own, beside the built-in ones.

    `needed`: the processes that every question needs.
    """
    app = web.Application(middlewares=[counted, problems_middleware], client_max_size=settings.max_body_bytes)
    canary = Canary(pipeline, settings.canary_s) if settings.canary_s else None
    app[EDGE] = Edge(settings, timeouts or Timeouts(), pipeline, KnownProfiles(profiles), tuple(needed), canary)
    app[ROUTES] = all_routes()
    for each in app[ROUTES]:
        each.add_to(app.router)
    app.on_shutdown.append(app[EDGE].close)
    return app


@web.middleware
async def counted(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Count the responses of each route."""
    response = await handler(request)
    resource = request.match_info.route.resource
    path = resource.canonical if resource is not None else "none"
    request.app[EDGE].metrics.requests.labels(path, request.method, str(response.status)).inc()
    return response
