"""The words of a PDF page with their boxes, sizes and fonts, in PDFium's order of letters."""

import ctypes
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from index.languages.characters import FROM_RIGHT, HANGUL, LETTERS, WIDE

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

#: A soft hyphen, and PDFium's mark for any hyphen at the end of a line, after which it leaves out the line break.
_SOFT, _DIVIDED = "\u00ad", "\ufffe"
#: Accents that old fonts of LaTeX draw apart from their letter, before it or after it. _NOTHING takes the place of one.
_ACCENTS = dict(
    zip(
        "\u00b4`\u02c6\u02dc\u00a8\u02c7\u00b8\u02d8\u02da\u02dd\u02d9\u02db\u00af",
        "\u0301\u0300\u0302\u0303\u0308\u030c\u0327\u0306\u030a\u030b\u0307\u0328\u0304",
        strict=True,
    )
)
_ACCENT = re.compile(f"[{''.join(_ACCENTS)}]")
_DOTLESS = {"\u0131": "i", "\u0237": "j"}
_NOTHING = "\uffff"
_WORD = re.compile(r"[^\s\0]+")
_LINE = re.compile(rf"[^\s\0][^\r\n{_DIVIDED}]*{_DIVIDED}?")
_INNER_DIGIT = re.compile(r"(?<=\D)\d")
#: A letter, but for the second half of one beyond U+FFFF.
_INNER_LETTER = re.compile(rf"(?<=.)[^\udc00-\udfff{_NOTHING}]")
#: Ligatures and the shapes that a letter takes within a word.
_SHAPES = re.compile(f"[{chr(0xFB00)}-{chr(0xFDFF)}{chr(0xFE70)}-{chr(0xFEFE)}]+")
FROM_RIGHT_LETTER = re.compile(f"[{''.join(LETTERS[script] for script in FROM_RIGHT)}]")
_MIRRORED = str.maketrans("()[]{}«»", ")(][}{»«")
_BOLD = re.compile(r"(?i:bold|black|heavy|semibd|demi)|BX\d")
_FIXED = re.compile(r"(?i:mono|courier|consol|menlo|typewriter)|NimbusMon|TT\d")
UPRIGHT = re.compile(f"[{WIDE}{HANGUL}]")
#: Letters of one font and size differ so little in height and place, as a share of the size.
_SLACK = 0.04

Box = tuple[float, float, float, float]  # left, right, bottom, top
_Style = tuple[float, bool, bool, int]


class Word(NamedTuple):
    text: str
    box: Box
    size: float
    bold: bool
    fixed: bool
    angle: int  # of its line: 0, 90, 180 or 270 degrees; -1 for anything else
    before: str  # the text between it and the word before: a space, a line break or nothing


def words_of_page(page: "PdfPage") -> Iterator[Word]:
    """PDFium's order keeps a line together, and its letters in the order in which they are read, mostly also from the right."""
    from pypdfium2 import raw

    text_page, rect = page.get_textpage(), raw.FS_RECTF()
    handle = text_page.raw
    at_rect = ctypes.byref(rect)

    def box(at: int) -> Box:
        raw.FPDFText_GetLooseCharBox(handle, at, at_rect)
        return rect.left, rect.right, rect.bottom, rect.top

    style_of = _styles(handle)
    text, end = _with_accents(_text(handle), handle, box), 0
    for line in _LINE.finditer(text):
        for plain, result in groupby(_WORD.finditer(text, line.start(), line.end()), _is_plain):
            if plain:
                words = list(result)
                before = "\n" if words[0].start() == line.start() and end else " " if end else ""
                yield from _together(words, box, style_of, before)
                end = words[-1].end()
                continue
            for word in result:
                gap, end = text[end : word.start()], word.end()
                first = word.start()
                before = "\n" if "\n" in gap or "\r" in gap else " " if gap else ""
                around = box(first)
                style = style_of(first, around)
                for at in _checked(word[0], first):
                    if not _goes_on(around, letter := box(at)):
                        yield Word(_visible(text[first:at]), _hull(around, box(at - 1)), *style, before)
                        first, around, before = at, letter, ""
                        style = style_of(first, letter)
                    else:
                        around = _hull(around, letter)
                shown = text[first:end]
                if not shown.isascii() and FROM_RIGHT_LETTER.search(shown):
                    shown = from_right(shown, [box(at)[0] for at in range(first, end)])
                yield Word(_visible(shown), _hull(around, box(end - 1)), *style, before)


def from_right(word: str, lefts: Sequence[float]) -> str:
    """The word with its letters from the right, where PDFium has them from the left, as it has some words that Chromium prints;
    brackets are then as they are drawn. `lefts`: of its letters. A word with digits stays as it is.
    """
    letters = [left for left, letter in zip(lefts, word, strict=True) if FROM_RIGHT_LETTER.match(letter)]
    turned = sum(one < other for one, other in pairwise(letters))
    if 2 * turned < len(letters) or any(map(str.isdigit, word)):
        return word
    ordered = sorted(zip(lefts, word, strict=True), key=lambda each: -each[0])
    return "".join(letter for _, letter in ordered).translate(_MIRRORED)


def _is_plain(word: re.Match[str]) -> bool:
    """Whether its letters need no look: no digit of it may be raised, and it never runs downwards."""
    return word[0].isascii() and (word[0].isalpha() or not _INNER_DIGIT.search(word[0]))


def _together(
    words: list[re.Match[str]], box: Callable[[int], Box], style_of: Callable[[int, Box], _Style], before: str
) -> Iterator[Word]:
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
            yield Word(" ".join(texts), (left, right, bottom, top), *style, before)
            before = " "
        texts, style = [word[0]], own
        left, right, bottom, top = _hull(first, last)
    yield Word(" ".join(texts), (left, right, bottom, top), *style, before)


def _text(handle: object) -> str:
    """One character for each of PDFium's, which has two for a character beyond U+FFFF: `_visible` joins them."""
    from pypdfium2 import raw

    count = raw.FPDFText_CountChars(handle)
    buffer = (ctypes.c_ushort * (count + 1))()
    whole = ""
    if raw.FPDFText_GetText(handle, 0, count, buffer) == count + 1:
        whole = bytes(buffer)[:-2].decode("utf-16-le", "replace")
    if len(whole) != count:
        whole = "".join(chr(raw.FPDFText_GetUnicode(handle, at)) for at in range(count))
    return whole.replace("\x02", _DIVIDED)


def _with_accents(text: str, handle: object, box: Callable[[int], Box]) -> str:
    """As long a text, in which an accent is joined with the letter that it stands over, or under, on the page.

    PDFium has the accent of a capital, which is raised, at the end of the line.
    """
    from pypdfium2 import raw

    letters = list(text)
    for accent in _ACCENT.finditer(text):
        at = accent.start()
        left, right, bottom, top = box(at)
        of = raw.FPDFText_GetCharIndexAtPos(handle, (left + right) / 2, bottom + 0.4 * (top - bottom), 0, 0)
        if of < 0:
            continue
        letter = unicodedata.normalize("NFC", _DOTLESS.get(text[of], text[of]) + _ACCENTS[accent[0]])
        if len(letter) == 1 and abs(of - at) == 1:
            letters[min(at, of)], letters[max(at, of)] = letter, _NOTHING
        elif len(letter) == 1:
            letters[at], letters[of] = " ", letter
    return "".join(letters)


def _checked(word: str, start: int) -> Iterator[int]:
    """The letters with positions that matter: digits that may be raised, and all where lines may run downwards."""
    inner = _INNER_LETTER if UPRIGHT.search(word) else _INNER_DIGIT
    yield from (start + match.start() for match in inner.finditer(word))


def _visible(word: str) -> str:
    """The word as it is drawn: ligatures and shapes as letters, a hyphen within it as one."""
    if word.isascii():
        return word
    word = word.replace(_NOTHING, "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    word = _SHAPES.sub(lambda shapes: unicodedata.normalize("NFKC", shapes[0]), word).replace(_DIVIDED, "-")
    return word[:-1].replace(_SOFT, "-") + word[-1:]


def _hull(one: Box, two: Box) -> Box:
    return min(one[0], two[0]), max(one[1], two[1]), min(one[2], two[2]), max(one[3], two[3])


def _goes_on(around: Box, letter: Box) -> bool:
    """Whether a letter belongs to the word in `around`: as high and next to it, or as wide and below it."""
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


def _styles(handle: object) -> Callable[[int, Box], _Style]:
    """Size in points, whether bold, whether of fixed width, and the angle, of a letter in this box.

    It is asked once for each text object, or for those that follow each other on a line in one font and as high.
    """
    from pypdfium2 import raw

    known: dict[int, _Style] = {}
    fonts: dict[int, tuple[bool, bool]] = {}
    matrix, flags, name, size = raw.FS_MATRIX(), ctypes.c_int(), ctypes.create_string_buffer(80), ctypes.c_float()
    get_object, address_of = raw.FPDFText_GetTextObject, ctypes.addressof

    recent: dict[int, tuple[float, float, _Style]] = {}

    def style(at: int, box: Box) -> _Style:
        part = get_object(handle, at)
        address = address_of(part.contents) if part else 0
        if address in known:
            return known[address]
        font = raw.FPDFTextObj_GetFont(part) if part else None
        face = address_of(font.contents) if font else 0
        if face in recent:
            bottom, top, result = recent[face]
            slack = _SLACK * result[0]
            if -slack < box[2] - bottom < slack and -slack < box[3] - top < slack:
                known[address] = result
                return result
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
        result = points * math.hypot(matrix.c, matrix.d), *fonts[face], angle
        if angle == 0:
            recent[face] = box[2], box[3], result
        known[address] = result
        return result

    return style
