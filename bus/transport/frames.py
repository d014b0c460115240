"""Messages as they are read from NATS, before anything in them is decoded."""

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
