"""Errors in the form that OpenAI clients read."""

from runtime.edge.openai import schemas
from runtime.edge.problems import ErrorFormat, Problem

#: The type and code that OpenAI gives with a status, where clients look for it.
ERRORS = {
    401: ("authentication_error", "invalid_api_key"),
    403: ("permission_error", "insufficient_permissions"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
}


def openai_error(problem: Problem) -> schemas.ChatError:
    kind, code = ERRORS.get(problem.status, ("", problem.code))
    kind = kind or ("invalid_request_error" if problem.status < 500 else "server_error")
    code = problem.code if problem.code == "overloaded" else code
    return schemas.ChatError(error=schemas.ChatErrorBody(message=problem.detail, type=kind, code=code))


#: Errors in the form that OpenAI clients read.
OPENAI_ERRORS = ErrorFormat(schemas.ChatError, "application/json", openai_error, {422: 400})
