"""PPTX by python-pptx: a slide is a page; its shapes are read from top to bottom, and from left to right where side by side."""

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from index.model import Document
from index.readers.building import TextBuilder, row
from index.readers.formats import Format, Source
from index.readers.packages import opened, usual
from index.readers.properties import language, metadata
from index.readers.slide_text import add_paragraphs
from index.readers.tabular import Head, head
from index.readers.unreadable import Unreadable

if TYPE_CHECKING:
    from pptx.chart.chart import Chart
    from pptx.shapes.autoshape import Shape
    from pptx.shapes.base import BaseShape
    from pptx.slide import Slide
    from pptx.table import Table

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
                add_paragraphs(builder, shape, body)
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
    for title in first.titles:
        builder.add(title)
    builder.table(rows[first.rows :], first.names)


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
        builder.add(row(names).removeprefix(" | "), "table_header")
        for at, category in enumerate(categories):
            values = (one.values[at] if at < len(one.values) else None for one in series)
            cells = [category, *("" if value is None else f"{value:g}" for value in values)]
            builder.add(row(cells, names), "table_row")


def _diagram(shape: "BaseShape", slide: "Slide") -> Iterator[str]:
    """The texts of a SmartArt diagram, which are kept in a part of their own."""
    from lxml import etree

    drawing = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
    diagram = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
    relationship = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"
    for link in shape._element.iter(f"{diagram}relIds"):
        data = slide.part.related_part(link.get(relationship)).blob
        for paragraph in etree.fromstring(data, etree.XMLParser(resolve_entities=False)).iter(f"{drawing}p"):
            text = "".join(one.text or "" for one in paragraph.iter(f"{drawing}t"))
            if text.strip():
                yield " ".join(text.split())


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
