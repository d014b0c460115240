"""The header `Idempotency-Key`: the same key and question of one caller is one run, however often it is sent."""

import hashlib
import re

from aiohttp import web

from bus.wire.subjects import ID_PATTERN
from runtime.edge.problems import Problem
from runtime.edge.routes import parameter

HEADER = "Idempotency-Key"
LONGEST = 255
IDEMPOTENCY_KEY = parameter(
    HEADER,
    "header",
    "The same key and question is the same run of yours, however often it is sent.",
    type="string",
    minLength=1,
    maxLength=LONGEST,
    pattern="^[ -~]*[!-~][ -~]*$",
)

_ID = re.compile(ID_PATTERN)


def idempotency_key(request: web.Request) -> str | None:
    """The key of the header in the form of an id: itself where it is one, else its digest. Raises Problem 400."""
    said = request.headers.getall(HEADER, ())
    if not said:
        return None
    if len(said) > 1:
        raise _bad(f"the request has {len(said)} headers {HEADER}; send one")
    if not 1 <= len(said[0]) <= LONGEST or not said[0].isprintable():
        raise _bad(f"{HEADER} is not 1 to {LONGEST} printable characters; send a UUID or the like")
    if _ID.fullmatch(said[0]):
        return said[0]
    return hashlib.blake2b(
        said[0].encode(errors="surrogateescape"), digest_size=24, person=b"idempotency-key"
    ).hexdigest()


def _bad(detail: str) -> Problem:
    return Problem(400, "bad_idempotency_key", detail)
