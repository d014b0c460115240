"""A page of a PDF as a picture, with boxes around some words, drawn in a child process: a PDF is untrusted.

`python -m index.documents.pdf_view FD` reads an order (child.py) and the PDF from the open file FD.
Other users of a machine see the arguments of a process, so the words are none.
"""

import hashlib
import io
import re
import sys
import unicodedata
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import IO, TYPE_CHECKING, NamedTuple

import msgspec

from index.child import Child, limit, requests

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfPosConv

PROGRAM = (sys.executable, "-P", "-m", "index.documents.pdf_view")
#: The longest that a page may take, in seconds.
DRAW_S = 20.0
#: The most pixels of a picture, pixels along one side (WebP has no more), characters of a page that are searched, and boxes.
_PIXELS, _SIDE, _CHARACTERS, _MARKS = 12_000_000, 16_383, 60_000, 400
#: A part of the words is searched alone when it has at least this many letters or digits.
_LEAST = 4
_PUNCTUATION = frozenset(".,;:!?%)。，、；：！？）")
#: Accents, which some PDFs have apart from their letter.
_ACCENTS = re.compile("[\u02c6\u02c7\u0300-\u036f]")
_PARTS = re.compile(r"\n+|\s\|\s|:\s")


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Page `page`, from 1, drawn `width` pixels wide. `words` are searched near `near`, a share of the page's text (0 to 1).

    `digest` is the SHA-256 of the PDF. `seconds` of processor time and `memory_bytes` are the limits of the child.
    """

    page: int
    width: int
    words: str = ""
    near: float = 0.0
    digest: str = ""
    seconds: int = 15
    memory_bytes: int = 1024**3


class Box(NamedTuple):
    """In points from the top left of the page as displayed."""

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


class NotDrawn(Exception):
    """The page cannot be drawn; the message is the reason."""


_replies = msgspec.msgpack.Decoder(Drawn | str)


def drawn_in_child(file: IO[bytes], order: Order) -> Drawn:
    """Blocks until the page is drawn. Raises NotDrawn."""
    with Child((*PROGRAM, str(file.fileno())), pass_fds=(file.fileno(),)) as child:
        child.send(order)
        try:
            data = child.reply(DRAW_S)
        except TimeoutError:
            raise NotDrawn(f"drawing the page takes longer than {DRAW_S:g} s") from None
    reply = "the page cannot be drawn: the file is damaged, or drawing it takes too much"
    if data is not None and isinstance(reply := _replies.decode(data), Drawn):
        return reply
    raise NotDrawn(reply)


def main() -> None:
    orders, send = requests(Order)
    order = next(orders)
    limit(memory_bytes=order.memory_bytes, processor_s=order.seconds)
    with open(int(sys.argv[-1]), "rb") as file:
        data = file.read()
    try:
        if hashlib.sha256(data).hexdigest() == order.digest:
            send(draw(data, order))
    except NotDrawn as reason:
        send(str(reason))


def draw(data: bytes, order: Order) -> Drawn:
    """Raises NotDrawn for a page that the PDF does not have, PdfiumError for a damaged PDF."""
    from pypdfium2 import PdfDocument

    document = PdfDocument(data)
    if order.page > len(document):
        raise NotDrawn(f"the document has no page {order.page}")
    page = document[order.page - 1]
    width, height = page.get_size()
    scale = min(
        order.width / max(width, 1.0),
        (_PIXELS / max(width * height, 1.0)) ** 0.5,
        (_SIDE - 1) / max(width, height, 1.0),
    )
    bitmap, picture = page.render(scale=scale), io.BytesIO()
    marks = _marks(page, bitmap.get_posconv(page), scale, order) if order.words else ()
    bitmap.to_pil().save(picture, "WEBP", quality=85, method=2)
    return Drawn(pages=len(document), width=width, height=height, marks=tuple(marks), picture=picture.getvalue())


def _marks(page: "PdfPage", position: "PdfPosConv", scale: float, order: Order) -> Iterable[Box]:
    """A box around each line of the words."""
    from pypdfium2.raw import FPDFText_GetUnicode

    text = page.get_textpage()
    codes = (FPDFText_GetUnicode(text, at) for at in range(min(text.count_chars(), _CHARACTERS)))
    characters = [chr(code) if code <= sys.maxunicode and not 0xD800 <= code < 0xE000 else "\0" for code in codes]
    letters, indexes = _letters(characters)
    boxes: list[Box] = []
    for match in matches(letters, order.words, order.near):
        start, end = indexes[match.start], indexes[match.stop - 1] + 1
        while end < len(characters) and characters[end] in _PUNCTUATION:
            end += 1
        for number in range(text.count_rects(start, end - start)):
            left, bottom, right, top = text.get_rect(number)
            x, y = zip(position.to_bitmap(left, top), position.to_bitmap(right, bottom), strict=True)
            boxes.append(Box(min(x) / scale - 1, min(y) / scale - 1, max(x) / scale + 1, max(y) / scale + 1))
    return boxes[:_MARKS]


def _letters(characters: Iterable[str]) -> tuple[str, list[int]]:
    """The letters and digits alone, without case and accents, and their characters' indexes.

    Lines and hyphens divide words differently.
    """
    letters: list[str] = []
    indexes: list[int] = []
    for index, character in enumerate(characters):
        plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", character))
        for each in unicodedata.normalize("NFC", plain).casefold().replace("\u0131", "i"):
            if each.isalnum():
                letters.append(each)
                indexes.append(index)
    return "".join(letters), indexes


def matches(letters: str, words: str, near: float = 0.0) -> list[range]:
    """The words among a page's letters: all of them in one stretch, else part by part, else the stretches in common."""
    wanted, _ = _letters(words)
    at = int(near * len(letters))
    if not wanted:
        return []
    if (whole := _nearest(letters, wanted, at)) is not None:
        return [whole]
    parts: list[range] = []
    missed = 0
    for each in _PARTS.split(words):
        part, _ = _letters(each)
        match = _nearest(letters, part, parts[-1].stop if parts else at) if len(part) >= _LEAST else None
        if match is not None:
            parts.append(match)
        else:
            missed += len(part)
    if missed <= sum(map(len, parts)) or len(wanted) * len(letters) > 60_000_000:
        return parts
    shared = SequenceMatcher(None, letters, wanted, autojunk=False).get_matching_blocks()
    return [range(block.a, block.a + block.size) for block in shared if block.size >= 2 * _LEAST] or parts


def _nearest(letters: str, wanted: str, at: int) -> range | None:
    starts = [start for start in (letters.rfind(wanted, 0, at + len(wanted)), letters.find(wanted, at)) if start >= 0]
    best = min(starts, key=lambda start: abs(start - at), default=None)
    return None if best is None else range(best, best + len(wanted))


if __name__ == "__main__":
    main()
