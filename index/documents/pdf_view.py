"""`python -m index.documents.pdf_view FD` draws one page of a PDF, with the places of some words on it.

The order comes on standard input, the PDF from the open file FD.

The words may be many, and other users of a machine see what a process was started with: so they are no argument.
A process of its own for each page: a PDF is untrusted, and one that never ends, wants all memory or breaks the library costs only
its own picture.
"""

import contextlib
import ctypes
import hashlib
import io
import os
import re
import resource
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

#: The most pixels of a picture, pixels along one side (WebP has no more), characters of a page that are looked at, and marks.
_PIXELS, _SIDE, _CHARACTERS, _MARKS = 12_000_000, 16_383, 60_000, 400
#: Pieces of what is looked for that say less than this many letters or digits are not looked for alone.
_LEAST = 4
_PIECES = re.compile(r"\n+|\s\|\s|:\s")
#: Exit codes: it is no PDF that can be drawn; there is no such page.
BROKEN, NO_PAGE = 3, 4


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Page `page`, from 1, drawn `width` pixels wide. `words` are looked for near `near`, a share of the page's text (0 to 1).

    `digest` is what the SHA-256 of the PDF must be. `seconds` of processor time and `memory_bytes` are all that may be taken.
    """

    page: int
    width: int
    words: str = ""
    near: float = 0.0
    digest: str = ""
    seconds: int = 15
    memory_bytes: int = 1024**3


class Box(NamedTuple):
    """In points; of what is told, from the upper left corner of the page as it is seen."""

    left: float
    top: float
    right: float
    bottom: float


class Drawn(msgspec.Struct, frozen=True, kw_only=True):
    """A page of `pages`, `width` by `height` points, the `marks` on it, and its picture in WebP."""

    pages: int
    width: float
    height: float
    marks: tuple[Box, ...]
    picture: bytes


def main() -> None:
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, order.seconds),
        (resource.RLIMIT_DATA, order.memory_bytes),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))
    reply = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)  # what a library prints is no picture
    with open(int(sys.argv[-1]), "rb") as file:
        data = file.read()
    if hashlib.sha256(data).hexdigest() != order.digest:
        raise SystemExit(BROKEN)
    reply.write(msgspec.msgpack.encode(draw(data, order)))
    reply.flush()


def draw(data: bytes, order: Order) -> Drawn:
    """Raises SystemExit with BROKEN or NO_PAGE."""
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        document = PdfDocument(data)
        if order.page > len(document):
            raise SystemExit(NO_PAGE)
        page = document[order.page - 1]
        width, height = page.get_size()
        marks = _marks(page, order) if order.words else ()
        scale = min(
            order.width / max(width, 1.0),
            (_PIXELS / max(width * height, 1.0)) ** 0.5,
            (_SIDE - 1) / max(width, height, 1.0),
        )
        picture = io.BytesIO()
        page.render(scale=scale).to_pil().save(picture, "WEBP", quality=85, method=2)
    except PdfiumError:
        raise SystemExit(BROKEN) from None
    return Drawn(pages=len(document), width=width, height=height, marks=tuple(marks), picture=picture.getvalue())


def _marks(page: "PdfPage", order: Order) -> list[Box]:
    text = page.get_textpage()
    characters = [chr(code) for code in _codes(text)]
    letters, places = _letters(characters)
    marked: set[int] = set()
    for found in found_in(letters, order.words, order.near):
        end = places[found.stop - 1] + 1
        while (
            end < len(characters)
            and characters[end].isprintable()
            and not characters[end].isalnum()
            and characters[end] != " "
        ):
            end += 1  # the full stop behind the last word
        marked.update(at for at in range(places[found.start], end) if not characters[at].isspace())
    seen = _Seen(page)
    return [seen.box(box) for box in _lines(Box(*text.get_charbox(at, loose=True)) for at in sorted(marked))][:_MARKS]


def _codes(text: "PdfTextPage") -> Iterator[int]:
    from pypdfium2.raw import FPDFText_GetUnicode

    for at in range(min(text.count_chars(), _CHARACTERS)):
        code = FPDFText_GetUnicode(text, at)
        yield code if code <= sys.maxunicode and not 0xD800 <= code < 0xE000 else 0


def _letters(characters: Iterable[str]) -> tuple[str, list[int]]:
    """The letters and digits alone, in one form, and of which character each is: lines and hyphens divide words differently."""
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(characters):
        for each in unicodedata.normalize("NFKC", character).casefold():
            if each.isalnum():
                letters.append(each)
                places.append(place)
    return "".join(letters), places


def found_in(letters: str, words: str, near: float = 0.0) -> list[range]:
    """Where the words stand among a page's letters: all of them at once, else piece by piece, else what they share with it."""
    wanted, _ = _letters(words)
    at = int(near * len(letters))
    if not wanted:
        return []
    if (whole := _nearest(letters, wanted, at)) is not None:
        return [whole]
    found: list[range] = []
    missed = 0
    for piece in _PIECES.split(words):
        part, _ = _letters(piece)
        place = _nearest(letters, part, found[-1].stop if found else at) if len(part) >= _LEAST else None
        if place is not None:
            found.append(place)
        else:
            missed += len(part)
    if missed <= sum(map(len, found)):
        return found
    if len(wanted) * len(letters) > 60_000_000:
        return found
    shared = SequenceMatcher(None, letters, wanted, autojunk=False).get_matching_blocks()
    return [range(block.a, block.a + block.size) for block in shared if block.size >= 2 * _LEAST] or found


def _nearest(letters: str, wanted: str, at: int) -> range | None:
    before, behind = letters.rfind(wanted, 0, at + len(wanted)), letters.find(wanted, at)
    places = [place for place in (before, behind) if place >= 0]
    if not places:
        return None
    best = min(places, key=lambda place: abs(place - at))
    return range(best, best + len(wanted))


def _lines(boxes: Iterable[Box]) -> Iterator[Box]:
    """One box for what stands beside each other in a line; in the page's own directions, upwards."""
    line: Box | None = None
    for box in boxes:
        if line is not None and _beside(line, box):
            line = Box(
                min(line.left, box.left),
                min(line.top, box.top),
                max(line.right, box.right),
                max(line.bottom, box.bottom),
            )
            continue
        if line is not None:
            yield line
        line = box
    if line is not None:
        yield line


def _beside(line: Box, box: Box) -> bool:
    height = box.bottom - box.top
    gap = max(box.left - line.right, line.left - box.right)
    return min(line.bottom, box.bottom) - max(line.top, box.top) > height / 2 and gap < 1.5 * height


class _Seen:
    """Places on a page as it is seen: turned and cut as it says."""

    def __init__(self, page: "PdfPage") -> None:
        self._page = page
        self._size = page.get_size()

    def box(self, box: Box) -> Box:
        one, other = self._point(box.left, box.top), self._point(box.right, box.bottom)
        return Box(min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1]))

    def _point(self, x: float, y: float) -> tuple[float, float]:
        from pypdfium2.raw import FPDF_PageToDevice

        fine = 20  # parts of a point
        across, down = ctypes.c_int(), ctypes.c_int()
        width, height = (round(fine * each) for each in self._size)
        FPDF_PageToDevice(self._page, 0, 0, width, height, 0, x, y, across, down)
        return across.value / fine, down.value / fine


if __name__ == "__main__":
    main()
