"""Errors in the form that OpenAI clients read."""

import re

from aiohttp import web

from runtime.edge.openai import schemas
from runtime.edge.problems import ErrorFormat, Problem

#: The type and code that OpenAI gives with a status, where clients look for it.
ERRORS = {
    401: ("authentication_error", "invalid_api_key"),
    403: ("permission_error", "insufficient_permissions"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
}
#: Problems with one field; their sentence begins with its name.
_OF_A_FIELD = (
    "invalid",
    "unsupported_value",
    "model_not_found",
    "no_such_profile",
    "previous_response_not_found",
    "context_length_exceeded",
)
_FIELD = re.compile(r"([a-z_]+(?:\[\d+\]|\.\w+)*): ")
#: Errors that OpenAI's clients would repeat without use: a run that timed out or was cancelled.
_NOT_AGAIN = (409, 504)


def openai_error(problem: Problem) -> schemas.ChatError:
    kind, code = ERRORS.get(problem.status, ("", problem.code))
    kind = kind or ("invalid_request_error" if problem.status < 500 else "server_error")
    code = problem.code if problem.code == "overloaded" else code
    return schemas.ChatError(
        error=schemas.ChatErrorBody(message=problem.detail, type=kind, code=code, param=_param(problem))
    )


def unsupported(field: str, detail: str) -> Problem:
    """A request that cannot be honoured, refused by its field."""
    return Problem(400, "unsupported_value", f"{field}: {detail}")


def _param(problem: Problem) -> str | None:
    named = _FIELD.match(problem.detail) if problem.code in _OF_A_FIELD else None
    return named[1] if named else None


class _OpenAIErrors(ErrorFormat):
    def response(self, problem: Problem) -> web.Response:
        response = super().response(problem)
        if problem.status in _NOT_AGAIN:
            response.headers["X-Should-Retry"] = "false"
        return response


#: Errors in the form that OpenAI clients read.
OPENAI_ERRORS = _OpenAIErrors(schemas.ChatError, "application/json", openai_error, {422: 400}, "/v1/")
