"""What the fields of an OpenAI client ask for: made part of the question, or refused by name where it cannot be done.

What changes only how a model would write (temperature, seed, effort) is accepted without effect: the profile says how to answer.
What a client would wait for in vain, or read the answer by, is refused, with an error in the form that OpenAI clients read.
"""

from collections.abc import Callable, Iterable
from functools import partial

from aiohttp import web
from groundwire.wire import Turn

from bus.wire.errors import named_field
from bus.wire.messages import QuestionAsked, same_fields
from bus.wire.parts import Constraints
from prompts.profiles import ProfileError
from runtime.edge.openai import schemas
from runtime.edge.openai.schemas import ChatAsked
from runtime.edge.parameters import idempotency_key
from runtime.edge.problems import ErrorFormat, Problem
from runtime.edge.routes import Route
from runtime.edge.state import EDGE

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


#: A route with errors in the form that OpenAI clients read.
OpenAIRoute = partial(
    Route, errors=_OpenAIErrors(schemas.ChatError, "application/json", openai_error, {422: 400}, "/v1/")
)


#: How many tokens an answer may be asked to have; more is as good as no limit.
MOST_TOKENS = 4096
_ONE = "there is one answer to a question; leave it out, or send 1"
_NO_LOGPROBS = "an answer is checked text without log probabilities; leave it out"
NO_PENALTY = "what an answer repeats is not counted; leave it out, or send 0"
_NO_TOOLS = "no tool is ever called; send `auto` or `none`, or leave it out"

#: Field, whether it asks for what cannot be done, and why.
type Rule[T] = tuple[str, Callable[[T], bool], str]

_RULES: tuple[Rule[ChatAsked], ...] = (
    ("n", lambda asked: asked.n not in (None, 1), _ONE),
    ("presence_penalty", lambda asked: bool(asked.presence_penalty), NO_PENALTY),
    ("frequency_penalty", lambda asked: bool(asked.frequency_penalty), NO_PENALTY),
    ("logit_bias", lambda asked: bool(asked.logit_bias), "no token is preferred to another; leave it out"),
    ("stop", lambda asked: bool(asked.stop), "an answer ends with its last sentence; leave it out"),
    ("logprobs", lambda asked: bool(asked.logprobs), _NO_LOGPROBS),
    ("top_logprobs", lambda asked: bool(asked.top_logprobs), _NO_LOGPROBS),
    ("tool_choice", lambda asked: asked.tool_choice not in (None, "none", "auto"), _NO_TOOLS),
    ("function_call", lambda asked: asked.function_call not in (None, "none", "auto"), _NO_TOOLS),
    (
        "response_format.type",
        lambda asked: asked.response_format is not None and asked.response_format.type != "text",
        "an answer is text with citations; send `text`",
    ),
    ("modalities", lambda asked: bool(set(asked.modalities or ()) - {"text"}), "an answer is text; leave it out"),
    ("audio", lambda asked: asked.audio is not None, "an answer is text; leave it out"),
    (
        "web_search_options",
        lambda asked: asked.web_search_options is not None,
        "only the indexed documents are searched; leave it out",
    ),
)


async def check_model(request: web.Request, model: str) -> None:
    """Raises Problem for a model that is no profile."""
    try:
        await request.app[EDGE].profiles.check(model)
    except ProfileError as error:
        raise Problem(404, "model_not_found", f"model: {error}".replace("\n", "; ")) from None


def check_rules[T](rules: Iterable[Rule[T]], asked: T) -> None:
    """Raises Problem for the first field that asks for what cannot be done."""
    for field, asks, why in rules:
        if asks(asked):
            raise unsupported(field, why)


def check_chat(asked: ChatAsked) -> None:
    """Raises Problem for the first field that asks for what cannot be done."""
    check_rules(_RULES, asked)
    for m, message in enumerate(asked.messages):
        for p, part in enumerate(message.content if isinstance(message.content, tuple) else ()):
            if part.type not in ("text", "refusal"):
                field = f"messages[{m}].content[{p}].type"
                raise unsupported(field, f"only text is read, and this is {part.type[:40]!r}; send text parts")


def question_of(
    request: web.Request, asked: ChatAsked, text: str, history: tuple[Turn, ...] = (), *, max_tokens: int | None
) -> QuestionAsked:
    """The question that a request asks. Without a word its run ends with its client, unless a key says that the client comes back.

    Raises Problem.
    """
    key = idempotency_key(request)
    own = {
        "question": text,
        "conversation_history": history,
        "profile": asked.model,
        "constraints": Constraints(max_tokens=min(max_tokens, MOST_TOKENS) if max_tokens else None),
        "on_disconnect": asked.on_disconnect or ("continue" if key else "cancel"),
        "idempotency_key": key,
    }
    return QuestionAsked(**(same_fields(asked, QuestionAsked) | own))
