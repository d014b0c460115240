"""Numbers and words in a request's query, and the header `Idempotency-Key`: the same key and question of one caller is one run."""

from collections.abc import Iterable
from typing import Any

from aiohttp import web

from bus.wire.messages import PRINTABLE
from bus.wire.requests import LONGEST_KEY, is_idempotency_key
from runtime.edge.problems import Problem
from runtime.edge.routes import Document, parameter

LARGEST = 2**40


def check_known(request: web.Request, declared: Iterable[Document], *more: str) -> None:
    """Raises Problem 400 for a parameter that is not declared."""
    if unknown := request.query.keys() - {*more, *(each["name"] for each in declared)}:
        raise Problem(400, "bad_parameter", f"there is no parameter {min(unknown)[:40]!r}; see /openapi.json")


def value_of(request: web.Request, declared: Document) -> Any:
    """A parameter of the query as it is declared: a number or a text; its default, or None, where it is left out.

    Raises Problem 400.
    """
    name, schema = declared["name"], declared["schema"]
    given = request.query.getall(name, [])
    if not given:
        return schema.get("default")
    value = given[0]
    if schema["type"] == "integer":
        least, most = schema["minimum"], schema.get("maximum", LARGEST)
        digits = value.isascii() and value.isdigit() and len(value) <= 19
        if len(given) > 1 or not digits or not least <= int(value) <= most:
            raise Problem(400, "bad_parameter", f"{name}: must be one number from {least} to {most}")
        return int(value)
    if value not in (words := schema.get("enum", (value,))):
        raise Problem(400, "bad_parameter", f"{name}: {value[:40]!r} is none of {', '.join(words)}")
    return value


HEADER = "Idempotency-Key"
IDEMPOTENCY_KEY = parameter(
    HEADER,
    "header",
    "The same key and question is the same run of yours, however often it is sent.",
    type="string",
    minLength=1,
    maxLength=LONGEST_KEY,
    pattern=PRINTABLE,
)


def idempotency_key(request: web.Request) -> str | None:
    """The key of the header. Raises Problem 400."""
    keys = request.headers.getall(HEADER, ())
    if not keys:
        return None
    if len(keys) > 1:
        raise _bad(f"the request has {len(keys)} headers {HEADER}; send one")
    if not is_idempotency_key(keys[0]):
        raise _bad(f"{HEADER} is not 1 to {LONGEST_KEY} printable characters; send a UUID or the like")
    return keys[0]


def _bad(detail: str) -> Problem:
    return Problem(400, "bad_idempotency_key", detail)
