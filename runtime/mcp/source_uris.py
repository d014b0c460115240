"""The address of a source as a resource: `groundwire://source/ID`, with the characters that are meant where only some are."""

from urllib.parse import parse_qs, quote, unquote, urlsplit

from runtime.source_links import absolute

SCHEME = "groundwire"
PREFIX = f"{SCHEME}://source/"
#: All of them, as RFC 6570 writes it.
TEMPLATE = PREFIX + "{id}{?start,end}"


def source_uri(source_id: str, start: int | None = None, end: int | None = None) -> str:
    place = f"?start={start}&end={end}" if start is not None and end is not None else ""
    return f"{PREFIX}{quote(source_id, safe='')}{place}"


def opened(url: str, base: str, uri: str) -> str:
    """The address at which a client can open a source: its own, its page's, or where there are no pages its resource's."""
    url = absolute(url, base)
    return uri if url.startswith("/") else url


def source_in(uri: str) -> tuple[str, int | None, int | None] | None:
    """The id and the characters that an address names; None for the address of something else."""
    if not uri.startswith(PREFIX):
        return None
    parts = urlsplit(uri)
    source_id = unquote(parts.path.removeprefix("/"))
    asked = parse_qs(parts.query)
    start, end = (_number(asked.get(name, [""])[-1]) for name in ("start", "end"))
    return (source_id, start, end) if source_id else None


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None
