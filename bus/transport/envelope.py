"""Read messages of any writer: bodies, numbers, times and traces in headers, a message's place in its stream.

An unreadable message is set aside: counted (`groundwire_set_aside_total`) and logged; it never ends its reader.
"""

import hashlib
import logging
import math
import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from bus.wire.errors import UNREADABLE, Poison

log = logging.getLogger("groundwire.bus")

#: Each kind is logged at most this often, in seconds; the counter counts them all.
QUIET_S = 10.0
_DIGITS = 18  # of a number below 2**63
_LATEST_NS = 2**64


class SetAside:
    """What one process could not read: `counts` by kind."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._told: dict[str, float] = {}

    def __call__(self, kind: str, where: str, why: object = "") -> None:
        self.counts[kind] += 1
        now = time.monotonic()
        if now - self._told.get(kind, -math.inf) >= QUIET_S:
            self._told[kind] = now
            log.warning("set aside: %s %.120r cannot be read: %.200s (%d so far)", kind, where, why, self.counts[kind])


#: Of this process.
set_aside = SetAside()


def read[T](decoder: msgspec.json.Decoder[T] | msgspec.msgpack.Decoder[T], data: bytes, what: str) -> T:
    """Decode a body. Raises Poison on any unreadable bytes."""
    try:
        return decoder.decode(data)
    except UNREADABLE as error:
        raise Poison(f"{what} cannot be read: {error}") from None


def count_in(headers: Mapping[str, str], name: str, default: int) -> int:
    """A count in a header, 0 or more; the default when there is none, or none that can be read."""
    raw = headers.get(name)
    if raw is None:
        return default
    if raw.isascii() and raw.isdigit() and len(raw) <= _DIGITS:
        return int(raw)
    set_aside("header", f"{name}: {raw}", "not a count")
    return default


def moment(headers: Mapping[str, str], name: str, *, latest: float) -> float | None:
    """A time in a header, in epoch seconds and at most `latest`; None when there is none, or none that can be read."""
    raw = headers.get(name)
    if raw is None:
        return None
    try:
        found = float(raw)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        set_aside("header", f"{name}: {raw}", "not a time")
        return None
    return min(found, latest)


class Place(msgspec.Struct, frozen=True, gc=False):
    """The position of a consumer's message. `number`: in the consumer. `delivered`: how often. `pending`: how many follow it."""

    delivered: int
    sequence: int
    number: int
    time: float
    pending: int


def place_of(reply: str) -> Place | None:
    """The place that a message's reply subject names; None when it names none.

    `$JS.ACK.<stream>.<consumer>.<delivered>.<sequence>.<number>.<nanoseconds>.<pending>`, or with two more tokens before the
    stream and any after the last.
    """
    parts = reply.split(".")
    if not reply.startswith("$JS.ACK.") or len(parts) not in (9, 11, 12):
        return None
    try:  # once for every event of every run, so that nothing is looked at twice
        delivered, sequence, count, nanoseconds, pending = map(int, parts[4:] if len(parts) == 9 else parts[6:11])
    except ValueError:
        return None
    if delivered < 0 or sequence < 0 or count < 0 or pending < 0 or not 0 <= nanoseconds <= _LATEST_NS:
        return None
    return Place(delivered, sequence, count, nanoseconds / 1e9, pending)


#: A message's subject, where to answer, its headers and its body.
type Frame = tuple[bytes, bytes, bytes, bytes]


_WHITE = " \t\r\n\v\f"


def status_in(header: bytes) -> str:
    """The status that a server put on a reply (`404`, `503`, `100`…); empty for an ordinary message."""
    words = header.partition(b"\r\n")[0].split(None, 2)
    return words[1].decode() if len(words) > 1 and words[1].isdigit() else ""


def header_lines(raw: bytes) -> dict[str, str]:
    """The headers in these lines, the last of each name; without lines that are none."""
    found: dict[str, str] = {}
    for line in raw.decode(errors="replace").split("\r\n"):
        name, colon, value = line.partition(":")
        name = name.strip()
        if colon and name.isascii() and len(name.split()) == 1:
            found[name] = value.strip(_WHITE)
    return found


def headers_of(header: bytes) -> dict[str, str]:
    """The headers of a stored message; none of them is a status."""
    found = header_lines(header.partition(b"\r\n")[2])
    found.pop("Status", None)
    return found


#: https://www.w3.org/TR/trace-context/    VERSION-TRACE_ID-PARENT_ID-FLAGS, in lower-case hexadecimal digits
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
