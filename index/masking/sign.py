"""The sign of a mask, and what it leaves of a number."""

from collections.abc import Iterable
from typing import Final

#: Looks like a star and is no mark of Markdown, which would take stars for emphasis.
MASK: Final = "\u2217"
#: How many digits of a number remain, so that people recognise their own.
KEPT: Final = 4


def all_but_last(text: str, start: int, end: int, kept: int = KEPT) -> Iterable[int]:
    """The places of the letters and digits of `text[start:end]`, without the last ones."""
    positions = [at for at in range(start, end) if text[at].isalnum()]
    return positions[: len(positions) - kept]
