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
    keys = request.headers.getall(HEADER, ())
    if not keys:
        return None
    if len(keys) > 1:
        raise _bad(f"the request has {len(keys)} headers {HEADER}; send one")
    if not 1 <= len(keys[0]) <= LONGEST or not keys[0].isprintable():
        raise _bad(f"{HEADER} is not 1 to {LONGEST} printable characters; send a UUID or the like")
    if _ID.fullmatch(keys[0]):
        return keys[0]
    return hashlib.blake2b(
        keys[0].encode(errors="surrogateescape"), digest_size=24, person=b"idempotency-key"
    ).hexdigest()


def _bad(detail: str) -> Problem:
    return Problem(400, "bad_idempotency_key", detail)
