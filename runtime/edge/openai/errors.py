"""Errors in the form that OpenAI clients read."""

from aiohttp import web

from bus.wire.errors import named_field
from runtime.edge.openai import schemas
from runtime.edge.problems import ErrorFormat, Problem

#: The type and code that OpenAI gives with a status, where clients look for it.
ERRORS = {
    401: ("authentication_error", "invalid_api_key"),
    403: ("permission_error", "insufficient_permissions"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
}
#: Errors that OpenAI's clients would repeat without use: a run that timed out or was cancelled.
_NOT_AGAIN = (409, 504)


def openai_error(problem: Problem) -> schemas.ChatError:
    kind, code = ERRORS.get(problem.status, ("", problem.code))
    kind = kind or ("invalid_request_error" if problem.status < 500 else "server_error")
    code = problem.code if problem.code == "overloaded" else code
    param = (named_field(problem.detail) or None) if problem.status < 500 else None
    return schemas.ChatError(error=schemas.ChatErrorBody(message=problem.detail, type=kind, code=code, param=param))


def unsupported(field: str, detail: str) -> Problem:
    """A request that cannot be honoured, refused by its field."""
    return Problem(400, "unsupported_value", f"{field}: {detail}")


class _OpenAIErrors(ErrorFormat):
    def response(self, problem: Problem) -> web.Response:
        response = super().response(problem)
        if problem.status in _NOT_AGAIN:
            response.headers["X-Should-Retry"] = "false"
        return response


#: Errors in the form that OpenAI clients read.
OPENAI_ERRORS = _OpenAIErrors(schemas.ChatError, "application/json", openai_error, {422: 400}, "/v1/")
