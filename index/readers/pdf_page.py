"""The words of a PDF page with their places, in the direction in which the page is read.

Places are in points from the upper left corner of the page as a reader turns it: a page set sideways, or in lines that run
downwards, is turned so that lines run to the right and follow each other downwards.
"""

import ctypes
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from index.languages.scripts import HANGUL, WIDE

if TYPE_CHECKING:
    from PIL.Image import Image
    from pypdfium2 import PdfPage

#: What stands for a hyphen that may only divide a word at the end of a line.
DIVIDED = "\u00ad"
#: PDFium's own marks for that.
_HYPHEN = re.compile("[\x02\ufffe]")
_WORD = re.compile(r"[^\s\0]+")
_LINE = re.compile(r"[^\s\0][^\r\n]*")
_INNER_DIGIT = re.compile(r"[^\d]\d")
#: Ligatures and the shapes that a letter takes within a word.
_SHAPES = re.compile(f"[{chr(0xFB00)}-{chr(0xFDFF)}{chr(0xFE70)}-{chr(0xFEFE)}]+")
_BOLD = re.compile(r"(?i:bold|black|heavy|semibd|demi)|BX\d")
_FIXED = re.compile(r"(?i:mono|courier|consol|menlo|typewriter)|NimbusMon|TT\d")
_WIDE, _UPRIGHT = re.compile(f"[{WIDE}]"), re.compile(f"[{WIDE}{HANGUL}]")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_MOST_OBJECTS = 5000
#: Text is recognised in pictures with so many dots in a point: 300 an inch.
SCALE = 300 / 72
_MOST_DOTS = 40_000_000


_Box = tuple[float, float, float, float]  # left, right, bottom, top
#: Letters of one font and size differ so little in height and place, as a share of the size.
_SLACK = 0.04
_Style = tuple[float, bool, bool, int]


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
    """`aside`: what is set in another direction than the page, such as a stamp."""

    number: int
    height: float
    runs: list[Run]
    aside: str
    rules: list[Rule]


class _Word(NamedTuple):
    text: str
    box: _Box
    size: float
    bold: bool
    fixed: bool
    angle: int  # of its line: 0, 90, 180 or 270 degrees; -1 for anything else
    before: str  # what stands between it and the word before: a space, a line break or nothing


def read_page(page: "PdfPage", number: int) -> Page:
    """The runs of a page in the order of the file. Raises PdfiumError."""
    words = list(_words(page))
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


def _upright(box: _Box) -> _Box:
    return box[0], box[1], -box[3], -box[2]


def _turned(angle: int, box: _Box) -> tuple[float, float, float, float]:
    """A box as left, right, top, bottom when the text at this angle is read; the vertical axis points downwards."""
    left, right, bottom, top = box
    if angle == 90:
        return bottom, top, left, right
    if angle == 180:
        return -right, -left, bottom, top
    if angle == 270:
        return -top, -bottom, -right, -left
    return _upright(box)


def _words(page: "PdfPage") -> Iterator[_Word]:
    """PDFium's order keeps a line together, and its letters in the order in which they are read, also from the right."""
    from pypdfium2 import raw

    text_page, rect = page.get_textpage(), raw.FS_RECTF()
    handle = text_page.raw
    at_rect = ctypes.byref(rect)

    def box(at: int) -> _Box:
        raw.FPDFText_GetLooseCharBox(handle, at, at_rect)
        return rect.left, rect.right, rect.bottom, rect.top

    style_of = _styles(handle)
    text, end = _text(handle), 0
    for line in _LINE.finditer(text):
        for plain, found in groupby(_WORD.finditer(text, line.start(), line.end()), _is_plain):
            if plain:
                words = list(found)
                before = "\n" if words[0].start() == line.start() and end else " " if end else ""
                yield from _together(words, box, style_of, before)
                end = words[-1].end()
                continue
            for word in found:
                gap, end = text[end : word.start()], word.end()
                first = word.start()
                before = "\n" if "\n" in gap or "\r" in gap else " " if gap else ""
                around = box(first)
                style = style_of(first, around)
                for at in _checked(word[0], first):
                    if not _goes_on(around, letter := box(at)):
                        yield _Word(_visible(text[first:at]), _hull(around, box(at - 1)), *style, before)
                        first, around, before = at, letter, ""
                        style = style_of(first, letter)
                    else:
                        around = _hull(around, letter)
                yield _Word(_visible(text[first:end]), _hull(around, box(end - 1)), *style, before)


def _is_plain(word: re.Match[str]) -> bool:
    """Whether its letters need no look: no digit of it may be raised, and it never runs downwards."""
    return word[0].isascii() and (word[0].isalpha() or not _INNER_DIGIT.search(word[0]))


def _together(
    words: list[re.Match[str]], box: Callable[[int], _Box], style_of: Callable[[int, _Box], _Style], before: str
) -> Iterator[_Word]:
    """The words of a line, together as far as usual spaces part those of one style."""
    texts: list[str] = []
    left = right = bottom = top = 0.0
    style: _Style = (0, False, False, 0)
    for word in words:
        at, end = word.span()
        first, last = box(at), box(end - 1)
        own = style_of(at, first)
        slack = _SLACK * own[0]
        if (
            own is style
            and -slack < first[2] - bottom < slack
            and -slack < first[3] - top < slack
            and 0 <= first[0] - right <= 0.5 * own[0]
        ):
            texts.append(word[0])
            right = last[1]
            continue
        if texts:
            yield _Word(" ".join(texts), (left, right, bottom, top), *style, before)
            before = " "
        texts, style = [word[0]], own
        left, right, bottom, top = _hull(first, last)
    yield _Word(" ".join(texts), (left, right, bottom, top), *style, before)


def _text(handle: object) -> str:
    """One character for each of PDFium's."""
    from pypdfium2 import raw

    count = raw.FPDFText_CountChars(handle)
    buffer = (ctypes.c_ushort * (count + 1))()
    if raw.FPDFText_GetText(handle, 0, count, buffer) == count + 1:
        whole = bytes(buffer)[:-2].decode("utf-16-le", "replace")
        if len(whole) == count:
            return whole
    codes = (raw.FPDFText_GetUnicode(handle, at) for at in range(count))
    return "".join(chr(code) if not 0xD800 <= code < 0xE000 else "\ufffd" for code in codes)


def _checked(word: str, start: int) -> Iterator[int]:
    """The letters whose place is looked at: digits that may be raised, and all where lines may run downwards."""
    if word.isascii():
        if not word.isalpha():
            yield from (start + found.end() - 1 for found in _INNER_DIGIT.finditer(word))
        return
    upright = _UPRIGHT.search(word) is not None
    for at in range(1, len(word)):
        if upright or (word[at].isdecimal() and not word[at - 1].isdecimal()):
            yield start + at


def _visible(word: str) -> str:
    """The word as it is drawn: ligatures and shapes as letters, a hyphen within it as one."""
    if word.isascii():
        return word
    word = _HYPHEN.sub(DIVIDED, _SHAPES.sub(_letters, word))
    return word[:-1].replace(DIVIDED, "-") + word[-1:]


def _hull(one: _Box, two: _Box) -> _Box:
    return min(one[0], two[0]), max(one[1], two[1]), min(one[2], two[2]), max(one[3], two[3])


def _goes_on(around: _Box, letter: _Box) -> bool:
    """Whether a letter belongs to the word in `around`: as high as that, and beside it, or as wide and below it."""
    left, right, bottom, top = around
    height, width = top - bottom, right - left
    if (
        abs(letter[3] - letter[2] - height) < 0.15 * height
        and min(letter[3], top) - max(letter[2], bottom) > 0.5 * height
    ):
        return True
    return (
        abs(letter[1] - letter[0] - width) < 0.25 * width and min(letter[1], right) - max(letter[0], left) > 0.5 * width
    )


def _styles(handle: object) -> Callable[[int, _Box], _Style]:
    """Size in points, whether bold, whether of fixed width, and the angle, of a letter in this box.

    It is asked once for each text object, or for those that follow each other on a line in one font and as high.
    """
    from pypdfium2 import raw

    known: dict[int, _Style] = {}
    fonts: dict[int, tuple[bool, bool]] = {}
    matrix, flags, name, size = raw.FS_MATRIX(), ctypes.c_int(), ctypes.create_string_buffer(80), ctypes.c_float()
    get_object, address_of = raw.FPDFText_GetTextObject, ctypes.addressof

    recent: dict[int, tuple[float, float, _Style]] = {}

    def style(at: int, box: _Box) -> _Style:
        part = get_object(handle, at)
        address = address_of(part.contents) if part else 0
        if address in known:
            return known[address]
        font = raw.FPDFTextObj_GetFont(part) if part else None
        face = address_of(font.contents) if font else 0
        if face in recent:
            bottom, top, found = recent[face]
            slack = _SLACK * found[0]
            if -slack < box[2] - bottom < slack and -slack < box[3] - top < slack:
                known[address] = found
                return found
        if face not in fonts:
            raw.FPDFText_GetFontInfo(handle, at, name, 80, flags)
            called = name.value.decode("utf-8", "replace")
            bold = _BOLD.search(called) is not None or raw.FPDFText_GetFontWeight(handle, at) >= 650
            fonts[face] = bold, bool(flags.value & 1) or _FIXED.search(called) is not None
        raw.FPDFText_GetMatrix(handle, at, matrix)
        angle = 0
        if matrix.b or matrix.a < 0:
            quarter = math.degrees(math.atan2(matrix.b, matrix.a)) / 90
            angle = round(quarter) % 4 * 90 if abs(quarter - round(quarter)) < 0.05 else -1
        points = (
            raw.FPDFTextObj_GetFontSize(part, size) and size.value if part else raw.FPDFText_GetFontSize(handle, at)
        )
        found = points * math.hypot(matrix.c, matrix.d), *fonts[face], angle
        if angle == 0:
            recent[face] = box[2], box[3], found
        known[address] = found
        return found

    return style


def _runs_downwards(words: list[_Word]) -> bool:
    """Whether Chinese, Japanese or Korean stands in lines that run downwards, the first at the right."""
    votes: Counter[bool] = Counter()
    before: _Word | None = None
    for word in words:
        if not _UPRIGHT.match(word.text):
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


def _runs(words: Iterable[_Word], frame: int, across: float, down: float) -> Iterator[Run]:
    """Words of one line joined as far as no gap parts them that is wider than a letter is high."""
    growing: _Growing | None = None
    for word in words:
        left, right, top, bottom = _turned(frame, word.box)
        place = left - across, right - across, top - down, bottom - down
        if growing is None or not growing.take(word, *place):
            if growing is not None:
                yield growing.run()
            growing = _Growing(word, *place)
    if growing is not None:
        yield growing.run()


class _Growing:
    """A run that may go on. Its size and height are those of most letters: a bullet says nothing of its line.

    It is of fixed width when only Han and Hangul in it are not, which fonts for code lack.
    """

    __slots__ = ("_bold", "_bottom", "_fixed", "_left", "_plain", "_right", "_size", "_sizes", "_texts", "_top")

    def __init__(self, word: _Word, left: float, right: float, top: float, bottom: float) -> None:
        self._texts = [word.text]
        self._left, self._right, self._top, self._bottom = left, right, top, bottom
        self._size, self._sizes = word.size, {word.size: len(word.text)}
        self._bold, self._fixed = len(word.text) * word.bold, len(word.text) * word.fixed
        self._plain = not word.fixed

    def take(self, word: _Word, left: float, right: float, top: float, bottom: float) -> bool:
        """Add a word, unless it stands on another line or too far off."""
        shared = (bottom if bottom < self._bottom else self._bottom) - (top if top > self._top else self._top)
        gap = left - self._right if left > self._left else self._left - right
        size, text = self._size, word.text
        if gap > size or gap < -0.5 * size or shared < 0.5 * min(self._bottom - self._top, bottom - top):
            return False
        text = raised(text, size, self._bottom, word.size, bottom)
        if word.before and (gap > 0.5 * size or not _close(self._texts[-1], word, gap / size if size else 1)):
            self._texts.append(" ")
        self._texts.append(text)
        self._left = min(self._left, left)
        self._right = max(self._right, right)
        self._bold += len(text) * word.bold
        self._fixed += len(text) * word.fixed
        self._plain = self._plain or not (word.fixed or _UPRIGHT.match(text))
        self._sizes[word.size] = self._sizes.get(word.size, 0) + len(text)
        if word.size != size and self._sizes[word.size] > self._sizes[size]:
            if self._texts[0].isdecimal():  # the mark before a note
                self._texts[0] = raised(self._texts[0], word.size, bottom, size, self._bottom)
            self._size, self._top, self._bottom = word.size, top, bottom
        return True

    def run(self) -> Run:
        letters = sum(self._sizes.values())
        bold, fixed = 2 * self._bold > letters, not self._plain and 2 * self._fixed > letters
        place = self._left, self._right, self._top, self._bottom
        return Run("".join(self._texts), *place, self._size, bold, fixed)


def _close(before: str, word: _Word, gap: float) -> bool:
    """Whether no space stands before a word after all; the gap is measured in its size."""
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


def _letters(shapes: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", shapes[0])


def has_picture(page: "PdfPage") -> bool:
    from pypdfium2 import raw

    return next(iter(page.get_objects([raw.FPDF_PAGEOBJ_IMAGE], max_depth=4)), None) is not None


def drawn(page: "PdfPage") -> "Image":
    """The page as a picture, as sharp as text recognition wants it."""
    width, height = page.get_size()
    picture: Image = page.render(scale=min(SCALE, math.sqrt(_MOST_DOTS / (width * height)))).to_pil()
    return picture


def _thin(page: "PdfPage") -> Iterator[_Box]:
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
