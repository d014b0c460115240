"""Where a source can be opened: the address of its page, and that of a place in it."""

from urllib.parse import urlsplit

from index.source_paths import PAGES, source_path

__all__ = ["PAGES", "absolute", "is_web", "source_path"]


def absolute(url: str, base: str) -> str:
    """An address that may be one of ours without a host, as a client at `base` (`https://host:port`) can open it."""
    return f"{base.rstrip('/')}{url}" if url.startswith("/") and not url.startswith("//") and base else url


def is_web(url: str) -> bool:
    """Whether an address leads to the web, and not to a page of our own."""
    return urlsplit(url).scheme in ("http", "https")
