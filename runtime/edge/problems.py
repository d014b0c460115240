"""Errors as the client sees them: RFC 9457 problem+json, one sentence that says what is wrong and the likely remedy."""

from collections.abc import Mapping
from http import HTTPStatus

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from bus.errors import Unavailable
from bus.runs import EventsGone, KeyReused, NoSuchRun
from bus.subjects import BadId

#: When to try again after a 503, in seconds.
RETRY_AFTER_S = 2


class ProblemBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of every error. `code` is stable; `detail` is for a person."""

    type: str
    title: str
    status: int
    code: str
    detail: str


class Problem(Exception):
    """A request that cannot be served; its arguments become the answer."""

    def __init__(self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = dict(headers or {})

    @property
    def body(self) -> ProblemBody:
        return ProblemBody(
            type=f"urn:groundwire:problem:{self.code}",
            title=HTTPStatus(self.status).phrase,
            status=self.status,
            code=self.code,
            detail=self.detail,
        )

    def response(self) -> web.Response:
        return web.Response(
            status=self.status,
            body=msgspec.json.encode(self.body),
            content_type="application/problem+json",
            headers=self.headers,
        )


#: What the layers below may raise, and what that is to a client.
Known = BadId | NoSuchRun | EventsGone | KeyReused | Unavailable


def problem_of(error: Known) -> Problem:
    match error:
        case BadId():
            return Problem(400, "bad_id", str(error))
        case NoSuchRun():
            return Problem(404, "no_such_run", f"{error.args[0]}; it may have expired, or never been asked")
        case EventsGone():
            return Problem(410, "events_gone", str(error.args[0]))
        case KeyReused():
            return Problem(409, "key_reused", str(error))
        case Unavailable():
            return Problem(503, "unavailable", str(error), {"Retry-After": str(RETRY_AFTER_S)})


@web.middleware
async def problems_middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turns what a handler raises into problem+json."""
    try:
        return await handler(request)
    except Problem as problem:
        return problem.response()
    except (BadId, NoSuchRun, EventsGone, KeyReused, Unavailable) as error:
        return problem_of(error).response()
    except web.HTTPException as error:
        if error.status < 400:
            raise
        return _of_aiohttp(request, error).response()


def _of_aiohttp(request: web.Request, error: web.HTTPException) -> Problem:
    match error:
        case web.HTTPMethodNotAllowed():
            allowed = ", ".join(sorted(error.allowed_methods))
            return Problem(
                405, "method_not_allowed", f"{request.path} takes {allowed}, not {request.method}", {"Allow": allowed}
            )
        case web.HTTPRequestEntityTooLarge():
            most = request.client_max_size // 1024
            return Problem(413, "too_large", f"the request is longer than {most} KB; send fewer or shorter contexts")
        case web.HTTPNotFound():
            return Problem(404, "no_such_path", f"there is nothing at {request.path[:200]}; see /openapi.json")
    return Problem(error.status, "bad_request", error.reason)
