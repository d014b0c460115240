"""Tickets: addresses that open one source for some minutes, for browsers, which send no key when a link is followed.

A ticket names the key that asked for it and the source, and is signed with the installation's secret. It is worth what its key is
worth when it is used: nothing once that was revoked, and never more than its scopes and groups.
"""

import hashlib
import hmac
import re

#: How long a ticket opens its source, in seconds.
VALID_S = 15 * 60
#: The parameter of a query that holds one.
PARAMETER = "ticket"
_TICKET = re.compile(r"([0-9]{1,12})\.([A-Za-z0-9_-]{1,64})\.([0-9a-f]{64})", re.ASCII)


def ticket(secret: bytes, key_id: str, source_id: str, now: float) -> str:
    """A ticket for this source, on behalf of this key."""
    until = int(now) + VALID_S
    return f"{until}.{key_id}.{_signature(secret, until, key_id, source_id)}"


def key_of(secret: bytes, written: str, source_id: str, now: float) -> str | None:
    """The id of the key that a ticket for this source names; None for one that is not ours, for another source, or too old."""
    found = _TICKET.fullmatch(written)
    if found is None:
        return None
    until, key_id = int(found[1]), found[2]
    ours = hmac.compare_digest(found[3], _signature(secret, until, key_id, source_id))
    return key_id if ours and now < until else None


def _signature(secret: bytes, until: int, key_id: str, source_id: str) -> str:
    # Each part but the last is of a kind that holds no line break, so that no two tickets sign the same.
    said = f"source ticket\n{until}\n{key_id}\n{source_id}".encode("utf-8", "surrogatepass")
    return hmac.new(secret, said, hashlib.sha256).hexdigest()
