"""Characters that a name of a file, an id or a text must not hold, and what is written in their place."""

import unicodedata
from urllib.parse import quote

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
