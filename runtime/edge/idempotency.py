"""The header `Idempotency-Key`: the same key and question of one caller is one run, however often it is sent."""

from aiohttp import web

from bus.wire.messages import PRINTABLE
from bus.wire.requests import LONGEST_KEY, is_idempotency_key
from runtime.edge.problems import Problem
from runtime.edge.routes import parameter

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
