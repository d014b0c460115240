"""PPTX by python-pptx: a slide is a page; its shapes are read from top to bottom, and from left to right where side by side.

A paragraph is an item of a list where a bullet or number precedes it, prose elsewhere.
"""

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from index.model import Document
from index.readers.formats import Format, Source, TextBuilder, Unreadable, roman, row
from index.readers.packages import language, metadata, opened, usual
from index.readers.tabular import Head, head
from index.readers.word_text import MONOSPACED
from index.text.sentences import CELLS

if TYPE_CHECKING:
    from lxml.etree import _Element as Element
    from pptx.chart.chart import Chart
    from pptx.shapes.autoshape import Shape
    from pptx.shapes.base import BaseShape
    from pptx.slide import Slide
    from pptx.table import Table
    from pptx.text.text import _Paragraph as Paragraph

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_BULLETS = (f"{_A}buNone", f"{_A}buChar", f"{_A}buAutoNum", f"{_A}buBlip")
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_MAIN = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
#: The default title of PowerPoint and of the library.
_NO_TITLE = frozenset(("", "powerpoint presentation", "presentation"))
#: Shapes whose tops are nearer than this share of the slide's height are side by side.
_BESIDE = 0.05


def read_slides(source: Source) -> Document:
    """Raises Unreadable."""
    import pptx

    builder = TextBuilder()
    with opened(source.data, "PPTX"):
        data = usual(source.data, r"ms-powerpoint|openxmlformats-officedocument\.presentationml", _MAIN)
        presentation = pptx.Presentation(io.BytesIO(data))
        near = int((presentation.slide_height or 0) * _BESIDE)
        for number, slide in enumerate(presentation.slides, 1):
            builder.page(number)
            _add_slide(builder, slide, near)
        core = presentation.core_properties
        named = (core.title or "").strip()
        first = next(map(_title, presentation.slides), None)
        value = metadata(core, core.author)
        tongue = language(core.language)
    if not builder:
        raise Unreadable("the document has no text", failed=False)
    if named.lower() in _NO_TITLE:
        named = " ".join(first.text_frame.text.split()) if first is not None else ""
    return builder.finish(source.source_id, named or source.title, language=tongue, metadata=value)


def _add_slide(builder: TextBuilder, slide: "Slide", near: int) -> None:
    from pptx.shapes.autoshape import Shape
    from pptx.shapes.graphfrm import GraphicFrame

    body = slide.slide_layout.slide_master._element.find(f"{_P}txStyles/{_P}bodyStyle")
    title = _title(slide)
    if title is not None:
        builder.add(" ".join(title.text_frame.text.split()), "heading", 1)
    for shape in _in_order(slide.shapes, near):
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if isinstance(shape, Shape):
            if not _is_on_every_slide(shape):
                _add_paragraphs(builder, shape, body)
        elif isinstance(shape, GraphicFrame):
            if shape.has_table:
                _add_table(builder, shape.table)
            elif shape.has_chart:
                _add_chart(builder, shape.chart)
            for text in _diagram(shape, slide):
                builder.add(f"- {text}", "list_item", 1)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        builder.add(slide.notes_slide.notes_text_frame.text.replace("\v", "\n"))


def _title(slide: "Slide") -> "Shape | None":
    """The slide's title; a picture may take its place."""
    title = slide.shapes.title
    return title if title is not None and title.has_text_frame else None


def _in_order(shapes: Iterable["BaseShape"], near: int) -> Iterator["BaseShape"]:
    """Every shape; those of a group together, at the group's position."""
    placed = sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0))
    line: list[BaseShape] = []
    lines = [line]
    for shape in placed:
        if line and (shape.top or 0) - (line[0].top or 0) > near:
            line = []
            lines.append(line)
        line.append(shape)
    for beside in lines:
        for shape in sorted(beside, key=lambda shape: shape.left or 0):
            if hasattr(shape, "shapes"):
                yield from _in_order(shape.shapes, near)
            else:
                yield shape


def _is_on_every_slide(shape: "BaseShape") -> bool:
    from pptx.enum.shapes import PP_PLACEHOLDER as KIND

    return shape.is_placeholder and shape.placeholder_format.type in (
        KIND.DATE,
        KIND.FOOTER,
        KIND.HEADER,
        KIND.SLIDE_NUMBER,
    )


def _add_table(builder: TextBuilder, table: "Table") -> None:
    rows = [["" if cell.is_spanned else cell.text for cell in line.cells] for line in table.rows]
    grouping: set[int] = set()
    for top, line in enumerate(table.rows):
        for left, cell in enumerate(line.cells):
            if cell.is_merge_origin:
                for at in range(top, min(top + cell.span_height, len(rows))):
                    rows[at][left : left + cell.span_width] = [cell.text] * cell.span_width
                    if 1 < cell.span_width < len(line.cells):
                        grouping.add(at)
    first = head(rows, grouping) if table.first_row else Head((), (), 0)
    first.add(builder, rows[first.rows :])


def _add_chart(builder: TextBuilder, chart: "Chart") -> None:
    """The title, and the categories with the values of each series; only the title of a kind without categories."""
    if chart.has_title and chart.chart_title.has_text_frame:
        builder.add(chart.chart_title.text_frame.text)
    try:
        plots = list(chart.plots)
    except ValueError:  # a kind of chart that the library does not know
        return
    for plot in plots:
        categories = [str(category) for category in plot.categories]
        series = [one for one in plot.series if one.values]
        if not categories or not series:
            continue
        names = ["", *(one.name or "" for one in series)]
        builder.add(row(names).removeprefix(CELLS), "table_header")
        for at, category in enumerate(categories):
            values = (one.values[at] if at < len(one.values) else None for one in series)
            cells = [category, *("" if value is None else f"{value:g}" for value in values)]
            builder.add(row(cells, names), "table_row")


def _diagram(shape: "BaseShape", slide: "Slide") -> Iterator[str]:
    """The texts of a SmartArt diagram, which are kept in a part of their own."""
    from lxml import etree

    diagram = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
    relationship = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"
    for link in shape._element.iter(f"{diagram}relIds"):
        data = slide.part.related_part(link.get(relationship)).blob
        for paragraph in etree.fromstring(data, etree.XMLParser(resolve_entities=False)).iter(f"{_A}p"):
            text = "".join(one.text or "" for one in paragraph.iter(f"{_A}t"))
            if text.strip():
                yield " ".join(text.split())


def _add_paragraphs(builder: TextBuilder, shape: "Shape", body: "Element | None") -> None:
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


FORMATS = (
    Format(
        "PowerPoint",
        (".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"),
        read_slides,
        "python-pptx",
        "slides as pages, titles, nested and numbered lists, tables with merged cells, charts' categories and values,"
        " diagrams' texts, notes, properties",
        "pictures and their descriptions, dates, footers and slide numbers, comments",
    ),
)
