"""The runs of words of a PDF page with their places, in the direction in which the page is read.

Places are in points from the upper left corner of the page as a reader turns it: a page set sideways, or in lines that run
downwards, is turned so that lines run to the right and follow each other downwards.
"""

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from index.languages.characters import WIDE
from index.readers.pdf_words import FROM_RIGHT_LETTER, UPRIGHT, Box, Word, words_of_page

if TYPE_CHECKING:
    from PIL.Image import Image
    from pypdfium2 import PdfPage

_WIDE = re.compile(f"[{WIDE}]")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_MOST_OBJECTS = 5000
#: Text is recognised in pictures with so many dots in a point: 300 an inch.
SCALE = 300 / 72
_MOST_DOTS = 40_000_000


class Table(NamedTuple):
    """`columns` are empty where its first row does not name them. A row of one cell reaches over all columns.

    `title` is its first row, where that does so; `edges` are the places of its columns, where they are drawn.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    edges: tuple[float, ...] = ()


class Run(NamedTuple):
    """Words of one line without a wide gap between them, or a whole table in drawn lines."""

    text: str
    left: float
    right: float
    top: float
    bottom: float
    size: float
    bold: bool
    fixed: bool
    table: Table | None = None


class Rule(NamedTuple):
    """A drawn line, thin either way, such as tables have."""

    left: float
    right: float
    top: float
    bottom: float


class Page(NamedTuple):
    """`aside`: text in another direction than the page, such as a stamp."""

    number: int
    height: float
    runs: list[Run]
    aside: str
    rules: list[Rule]


def read_page(page: "PdfPage", number: int) -> Page:
    """The runs of a page in the order of the file. Raises PdfiumError."""
    words = list(words_of_page(page))
    letters = Counter({0: 0})
    for word in words:
        letters[word.angle] += len(word.text) * (word.angle >= 0)
    angle = letters.most_common(1)[0][0]
    frame = 270 if angle == 0 and _runs_downwards(words) else angle
    left, bottom, right, top = page.get_bbox()
    across, _, down, end = _turned(frame, (left, right, bottom, top))
    runs = list(_runs((word for word in words if word.angle == angle), frame, across, down))
    aside = " ".join(word.text for word in words if word.angle != angle)
    rules = []
    for box in _thin(page):
        one, two, three, four = _turned(frame, box)
        rules.append(Rule(one - across, two - across, three - down, four - down))
    return Page(number, end - down, runs, aside, rules)


def _turned(angle: int, box: Box) -> tuple[float, float, float, float]:
    """A box as left, right, top, bottom when the text at this angle is read; the vertical axis points downwards."""
    left, right, bottom, top = box
    if angle == 90:
        return bottom, top, left, right
    if angle == 180:
        return -right, -left, bottom, top
    if angle == 270:
        return -top, -bottom, -right, -left
    return box[0], box[1], -box[3], -box[2]


def _runs_downwards(words: list[Word]) -> bool:
    """Whether Chinese, Japanese or Korean is in lines that run downwards, the first at the right."""
    votes: Counter[bool] = Counter()
    before: Word | None = None
    for word in words:
        if not UPRIGHT.match(word.text):
            before = None
            continue
        left, right, bottom, top = word.box
        if len(word.text) > 1:
            votes[top - bottom > 1.5 * (right - left)] += len(word.text)
        elif before is not None:
            same = min(right, before.box[1]) - max(left, before.box[0]) > 0.5 * (right - left)
            votes[same and 0 < before.box[3] - top < 2 * word.size] += 1
        before = word
    return votes[True] > max(4, votes[False])


def _runs(words: Iterable[Word], frame: int, across: float, down: float) -> Iterator[Run]:
    """Words of one line joined as far as no gap parts them that is wider than a letter is high."""
    growing: _Growing | None = None
    for word in words:
        left, right, top, bottom = _turned(frame, word.box)
        position = left - across, right - across, top - down, bottom - down
        if growing is None or not growing.take(word, *position):
            if growing is not None:
                yield growing.run()
            growing = _Growing(word, *position)
    if growing is not None:
        yield growing.run()


class _Growing:
    """A run that may go on. Its size and height are those of most letters: a bullet is no evidence of its line.

    It is of fixed width when only Han and Hangul in it are not, which fonts for code lack. In a line that is read from the left,
    PDFium has words that are read from the right in the order in which they are drawn: `_turn` is where such words begin.
    """

    __slots__ = (
        "_bold",
        "_bottom",
        "_fixed",
        "_left",
        "_plain",
        "_right",
        "_size",
        "_sizes",
        "_texts",
        "_top",
        "_turn",
    )

    def __init__(self, word: Word, left: float, right: float, top: float, bottom: float) -> None:
        self._texts = [word.text]
        self._left, self._right, self._top, self._bottom = left, right, top, bottom
        self._size, self._sizes = word.size, {word.size: len(word.text)}
        self._bold, self._fixed = len(word.text) * word.bold, len(word.text) * word.fixed
        self._plain = not word.fixed
        self._turn = 0 if _is_from_right(word.text) else -1

    def take(self, word: Word, left: float, right: float, top: float, bottom: float) -> bool:
        """Add a word, unless it is on another line or too far off."""
        shared = (bottom if bottom < self._bottom else self._bottom) - (top if top > self._top else self._top)
        gap = left - self._right if left > self._left else self._left - right
        size, text = self._size, word.text
        if gap > size or gap < -0.5 * size or shared < 0.5 * min(self._bottom - self._top, bottom - top):
            return False
        text = raised(text, size, self._bottom, word.size, bottom)
        parted = word.before and (gap > 0.5 * size or not _close(self._texts[-1], word, gap / size if size else 1))
        space = [" "] if parted else []
        if not _is_from_right(text):
            self._turn = -1
        elif self._turn < 0 or left < self._right - 0.5 * size:
            self._turn = len(self._texts) + len(space)
        at = self._turn
        if 0 <= at < len(self._texts):
            self._texts[at:at] = [text, *space]
        else:
            self._texts += [*space, text]
        self._left = min(self._left, left)
        self._right = max(self._right, right)
        self._bold += len(text) * word.bold
        self._fixed += len(text) * word.fixed
        self._plain = self._plain or not (word.fixed or UPRIGHT.match(text))
        self._sizes[word.size] = self._sizes.get(word.size, 0) + len(text)
        if word.size != size and self._sizes[word.size] > self._sizes[size]:
            if self._texts[0].isdecimal():  # the mark before a note
                self._texts[0] = raised(self._texts[0], word.size, bottom, size, self._bottom)
            self._size, self._top, self._bottom = word.size, top, bottom
        return True

    def run(self) -> Run:
        letters = sum(self._sizes.values())
        bold, fixed = 2 * self._bold > letters, not self._plain and 2 * self._fixed > letters
        position = self._left, self._right, self._top, self._bottom
        return Run("".join(self._texts), *position, self._size, bold, fixed)


def _is_from_right(text: str) -> bool:
    return not text.isascii() and FROM_RIGHT_LETTER.search(text) is not None


def _close(before: str, word: Word, gap: float) -> bool:
    """Whether no space precedes a word after all; the gap is measured in its size."""
    if word.before == "\n":
        return gap < 0.2
    return (
        not word.text.isascii()
        and gap < 0.5
        and _WIDE.match(before[-1]) is not None
        and _WIDE.match(word.text) is not None
    )


def raised(text: str, size: float, bottom: float, own_size: float, own_bottom: float) -> str:
    """A footnote's number as the reader sees it, smaller and higher than the line; any other text as it is."""
    higher = own_size < 0.85 * size and own_bottom < bottom - 0.1 * size
    return text.translate(_RAISED) if higher and text.isdecimal() else text


def has_picture(page: "PdfPage") -> bool:
    from pypdfium2 import raw

    return next(iter(page.get_objects([raw.FPDF_PAGEOBJ_IMAGE], max_depth=4)), None) is not None


def drawn(page: "PdfPage") -> "Image":
    """The page as a picture, as sharp as text recognition wants it."""
    width, height = page.get_size()
    picture: Image = page.render(scale=min(SCALE, math.sqrt(_MOST_DOTS / (width * height)))).to_pil()
    return picture


def _thin(page: "PdfPage") -> Iterator[Box]:
    """The drawn lines of a page, and the edges of its rectangles: left, right, bottom, top."""
    from pypdfium2 import raw

    handle = page.raw
    count = raw.FPDFPage_CountObjects(handle)
    if count > _MOST_OBJECTS:
        return
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    for at in range(count):
        part = raw.FPDFPage_GetObject(handle, at)
        if raw.FPDFPageObj_GetType(part) != raw.FPDF_PAGEOBJ_PATH:
            continue
        if not raw.FPDFPageObj_GetBounds(part, left, bottom, right, top):
            continue
        box = left.value, right.value, bottom.value, top.value
        if box[1] - box[0] < 3 or box[3] - box[2] < 3:
            yield box
        elif raw.FPDFPath_CountSegments(part) in (4, 5):
            yield box[0], box[1], box[2], box[2]
            yield box[0], box[1], box[3], box[3]
            yield box[0], box[0], box[2], box[3]
            yield box[1], box[1], box[2], box[3]
