"""Messages as they are read from NATS, before anything in them is decoded."""

from nats.aio.client import Client

#: A message's subject, where to answer, its headers and its body.
type Frame = tuple[bytes, bytes, bytes, bytes]


def status_in(header: bytes) -> str:
    """The status that a server put on a reply (`404`, `503`, `100`…); empty for an ordinary message."""
    words = header.partition(b"\r\n")[0].split(None, 2)
    return words[1].decode() if len(words) > 1 and words[1].isdigit() else ""


def headers_of(header: bytes) -> dict[str, str]:
    """The headers of a stored message; none of them is a status."""
    found: dict[str, str] = Client._parse_header_lines(header.partition(b"\r\n")[2])
    found.pop("Status", None)
    return found
