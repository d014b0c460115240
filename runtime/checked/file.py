"""A file that is checked, with the place of each sentence in it; and files that are given to check it against."""

from dataclasses import dataclass
from pathlib import Path

from actors.checking.claims import Claim, claims_of, placed
from bus.wire.parts import Passage
from index.model import Document
from index.readers import KNOWN_UNREAD, Source, Unreadable, by_suffix, read
from index.text.passages import cut


@dataclass(frozen=True)
class CheckedFile:
    """`written` is the file's text where it is one, else what a reader made of it; then `pages` are the starts of its pages."""

    name: str
    written: str
    claims: tuple[Claim, ...]
    is_text: bool = True
    pages: tuple[tuple[int, int], ...] = ()

    def line_of(self, at: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        return self.written.count("\n", 0, at) + 1, at - self.written.rfind("\n", 0, at)

    def page_of(self, at: int) -> int | None:
        return next((number for start, number in reversed(self.pages) if start <= at), None)


def checked_file(name: str, data: bytes) -> CheckedFile:
    """Raises Unreadable."""
    document = _document(name, data)
    claims = claims_of(document)
    written = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in written or written.count("\ufffd") > len(written) // 100 or data.startswith(b"%PDF"):
        return CheckedFile(name, document.text, tuple(claims), is_text=False, pages=document.pages)
    return CheckedFile(name, written, tuple(placed(claims, written)))


def passages_of(path: Path) -> list[Passage]:
    """A file as the passages that a search would return, in order. Raises Unreadable, OSError."""
    passages: list[Passage] = []
    for each in cut(_document(str(path), path.read_bytes()), 0):
        shared = {name: getattr(each, name, None) for name in Passage.__struct_fields__}
        given = {name: value for name, value in shared.items() if value is not None}
        passages.append(Passage(**given, score=1.0, score_type="given", snapshot=""))
    return passages


def _document(name: str, data: bytes) -> Document:
    """The document in a file; what has no known suffix is read as Markdown. Raises Unreadable."""
    suffix = Path(name).suffix.lower()
    if suffix in KNOWN_UNREAD:
        raise Unreadable(KNOWN_UNREAD[suffix])
    return read(Source(data, name, Path(name).stem or name, suffix if suffix in by_suffix() else ".md"))
