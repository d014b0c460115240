"""Addresses of sources as a client opens them: ours are made whole."""


def absolute(url: str, base: str) -> str:
    """An address that may be one of ours without a host, as a client at `base` (`https://host:port`) can open it."""
    return f"{base.rstrip('/')}{url}" if url.startswith("/") and not url.startswith("//") and base else url
