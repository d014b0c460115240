"""The paragraphs of a shape on a slide: items of a list where a bullet or number precedes them, prose elsewhere."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from index.readers.building import TextBuilder
from index.readers.word_text import MONOSPACED, roman

if TYPE_CHECKING:
    from lxml.etree import _Element as Element
    from pptx.shapes.autoshape import Shape
    from pptx.text.text import _Paragraph as Paragraph

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_BULLETS = (f"{_A}buNone", f"{_A}buChar", f"{_A}buAutoNum", f"{_A}buBlip")


def add_paragraphs(builder: TextBuilder, shape: "Shape", body: "Element | None") -> None:
    """`body`: how the slide's master writes the text of bodies."""
    counts: dict[int, int] = {}
    code: list[str] = []
    for paragraph in shape.text_frame.paragraphs:
        text = _text(paragraph)
        if _is_code(paragraph) or (code and not text):
            code.append(_text(paragraph, strip=False))
            continue
        if code:
            builder.add("\n".join(code), "code")
            code = []
        if not text:
            continue
        level = paragraph.level
        bullet = _bullet(_styles(paragraph, shape, body))
        if bullet is None or bullet.tag == _BULLETS[0]:
            counts.clear()
            builder.add(text)
            continue
        counts = {at: count for at, count in counts.items() if at <= level}
        marker = "-"
        if bullet.tag == f"{_A}buAutoNum":
            counts[level] = counts.get(level, int(bullet.get("startAt", "1")) - 1) + 1
            marker = _number(counts[level], bullet.get("type", ""))
        builder.add(f"{marker} {text}", "list_item", level + 1)
    builder.add("\n".join(code), "code")


def _is_code(paragraph: "Paragraph") -> bool:
    """Whether all of it is in a monospaced font."""
    whole = paragraph._p.find(f"{_A}pPr/{_A}defRPr/{_A}latin")
    fonts = [run.find(f"{_A}rPr/{_A}latin") for run in paragraph._p.iter(f"{_A}r")]
    names = [(whole if font is None else font) for font in fonts]
    return bool(names) and all(font is not None and MONOSPACED.search(font.get("typeface", "")) for font in names)


def _text(paragraph: "Paragraph", *, strip: bool = True) -> str:
    """A line break within the paragraph is one in the text; an equation is its signs."""
    parts: list[str] = []
    for element in paragraph._p.iter(f"{_A}t", f"{_A}br", _MATH):
        if next(element.iterancestors(_FALLBACK), None) is None:
            parts.append("\n" if element.tag == f"{_A}br" else element.text or "")
    return "".join(parts).strip() if strip else "".join(parts)


def _bullet(styles: Iterable["Element"]) -> "Element | None":
    for style in styles:
        for bullet in _BULLETS:
            index = style.find(bullet)
            if index is not None:
                return index
    return None


def _styles(paragraph: "Paragraph", shape: "Shape", body: "Element | None") -> Iterator["Element"]:
    """The paragraph's own, then those that it takes the rest from: its shape's, its layout's, its master's."""
    own = paragraph._p.find(f"{_A}pPr")
    if own is not None:
        yield own
    level = f"{_A}lvl{paragraph.level + 1}pPr"
    holder: Shape | None = shape
    while holder is not None:
        for result in holder._element.iter(f"{_A}lstStyle"):
            yield from result.findall(level)
        holder = getattr(holder, "_base_placeholder", None) if shape.is_placeholder else None
    if body is not None and shape.is_placeholder and _is_body(shape):
        yield from body.findall(level)


def _is_body(shape: "Shape") -> bool:
    from pptx.enum.shapes import PP_PLACEHOLDER as KIND

    return shape.placeholder_format.type in (KIND.BODY, KIND.OBJECT, KIND.VERTICAL_BODY, KIND.VERTICAL_OBJECT)


def _number(number: int, form: str) -> str:
    text = str(number)
    if form.startswith("alpha"):
        text = chr(ord("a") + (number - 1) % 26)
    elif form.startswith("roman"):
        text = roman(number)
    if "Uc" in form:
        text = text.upper()
    if form.endswith("ParenBoth"):
        return f"({text})"
    return text + (")" if form.endswith("ParenR") else "." if form.endswith("Period") else "")
