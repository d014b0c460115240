"""Where a source can be opened: the address of its page, and that of a place in it."""

from urllib.parse import quote, urlsplit

#: What a source's address begins with, on the page and in the API.
PAGES = "/sources/"


def source_path(source_id: str, start: int | None = None, end: int | None = None) -> str:
    """The address of a source's page without its host; `start` and `end` are the characters to show, as in a citation."""
    place = f"?start={start}&end={end}" if start is not None and end is not None else ""
    return f"{PAGES}{quote(source_id, safe='/')}{place}"


def absolute(url: str, base: str) -> str:
    """An address that may be one of ours without a host, as a client at `base` (`https://host:port`) can open it."""
    return f"{base.rstrip('/')}{url}" if url.startswith("/") and not url.startswith("//") and base else url


def is_web(url: str) -> bool:
    """Whether an address leads to the web, and not to a page of our own."""
    return urlsplit(url).scheme in ("http", "https")
