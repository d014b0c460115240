"""Tickets: addresses that open one source for some minutes, for browsers, which send no key when a link is followed.

A ticket names its key and the source, and is signed with the installation's secret. It has the rights of its key at the time of
use: none once the key is revoked, and never more than its scopes and groups.
"""

import hashlib
import hmac
import re

#: How long a ticket opens its source, in seconds.
VALID_S = 15 * 60
#: The query parameter that holds a ticket.
PARAMETER = "ticket"
_TICKET = re.compile(r"([0-9]{1,12})\.([A-Za-z0-9_-]{1,64})\.([0-9a-f]{64})", re.ASCII)


def ticket(secret: bytes, key_id: str, source_id: str, now: float) -> str:
    until = int(now) + VALID_S
    return f"{until}.{key_id}.{_signature(secret, until, key_id, source_id)}"


def key_of(secret: bytes, written: str, source_id: str, now: float) -> str | None:
    """The id of the key of a ticket for this source; None if it is forged, for another source, or too old."""
    match = _TICKET.fullmatch(written)
    if match is None:
        return None
    until, key_id = int(match[1]), match[2]
    ours = hmac.compare_digest(match[3], _signature(secret, until, key_id, source_id))
    return key_id if ours and now < until else None


def _signature(secret: bytes, until: int, key_id: str, source_id: str) -> str:
    # Each part but the last is of a kind that holds no line break, so that no two tickets sign the same.
    signed = f"source ticket\n{until}\n{key_id}\n{source_id}".encode("utf-8", "surrogatepass")
    return hmac.new(secret, signed, hashlib.sha256).hexdigest()
