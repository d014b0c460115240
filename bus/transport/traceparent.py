"""`traceparent` of W3C Trace Context: the trace that a run is part of. It travels in headers, from the client's request on.

https://www.w3.org/TR/trace-context/    VERSION-TRACE_ID-PARENT_ID-FLAGS, in lower-case hexadecimal digits
"""

import hashlib
import re
from dataclasses import dataclass

_FORM = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")


@dataclass(frozen=True, slots=True)
class Parent:
    """`trace_id` and `span_id` in hexadecimal digits. `span_id`: of the client's own span; empty if it has none."""

    trace_id: str
    span_id: str = ""
    sampled: bool = True


def parent_in(header: str | None) -> Parent | None:
    """The value of a header; None for an invalid one, as the standard requires."""
    found = _FORM.fullmatch(header or "")
    if found is None or (found[4] and header is not None and header.startswith("00")):
        return None
    return Parent(found[1], found[2], bool(int(found[3], 16) & 1))


def own(run_id: str) -> Parent:
    """The trace of a run without one from its client: the same in every process."""
    return Parent(hashlib.blake2b(run_id.encode(), digest_size=16, person=b"groundwire-trace").hexdigest())
