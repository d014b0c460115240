"""Assemble the aiohttp app: its routes, its middlewares and the state its handlers share."""

import functools

from aiohttp import web
from aiohttp.typedefs import Handler

from bus.wire.errors import Unavailable
from index.plugins import installed
from runtime.edge import asyncapi, check, health, openapi, run_list, run_trace, runs, search, websocket
from runtime.edge.door import CALLER
from runtime.edge.openapi import ROUTES
from runtime.edge.origins import let_page_read, preflight
from runtime.edge.page import document
from runtime.edge.problems import ERRORS, PROBLEM_JSON, ErrorFormat, problems_middleware
from runtime.edge.routes import Route, declared
from runtime.edge.sources import data as sources
from runtime.edge.sources import files as source_files
from runtime.edge.sources import page as source_page
from runtime.edge.state import EDGE, Edge
from runtime.edge.timeouts import TIMEOUTS


def all_routes(edge: Edge) -> tuple[Route, ...]:
    """Every route, in the order of /openapi.json; of two that fit a path, the first serves it. Raises Unavailable.

    A protocol is a plug-in: a function `routes(edge) -> list[Route]` under an entry point of `groundwire.protocols`.
    """
    protocols = installed("protocols").values()
    if not protocols:  # the installed metadata is older than this file
        raise Unavailable("no protocol is installed; run `uv sync --reinstall-package groundwire`, or install it again")
    # The files come before the documents themselves: an id may hold slashes.
    ours = declared(runs, run_list, run_trace, websocket, search, check, source_files, sources, source_page)
    theirs = [route for protocol in protocols for route in protocol.load()(edge)]
    return (*ours, *theirs, *declared(health, document, openapi, asyncapi))


def make_app(edge: Edge) -> web.Application:
    """The app in front of the edge's started runs, which stop with it."""
    most = edge.settings.max_body_bytes
    app = web.Application(middlewares=[counted, problems_middleware, guarded], client_max_size=most)
    app[TIMEOUTS] = edge.timeouts
    app[EDGE] = edge
    app[ROUTES] = all_routes(edge)
    for each in app[ROUTES]:
        each.add_to(app.router)
    app.on_response_prepare.append(let_page_read)
    app.on_shutdown.append(edge.close)
    return app


@web.middleware
async def counted(request: web.Request, handler: Handler) -> web.StreamResponse:
    response = await handler(request)
    resource = request.match_info.route.resource
    path = resource.canonical if resource is not None else "none"
    request.app[EDGE].metrics.requests.labels(path, request.method, str(response.status)).inc()
    return response


@web.middleware
async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Check the host and origin of every request, then the key for what its route needs."""
    door = request.app[EDGE].door
    route = getattr(request.match_info.handler, "__self__", None)
    if not isinstance(route, Route):
        request[ERRORS] = errors_at(request)
        door.origins.check(request)
        return preflight(request) or await handler(request)
    request[ERRORS] = route.errors
    door.origins.check(request)
    with door.admitted(request, route) as caller:
        request[CALLER] = caller
        return await handler(request)


def errors_at(request: web.Request) -> ErrorFormat:
    """The format of errors where there is no route: a protocol's below its prefix, but not next to routes of another format."""
    for route in request.app[ROUTES]:
        errors = route.errors
        if errors.prefix and request.path.startswith(errors.prefix):
            name = request.path.removeprefix(errors.prefix).partition("/")[0]
            return PROBLEM_JSON if name in _names_of_others(request.app[ROUTES], errors.prefix) else errors
    return PROBLEM_JSON


@functools.cache
def _names_of_others(routes: tuple[Route, ...], prefix: str) -> frozenset[str]:
    """The first names below a prefix of the routes with another error format."""
    return frozenset(
        each.path.removeprefix(prefix).partition("/")[0]
        for each in routes
        if each.path.startswith(prefix) and each.errors.prefix != prefix
    )
