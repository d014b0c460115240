"""Lone surrogates: JSON can carry them, UTF-8 cannot."""


def without_surrogates(text: str) -> str:
    """The text with a replacement character for every lone surrogate; its length is unchanged."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
