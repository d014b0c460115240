"""The file that is checked: its sentences, where each is in it, and its lines."""

from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path

from actors.checking.claims import Claim, claims_of, placed
from index.model import Document
from index.readers import KNOWN_UNREAD, Source, Unreadable, by_suffix, read

#: How a file without a known suffix is read, and text from a pipe.
_PLAIN = ".md"


@dataclass(frozen=True)
class CheckedFile:
    """`written` is the file's text, or what a reader made of it; `lines`: whether its lines are the file's own.

    `places` are the offsets of the claims in `written`.
    """

    name: str
    written: str
    claims: tuple[Claim, ...]
    places: tuple[tuple[int, int], ...]
    lines: bool
    starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        breaks = [at + 1 for at, char in enumerate(self.written) if char == "\n"]
        object.__setattr__(self, "starts", [0, *breaks])

    def line_of(self, at: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        line = bisect_right(self.starts, at)
        return line, at - self.starts[line - 1] + 1


def document_of(name: str, data: bytes) -> Document:
    """The document in a file. Raises Unreadable."""
    suffix = Path(name).suffix.lower()
    if suffix in KNOWN_UNREAD:
        raise Unreadable(KNOWN_UNREAD[suffix])
    return read(Source(data, name, Path(name).stem or name, suffix if suffix in by_suffix() else _PLAIN))


def checked_file(name: str, data: bytes) -> CheckedFile:
    """Raises Unreadable."""
    document = document_of(name, data)
    claims = claims_of(document)
    try:
        written = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        written = "\0"
    if "\0" in written or written.startswith("%PDF"):
        places = tuple((claim.start, claim.end) for claim in claims)
        return CheckedFile(name, document.text, claims, places, lines=False)
    return CheckedFile(name, written, claims, tuple(placed(claims, written)), lines=True)
