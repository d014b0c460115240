"""Parse a request: its body into a Struct, its ids, numbers and `Accept`. Invalid input raises a Problem with its remedy."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

import msgspec
from aiohttp import web

from bus.messages import QuestionAsked
from bus.subjects import BadId, check_id
from index.languages.toml_check import problems
from runtime.edge.problems import Problem
from runtime.edge.timeouts import TIMEOUTS

LONGEST_QUESTION = 4000

#: Control characters other than tab, line feed and carriage return; people do not write them.
_BINARY = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]")
_JSON_NAMES = {list: "array", str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}


#: What reading JSON may raise: msgspec's own, text that is not UTF-8, nesting too deep, a number of thousands of digits.
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError)


async def json_body(request: web.Request) -> bytes:
    """The body of a JSON request. Raises Problem 400, 408, 415; the middleware adds 413."""
    kind = request.content_type
    if kind != "application/json" and not kind.endswith("+json"):
        said = request.headers.get("Content-Type", "none")
        raise Problem(415, "not_json", f"the Content-Type is {said[:100]}; send JSON as application/json")
    try:
        async with asyncio.timeout(request.app[TIMEOUTS].body_s):
            return await request.read()
    except TimeoutError:
        raise Problem(408, "slow_body", "the body did not arrive in time; send it at once") from None
    except web.RequestPayloadError:
        raise Problem(400, "bad_body", "the body is cut short, or not encoded as its headers say") from None


def decode_json[T](body: bytes, into: type[T]) -> T:
    """The JSON as the given type; of several values of one name the last counts. Raises UNREADABLE."""
    return msgspec.json.decode(body, type=into)


def parse_body[T: msgspec.Struct](body: bytes, into: type[T]) -> T:
    """The body as the given Struct. Raises Problem: 400 if it is not JSON, 422 if it does not fit."""
    if not body.strip():
        raise Problem(400, "empty_body", "the body is empty; send a JSON object")
    try:
        return decode_json(body, into)
    except UnicodeDecodeError:
        raise Problem(400, "not_utf8", "the body is not UTF-8; send JSON text in UTF-8, not binary data") from None
    except msgspec.ValidationError as error:
        raise Problem(422, "invalid", _explained(body, into, error)) from None
    except msgspec.DecodeError as error:
        raise Problem(400, "not_json", f"the body is not valid JSON ({error}); check quotes and escapes") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise Problem(400, "not_json", f"a number in the body cannot be read ({error}); send a smaller one") from None


def check_question(question: QuestionAsked) -> None:
    """Raises Problem for a question that fits its schema but cannot be asked."""
    check_text("question", question.question)
    _check_names(msgspec.structs.asdict(question))  # a pattern that ends in `$` lets a final newline pass


def check_text(name: str, text: str) -> None:
    """Raises Problem for a text that is empty, too long, or contains control characters."""
    if not text.strip():
        raise Problem(422, "invalid", f"the {name} is empty; write what you want to know")
    if len(text) > LONGEST_QUESTION:
        raise Problem(422, "invalid", f"the {name} has {len(text)} characters; shorten it to {LONGEST_QUESTION}")
    if found := _BINARY.search(text):
        code = f"U+{ord(found.group()):04X}"
        raise Problem(422, "invalid", f"the {name} contains the control character {code}; send plain text")


def last_event_id(request: web.Request) -> int:
    """The last event the client received: `?after=`, else `Last-Event-ID`, else 0. Raises Problem 400."""
    raw = request.query.get("after") or request.headers.get("Last-Event-ID") or "0"
    if not (raw.isascii() and raw.isdigit() and len(raw) <= 9):
        detail = f"{raw[:40]!r} is not an event id; use the number of the last `id:` you received"
        raise Problem(400, "bad_event_id", detail)
    return int(raw)


def wants_json(request: web.Request) -> bool:
    """Whether `Accept` prefers one JSON answer to a stream; the default is a stream."""
    weights = {"application/json": 0.0, "text/event-stream": 0.0}
    for part in request.headers.get("Accept", "").split(","):
        kind, _, parameters = part.strip().partition(";")
        if kind.strip().lower() in weights:
            weights[kind.strip().lower()] = _weight(parameters)
    return weights["application/json"] > weights["text/event-stream"]


def _weight(parameters: str) -> float:
    for parameter in parameters.split(";"):
        name, _, value = parameter.strip().partition("=")
        if name == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


def _explained(body: bytes, into: type[msgspec.Struct], error: msgspec.ValidationError) -> str:
    """What is wrong with a JSON body: one sentence each for the first three problems."""
    try:
        raw: Any = msgspec.json.decode(body)
    except RecursionError:
        raise _too_deep() from None
    except UNREADABLE as unreadable:
        detail = f"the body is not valid JSON ({unreadable}); check quotes, escapes and numbers"
        raise Problem(400, "not_json", detail) from None
    if not isinstance(raw, dict):
        return f"the body is a JSON {_JSON_NAMES[type(raw)]}; send a JSON object"
    raw.pop("type", None)
    if into is QuestionAsked and "question" not in raw:
        return 'the question is missing; send an object like {"question": "…"}'
    for name in ("question", "query"):
        if isinstance(raw.get(name), str):
            check_text(name, raw[name])
    _check_names(raw)
    return "; ".join(problems(raw, into)[:3]) or str(error)


def _too_deep() -> Problem:
    return Problem(400, "not_json", "the body is nested too deeply; send a flat JSON object")


def _check_names(fields: Mapping[str, object]) -> None:
    """Raises Problem for a name that is not a valid id."""
    for name in ("profile", "idempotency_key"):
        if isinstance(value := fields.get(name), str):
            try:
                check_id(value)
            except BadId as bad:
                raise Problem(422, "invalid", f"{name}: {bad}") from None
