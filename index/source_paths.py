"""Where a source of the index can be opened, as a path without a host; and the characters that no name or id may hold."""

import re
import unicodedata
from functools import lru_cache
from urllib.parse import quote

#: What the path of a source's page begins with.
PAGES = "/sources/"
#: What its path in the API begins with.
API = "/v1/sources/"
#: The path of a source's page, with a place in it or without; a number in it counts characters and is nothing else.
PATH = re.compile(rf"{PAGES}[^\s?#]+(?:\?start=(?:0|[1-9]\d{{0,7}})&end=(?:0|[1-9]\d{{0,7}}))?", re.ASCII)
#: An address of the web: no other runs nothing and leads nowhere but there (`javascript:`, `data:`, a path of our own).
_WEB = re.compile(r"https?://[^\s\x00-\x20\\/?#]\S*", re.IGNORECASE)
#: An address that an index may hold: of the web, or as the owner's --base-url has it; nothing that runs.
_OPENABLE = re.compile(r"(?:https?://[^\s\\/?#]|file://|/(?![/\\]))[^\x00-\x1f\x7f]*", re.IGNORECASE)
#: What may follow an id in a path.
_PART_OF_ONE = frozenset(("original", "pages", "link"))


def source_path(source_id: str, start: int | None = None, end: int | None = None) -> str:
    """The address of a source's page without its host; `start` and `end` are the characters to show, as in a citation."""
    position = f"?start={start}&end={end}" if start is not None and end is not None else ""
    return f"{PAGES}{quoted(source_id)}{position}"


@lru_cache(maxsize=4096)
def quoted(source_id: str) -> str:
    """The id in a path: slashes as they are, but where they would make it another path."""
    parts = source_id.split("/")
    plain = not {"", ".", ".."} & {*parts} and not _PART_OF_ONE & {*parts[1:]}
    return quote(source_id, safe="/" if plain else "")


def original_path(source_id: str) -> str:
    """Where the file itself is served."""
    return f"{API}{quoted(source_id)}/original"


def is_ours(url: str) -> bool:
    """Whether an address is the path of a source's page here, and not the document's own address."""
    return url.startswith(PAGES)


def published(url: str) -> str:
    """The document's own address; empty for a path of ours."""
    return "" if is_ours(url) else url


def on_the_web(url: str) -> str:
    """The address where a document is published; empty for addresses that no client should open."""
    return url if _WEB.fullmatch(url) else ""


def openable(url: str) -> str:
    """The address that an index holds of a document; empty for what no client should open, as an older index may have it."""
    return url if _OPENABLE.fullmatch(url) else ""


#: Control characters, breaks of lines and paragraphs, bytes outside UTF-8.
_UNWRITABLE = frozenset(("Cc", "Cs", "Zl", "Zp"))
#: Bidirectional embeddings, overrides and isolates.
_TURNING = frozenset(("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))


def unwritable(character: str) -> bool:
    """Whether a name must not hold this: it steers a terminal, breaks the line or reverses the reading order.

    Spaces and joiners of any script may be in a name; an emoji of several people holds one.
    """
    return unicodedata.category(character) in _UNWRITABLE or unicodedata.bidirectional(character) in _TURNING


def printable(path: str) -> str:
    """The path with what cannot be printed or is not UTF-8 escaped as in a URL."""
    if path.isprintable() and path.isascii():
        return path
    return "".join(c if c.isprintable() else quote(c.encode("utf-8", "surrogateescape")) for c in path)


def without_surrogates(text: str) -> str:
    """The text with a replacement character for every lone surrogate; its length is unchanged."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
