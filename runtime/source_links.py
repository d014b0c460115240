"""Addresses of sources as a client opens them: ours are made whole, and told from those of the web."""

from urllib.parse import urlsplit


def absolute(url: str, base: str) -> str:
    """An address that may be one of ours without a host, as a client at `base` (`https://host:port`) can open it."""
    return f"{base.rstrip('/')}{url}" if url.startswith("/") and not url.startswith("//") and base else url


def is_web(url: str) -> bool:
    """Whether an address leads to the web, and not to a page of our own."""
    return urlsplit(url).scheme in ("http", "https")
