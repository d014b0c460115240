"""Read a request: its body into a Struct, its ids and numbers, what it accepts. Everything wrong is a Problem with the remedy."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from aiohttp import web

from bus.messages import QuestionAsked
from bus.subjects import BadId, check_id
from index.languages.toml_check import problems
from runtime.edge.problems import Problem

LONGEST_QUESTION = 4000

#: Control characters other than tab, line feed and carriage return: no text that a person wrote.
_BINARY = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]")
_NAMES = ("profile", "idempotency_key")
_questions = msgspec.json.Decoder(QuestionAsked)


async def json_body(request: web.Request) -> bytes:
    """The body of a JSON request. Raises Problem: 415, 413 (in the middleware)."""
    kind = request.content_type
    if kind != "application/json" and not kind.endswith("+json"):
        said = request.headers.get("Content-Type", "none")
        raise Problem(415, "not_json", f"the Content-Type is {said[:100]}; send JSON as application/json")
    return await request.read()


def question_of(body: bytes) -> QuestionAsked:
    """The question of a request body. Raises Problem: 400 for what is no JSON, 422 for what is no question."""
    question: QuestionAsked = decode(body, _questions, QuestionAsked)
    check_text("question", question.question)
    if wrong := _bad_name({"profile": question.profile, "idempotency_key": question.idempotency_key}):
        raise Problem(422, "invalid", wrong)  # a pattern that ends in `$` lets a final newline pass
    return question


def decode[T: msgspec.Struct](body: bytes, decoder: msgspec.json.Decoder[T], into: type[T]) -> T:
    """The body as that Struct. Raises Problem."""
    if not body.strip():
        raise Problem(400, "empty_body", "the body is empty; send a JSON object")
    try:
        return decoder.decode(body)
    except UnicodeDecodeError:
        raise Problem(400, "not_utf8", "the body is not UTF-8; send JSON text in UTF-8, not binary data") from None
    except msgspec.ValidationError as error:
        raise Problem(422, "invalid", _explained(body, into, error)) from None
    except msgspec.DecodeError as error:
        raise Problem(400, "not_json", f"the body cannot be read as JSON ({error}); check quotes and escapes") from None


def check_text(name: str, text: str) -> None:
    """Raises Problem for a text that nobody can have written."""
    if not text.strip():
        raise Problem(422, "invalid", f"{name}: is empty; write what you want to know")
    if found := _BINARY.search(text):
        code = f"U+{ord(found.group()):04X}"
        raise Problem(422, "invalid", f"{name}: holds the control character {code}; send plain text")


def path_id(request: web.Request) -> str:
    """The run id of the path. Raises Problem 400."""
    return checked_id(request.match_info["run_id"])


def checked_id(value: str) -> str:
    """Raises Problem 400."""
    try:
        return check_id(value)
    except BadId as error:
        raise Problem(400, "bad_id", str(error)) from None


def last_event_id(request: web.Request) -> int:
    """How far the client has come: `?after=` before `Last-Event-ID`, 0 for neither. Raises Problem 400."""
    raw = request.query.get("after") or request.headers.get("Last-Event-ID") or "0"
    if not (raw.isascii() and raw.isdigit() and len(raw) <= 9):
        raise Problem(
            400, "bad_event_id", f"{raw[:40]!r} is no event id; use the last `id:` you received, a whole number"
        )
    return int(raw)


def wants_json(request: web.Request) -> bool:
    """Whether the client would rather have one JSON answer than a stream: by `Accept`, and a stream when it does not say."""
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
    """What is wrong with a body that is JSON, one sentence for each of the first few problems."""
    raw: Any = msgspec.json.decode(body)
    if not isinstance(raw, dict):
        return f'the body is a JSON {type(raw).__name__}; send an object like {{"question": "…"}}'
    raw.pop("type", None)
    text = raw.get("question")
    if into is QuestionAsked and "question" not in raw:
        return 'question: is missing; send an object like {"question": "…"}'
    if isinstance(text, str) and not text:
        return "question: is empty; write what you want to know"
    if isinstance(text, str) and len(text) > LONGEST_QUESTION:
        return f"question: has {len(text)} characters, {LONGEST_QUESTION} is the most; shorten it"
    if wrong := _bad_name(raw):
        return wrong
    return "; ".join(problems(raw, into)[:3]) or str(error)


def _bad_name(fields: Mapping[str, object]) -> str:
    """What is wrong with the names among a request's fields, empty when nothing is."""
    for name in _NAMES:
        value = fields.get(name)
        if isinstance(value, str):
            try:
                check_id(value)
            except BadId as bad:
                return f"{name}: {bad}"
    return ""
