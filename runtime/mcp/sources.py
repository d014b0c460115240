"""The documents: their addresses as resources (`groundwire://source/ID`), and the text that the caller may read."""

from urllib.parse import parse_qs, quote, unquote, urlsplit

import msgspec

from bus.powers.sources import ListAsked, SourceList, SourceText, TextAsked, ask_sources
from index.source_paths import source_path
from runtime.edge.cited import absolute
from runtime.edge.door import check_scope
from runtime.mcp.tools import Peer

PREFIX = "groundwire://source/"
#: All addresses, as an RFC 6570 template.
TEMPLATE = PREFIX + "{id}{?start,end}"
#: The media type of a document's text, whatever its file is.
PLAIN = "text/plain"


def source_uri(source_id: str, start: int | None = None, end: int | None = None) -> str:
    characters = f"?start={start}&end={end}" if start is not None and end is not None else ""
    return f"{PREFIX}{quote(source_id, safe='')}{characters}"


class Stretch(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a document. `start` and `end` are characters of the document, `page` is where it begins."""

    source_id: str
    title: str
    url: str
    uri: str
    page: int | None
    start: int
    end: int


def place_of(source_id: str, title: str, url: str, start: int, end: int, base: str) -> dict[str, object]:
    """The fields of a Stretch that say where it is; `url`: as the index has it, perhaps none."""
    uri = source_uri(source_id, start, end)
    opens = opened(url or source_path(source_id, start, end), base, uri)
    return {"title": title or source_id, "url": opens, "uri": uri, "start": start, "end": end}


def opened(url: str, base: str, uri: str) -> str:
    """The address at which a client can open a source: its own, its page's, or its resource's where there are no pages."""
    url = absolute(url, base)
    return uri if url.startswith("/") else url


def source_in(uri: str) -> tuple[str, int | None, int | None] | None:
    """The id and the characters that an address names; None for any other address."""
    if not uri.startswith(PREFIX):
        return None
    parts = urlsplit(uri)
    source_id = unquote(parts.path.removeprefix("/"))
    query = parse_qs(parts.query)
    start, end = (_number(query.get(name, [""])[-1]) for name in ("start", "end"))
    return (source_id, start, end) if source_id else None


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None


async def text_of(peer: Peer, source_id: str, start: int, end: int) -> SourceText:
    """A stretch of a document's text, at most LONGEST characters. Raises Problem 403, NoSuchSource, NotServed, Unavailable."""
    check_scope(peer.caller, "search")
    edge = await peer.edge()
    wanted = TextAsked(source_id=source_id, start=start, end=end, groups=peer.caller.groups)
    return await ask_sources(edge.runs.client, wanted, SourceText, timeout_s=edge.timeouts.search_s)


async def list_of(peer: Peer, after: str) -> SourceList:
    """The hundred documents whose ids follow `after`. Raises Problem 403, Unavailable."""
    check_scope(peer.caller, "search")
    edge = await peer.edge()
    wanted = ListAsked(after=after, most=100, groups=peer.caller.groups)
    return await ask_sources(edge.runs.client, wanted, SourceList, timeout_s=edge.timeouts.search_s)
