"""Read a request from JSON: a question over HTTP, WebSocket or NATS gets the same checks and messages.

A fault is one sentence, under a code for programs: `empty_body`, `not_utf8`, `not_json`, `invalid` or
`no_such_profile`.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from bus.wire.errors import UNREADABLE, Invalid
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import BadId, check_id
from index.languages.toml_check import problems, unknown_names

LONGEST_QUESTION = 4000
LONGEST_KEY = 255

#: Control characters other than tab, line feed and carriage return; people do not write them.
_BINARY = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]")
_JSON_NAMES = {list: "array", str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}


def parse_body[T: msgspec.Struct](body: bytes, into: type[T]) -> T:
    """The body as the given Struct; of several values of one name the last counts. Raises Invalid."""
    if not body.strip():
        raise Invalid("empty_body", "the body is empty; send a JSON object")
    try:
        return msgspec.json.decode(body, type=into)
    except UnicodeDecodeError:
        raise Invalid("not_utf8", "the body is not UTF-8; send JSON text in UTF-8, not binary data") from None
    except msgspec.ValidationError as error:
        raise _explained(body, into, error) from None
    except msgspec.DecodeError as error:
        raise Invalid("not_json", f"the body is not valid JSON ({error}); check quotes and escapes") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise Invalid("not_json", f"a number in the body cannot be read ({error}); send a smaller one") from None


def parse_question(body: bytes) -> QuestionAsked:
    """The question in a body of any writer. Raises Invalid."""
    question = parse_body(body, QuestionAsked)
    check_question(question)
    return question


def check_question(question: QuestionAsked) -> None:
    """Raises Invalid for a question that fits its schema but cannot be asked."""
    check_text("question", question.question)
    _check_names(msgspec.structs.asdict(question))  # a pattern that ends in `$` lets a final newline pass


def check_text(name: str, text: str) -> None:
    """Raises Invalid for a text that is empty, too long, or contains control characters."""
    if not text.strip():
        raise Invalid("invalid", f"the {name} is empty; write what you want to know", name)
    if len(text) > LONGEST_QUESTION:
        raise Invalid("invalid", f"the {name} has {len(text)} characters; shorten it to {LONGEST_QUESTION}", name)
    if found := _BINARY.search(text):
        code = f"U+{ord(found.group()):04X}"
        raise Invalid("invalid", f"the {name} contains the control character {code}; send plain text", name)


def is_idempotency_key(text: str) -> bool:
    """Whether a header or a field may have this text as its idempotency key."""
    return 1 <= len(text) <= LONGEST_KEY and text.isprintable()


def no_such_profile(why: Exception) -> Invalid:
    """For a question under a profile that does not exist or cannot be used."""
    return Invalid("no_such_profile", f"profile: {why}".replace("\n", "; "))


def _explained(body: bytes, into: type[msgspec.Struct], error: msgspec.ValidationError) -> Invalid:
    """The faults of a JSON body: one sentence each for the first three, unknown names first."""
    try:
        raw: Any = msgspec.json.decode(body)
    except RecursionError:
        raise _too_deep() from None
    except UNREADABLE as unreadable:
        detail = f"the body is not valid JSON ({unreadable}); check quotes, escapes and numbers"
        raise Invalid("not_json", detail) from None
    if not isinstance(raw, dict):
        return Invalid("invalid", f"the body is a JSON {_JSON_NAMES[type(raw)]}; send a JSON object")
    raw.pop("type", None)
    if not unknown_names(raw, into):
        if issubclass(into, QuestionAsked) and "question" not in raw:
            return Invalid("invalid", 'the question is missing; send an object like {"question": "…"}', "question")
        for name in ("question", "query"):
            if isinstance(raw.get(name), str):
                check_text(name, raw[name])
        _check_names(raw)
    return Invalid("invalid", "; ".join(problems(raw, into)[:3]) or str(error))


def _too_deep() -> Invalid:
    return Invalid("not_json", "the body is nested too deeply; send a flat JSON object")


def _check_names(fields: Mapping[str, object]) -> None:
    """Raises Invalid for a name that is not a valid id."""
    key = fields.get("idempotency_key")
    if isinstance(key, str) and not is_idempotency_key(key):
        detail = f"idempotency_key: is not 1 to {LONGEST_KEY} printable characters; send a UUID or the like"
        raise Invalid("invalid", detail)
    for name in ("profile", "conversation"):
        if isinstance(value := fields.get(name), str):
            try:
                check_id(value)
            except BadId as bad:
                raise Invalid("invalid", f"{name}: {bad}") from None
