"""Read the HTTP part of a request: its body, `Accept`, the last event, and as much of a conversation as a question takes.

`bus.wire.requests` reads the body's fields, `parameters` the numbers and words in the query.
"""

import asyncio
import contextlib
from collections.abc import Iterable

from aiohttp import hdrs, web
from groundwire.wire import Turn
from msgspec.structs import replace

from runtime.edge.problems import Problem
from runtime.edge.timeouts import TIMEOUTS


async def json_body(request: web.Request, times: int = 1) -> bytes:
    """The body of a JSON request, of at most `times` the usual size. Raises Problem 400, 408, 413, 415."""
    kind = request.content_type
    if kind != "application/json" and not kind.endswith("+json"):
        given = request.headers.get("Content-Type", "none")
        raise Problem(415, "not_json", f"the Content-Type is {given[:100]}; send JSON as application/json")
    most = request.client_max_size * times
    if (request.content_length or 0) > most:
        raise _too_large(most)
    encoding = request.headers.get(hdrs.CONTENT_ENCODING, "")
    if encoding.lower() not in ("", "identity"):
        raise Problem(415, "compressed", f"the Content-Encoding is {encoding[:100]}; send the body uncompressed")
    here = request.content.is_eof()  # most bodies arrive with their headers
    try:
        async with contextlib.nullcontext() if here else asyncio.timeout(request.app[TIMEOUTS].body_s):
            return await (request if times == 1 else request.clone(client_max_size=most)).read()
    except web.HTTPRequestEntityTooLarge:
        raise _too_large(most) from None
    except TimeoutError:
        raise Problem(408, "slow_body", "the body did not arrive in time; send it at once") from None
    except web.RequestPayloadError:
        raise Problem(400, "bad_body", "the body is cut short") from None


def _too_large(most: int) -> Problem:
    detail = f"the body is larger than {most // 1024} KB; shorten the conversation, the text or the contexts"
    return Problem(413, "too_large", detail)


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


#: How many turns of the conversation a question keeps, and how many characters of each.
TURNS = 50
TURN_CHARS = 4000


def history_of(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """The last turns with text, in order."""
    spoken = [turn for turn in turns if turn.content]
    return tuple(replace(turn, content=turn.content[:TURN_CHARS]) for turn in spoken[-TURNS:])
