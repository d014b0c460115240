"""Errors as the client sees them: RFC 9457 problem+json, with one sentence on the fault and the likely remedy."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler
from msgspec import UNSET, UnsetType

from bus.delivery.admission import Overloaded
from bus.powers.sources import NoSuchSource, NotServed
from bus.runs.runs import EventsGone, KeyReused, NoSuchRun
from bus.wire.errors import Invalid, Unavailable, named_field
from bus.wire.subjects import BadId

#: `Retry-After` of a 503, in seconds.
RETRY_AFTER_S = 2

#: The meaning of each status, for /openapi.json.
MEANINGS = {
    400: "The request cannot be read, or an id in it is not valid.",
    401: "The key is missing, wrong, revoked or expired.",
    403: "The key lacks the scope, or the page that asks is of another site.",
    404: "There is no such run, source or profile; a run may have expired, or be another key's, and so may a source.",
    405: "There is no stream to listen to, only one to take up again.",
    408: "The body did not arrive in time.",
    409: "The idempotency key was used for another question, or the run was cancelled.",
    410: "The events of the run have expired; its record is still available.",
    413: "The body is too large.",
    415: "The body is compressed, or not declared as JSON.",
    421: "The Host header is no name of this service.",
    422: "A field is missing, unknown or has an invalid value.",
    426: "This path takes WebSocket connections only.",
    429: "The key has used up its rate, or more is asked than can be done in time; try again after `Retry-After` seconds.",
    500: "The run failed.",
    503: "Part of the service is unavailable; try again after `Retry-After` seconds.",
    504: "The run did not finish in time.",
}


class ProblemBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The body of every error. `code` is stable, for programs; `detail` is for people. `field`: the path of the wrong field."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    field: str = ""


class Problem(Exception):
    """A request that cannot be served; the arguments become the response."""

    def __init__(
        self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None, field: str = ""
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = one_line(detail)
        self.headers = dict(headers or {})
        self.field = field or (named_field(detail) if status < 500 else "")

    @property
    def retry_after_s(self) -> int | UnsetType:
        return int(self.headers["Retry-After"]) if "Retry-After" in self.headers else UNSET


def one_line(text: str) -> str:
    """The text as one line that any client can display: other characters are escaped."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


@dataclass(frozen=True, slots=True)
class ErrorFormat:
    """How a route writes its errors: as JSON, or as plain text. `statuses` maps the statuses that it replaces.

    `prefix`: below it also unknown paths have this format.
    """

    schema: type[msgspec.Struct] | type[str]
    media_type: str
    body: Callable[[Problem], msgspec.Struct | str]
    statuses: Mapping[int, int] = field(default_factory=dict)
    prefix: str = ""

    def response(self, problem: Problem) -> web.Response:
        body = self.body(problem)
        return web.Response(
            status=self.statuses.get(problem.status, problem.status),
            body=body.encode() if isinstance(body, str) else msgspec.json.encode(body),
            content_type=self.media_type,
            charset="utf-8" if isinstance(body, str) else None,
            headers=problem.headers,
        )


def _problem_body(problem: Problem) -> ProblemBody:
    return ProblemBody(
        type=f"urn:groundwire:problem:{problem.code}",
        title=HTTPStatus(problem.status).phrase,
        status=problem.status,
        code=problem.code,
        detail=problem.detail,
        field=problem.field,
    )


PROBLEM_JSON = ErrorFormat(ProblemBody, "application/problem+json", _problem_body)

#: The error format of a request's route.
ERRORS = web.RequestKey("errors", ErrorFormat)

#: The errors of the layers below, and the problem that a client gets.
KNOWN: dict[type[Exception], tuple[int, str]] = {
    BadId: (400, "bad_id"),
    NoSuchRun: (404, "no_such_run"),
    NoSuchSource: (404, "no_such_source"),
    NotServed: (404, "not_served"),
    KeyReused: (409, "key_reused"),
    EventsGone: (410, "events_gone"),
    Overloaded: (429, "overloaded"),
    Unavailable: (503, "unavailable"),
}
#: The status of an Invalid question: 400 if it is unreadable, and this if it is readable.
_UNFIT = {"invalid": 422, "no_such_profile": 422}
EXPECTED: tuple[type[Exception], ...] = (Problem, Invalid, *KNOWN)


def problem_of(error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, Invalid):
        return Problem(_UNFIT.get(error.code, 400), error.code, str(error), field=error.field)
    status, code = next(pair for kind, pair in KNOWN.items() if isinstance(error, kind))
    again_s = error.retry_after_s if isinstance(error, Overloaded) else RETRY_AFTER_S
    return Problem(status, code, str(error), {"Retry-After": str(again_s)} if status in (429, 503) else None)


@web.middleware
async def problems_middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except EXPECTED as error:
        problem = problem_of(error)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        problem = _of_aiohttp(request, error)
    errors: ErrorFormat = request.get(ERRORS, PROBLEM_JSON)
    return errors.response(problem)


def _of_aiohttp(request: web.Request, error: web.HTTPException) -> Problem:
    match error:
        case web.HTTPMethodNotAllowed():
            allowed = ", ".join(sorted(error.allowed_methods))
            detail = f"{request.path} accepts {allowed}, not {request.method}"
            return Problem(405, "method_not_allowed", detail, {"Allow": allowed})
        case web.HTTPNotFound():
            detail = f"nothing is served at {request.path[:200]}; see /openapi.json for the paths"
            return Problem(404, "no_such_path", detail)
    return Problem(error.status, "bad_request", error.reason)
