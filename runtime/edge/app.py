"""Put the edge together: routes, middlewares, what they share."""

from collections.abc import Sequence
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler

from bus.runs import Runs
from runtime.edge import chat, health, page, schemas, search, websocket
from runtime.edge import runs as run_routes
from runtime.edge.patience import Pace
from runtime.edge.problems import problems_middleware
from runtime.edge.profile_names import Profiles
from runtime.edge.state import EDGE, Edge
from runtime.settings import EdgeSettings


def make_app(
    settings: EdgeSettings,
    runs: Runs,
    *,
    profiles: Path | None = None,
    pace: Pace | None = None,
    needed: Sequence[str] = ("search", "inference", "actors"),
) -> web.Application:
    """The edge over started `runs`; it stops them when it shuts down. `profiles`: the user's own, beside the built-in ones.

    `needed` are the processes without which no question is answered.
    """
    app = web.Application(middlewares=[counted, problems_middleware], client_max_size=settings.max_body_bytes)
    app[EDGE] = Edge(settings, pace or Pace(), runs, Profiles(profiles), tuple(needed))
    for part in (page, run_routes, websocket, search, chat, health, schemas):
        app.add_routes(part.ROUTES)
    app.on_shutdown.append(_close)
    return app


async def _close(app: web.Application) -> None:
    await app[EDGE].close()


@web.middleware
async def counted(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Counts what was answered, by route."""
    response = await handler(request)
    resource = request.match_info.route.resource
    route = resource.canonical if resource is not None else "none"
    request.app[EDGE].metrics.requests.labels(route, request.method, str(response.status)).inc()
    return response
