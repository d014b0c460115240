"""Numbers and words in a request's query, and the header `Idempotency-Key`: the same key and question of one caller is one run."""

from aiohttp import web

from bus.wire.messages import PRINTABLE
from bus.wire.requests import LONGEST_KEY, is_idempotency_key
from runtime.edge.problems import Problem
from runtime.edge.routes import Document, parameter

LARGEST = 2**40


def check_known(request: web.Request, *known: str) -> None:
    """Raises Problem 400 for a parameter that the route does not have."""
    if unknown := request.query.keys() - {*known}:
        raise Problem(400, "bad_parameter", f"there is no parameter {min(unknown)[:40]!r}; see /openapi.json")


def number(request: web.Request, name: str, default: int, *, least: int = 0, most: int = LARGEST) -> int:
    """A parameter that is a number. Raises Problem 400."""
    values = request.query.getall(name, [])
    if not values:
        return min(default, most)
    value = values[0]
    digits = value.isascii() and value.isdigit() and len(value) <= 19
    if len(values) > 1 or not digits or not least <= int(value) <= most:
        raise Problem(400, "bad_parameter", f"{name}: must be one number from {least} to {most}")
    return int(value)


def declared_number(request: web.Request, declared: Document) -> int | None:
    """A parameter by its declaration as a number; None without it. Raises Problem 400."""
    name, bounds = declared["name"], declared["schema"]
    value = request.query.get(name)
    if value is None:
        return None
    if value.isascii() and value.isdigit() and len(value) <= 9 and bounds["minimum"] <= int(value) <= bounds["maximum"]:
        return int(value)
    raise Problem(
        400, "invalid", f"{name}: {value[:40]!r} is no number from {bounds['minimum']} to {bounds['maximum']}"
    )


def declared_word(request: web.Request, declared: Document) -> str | None:
    """A parameter by its declaration as one of a few words; None without it. Raises Problem 400."""
    name, words = declared["name"], declared["schema"]["enum"]
    value = request.query.get(name)
    if value is None or value in words:
        return value
    raise Problem(400, "invalid", f"{name}: {value[:40]!r} is none of {', '.join(words)}")


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
