"""A route is declared once, as the decorator of its handler; the router, /openapi.json and the tests read the declaration.

Its answers are JSON, and those about a run have headers that identify it.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Concatenate, Literal

import msgspec
from aiohttp import HttpVersion11, hdrs, web

from bus.wire.requests import parse_body
from runtime.edge.problems import PROBLEM_JSON, ErrorFormat
from runtime.edge.request_parsing import json_body
from runtime.keys import Scope

#: Takes the request and, if the route has a body, the body as the Struct its second parameter is annotated with.
type Handler = Callable[Concatenate[web.Request, ...], Awaitable[web.StreamResponse]]

#: The paths under which there may be nothing.
_NAMED = re.compile(r"\{(run_id|source_id)\}")

#: Any JSON document, hence Any.
type Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """A successful response. `body`: the Struct of its JSON, or a media type. `events`: what a stream of it holds."""

    description: str
    body: type[msgspec.Struct] | str | None = None
    events: tuple[type[msgspec.Struct], ...] = ()


def parameter(name: str, where: Literal["path", "header", "query"], description: str, **schema: object) -> Document:
    return {"name": name, "in": where, "required": where == "path", "description": description, "schema": schema}


@dataclass(eq=False)
class Route:
    """A declared route; the handler's docstring is its summary. Errors of any body or run id are added to `problems`, by status.

    `scope`: what a key needs, where one is needed; any key, or none. `receives`: what a WebSocket client sends. `body_times`: how
    many times `edge.max_body_bytes` a body may have. `for_ticket`: the source that a ticket must be for which takes a key's
    place; None where none does.
    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    replies: Mapping[int, Reply]
    scope: Scope | Literal["any", "none"] = "admin"
    problems: tuple[int, ...] = ()
    parameters: tuple[Document, ...] = ()
    errors: ErrorFormat = PROBLEM_JSON
    receives: tuple[type[msgspec.Struct], ...] = ()
    body_times: int = 1
    for_ticket: Callable[[web.Request], str] | None = None
    summary: str = field(init=False)
    body: type[msgspec.Struct] | None = field(init=False)

    def __call__(self, handler: Handler) -> "Route":
        """Raises ValueError for a handler without a docstring."""
        if not handler.__doc__:
            raise ValueError(
                f"{self.method} {self.path} has no summary for /openapi.json; give its handler a docstring"
            )
        self.handler, self.summary = handler, handler.__doc__.strip()
        _, *body = inspect.signature(handler).parameters.values()
        self.body = body[0].annotation if body else None
        more: tuple[int, ...] = (408, 413, 415, 422) if body else (404,) if _NAMED.search(self.path) else ()
        more += (400, 403, 421) + (() if self.scope == "none" else (401, 429, 503))
        self.problems = tuple(sorted({self.errors.statuses.get(each, each) for each in (*self.problems, *more)}))
        return self

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if self.body is None:
            return await self.handler(request)
        return await self.handler(request, parse_body(await json_body(request, self.body_times), self.body))

    def add_to(self, router: web.UrlDispatcher) -> None:
        path = self.path.replace("{source_id}", "{source_id:.+}")  # such an id holds slashes
        if self.method == "GET":  # a stream has no HEAD
            router.add_get(
                path,
                self.serve,
                allow_head=not any(reply.events for reply in self.replies.values()),
                expect_handler=_expected,
            )
        else:
            router.add_route(self.method, path, self.serve, expect_handler=_expected)


def declared(*modules: ModuleType) -> list[Route]:
    return [each for module in modules for each in vars(module).values() if isinstance(each, Route)]


async def _expected(request: web.Request) -> None:
    """Let a client that waits for it send its body; what else a client expects means nothing."""
    if request.headers.get(hdrs.EXPECT, "").lower() == "100-continue" and request.version >= HttpVersion11:
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # the response has not begun


def json_response(value: object, *, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    body = msgspec.json.encode(value)
    return web.Response(status=status, body=body, content_type="application/json", charset="utf-8", headers=headers)


def run_headers(run_id: str) -> dict[str, str]:
    return {"X-Run-Id": run_id, "Location": f"/v1/runs/{run_id}"}
