"""PPTX by python-pptx: a slide for each heading."""

from typing import Any

import pptx
from lxml import etree
from pptx.util import Inches

from tests.documents import described as d
from tests.documents.writers.word import describe, retyped
from tests.index.files import saved

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_MAIN = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"


def pptx_(described: d.Described) -> bytes:
    deck = pptx.Presentation()
    describe(deck.core_properties, described)
    slide: Any = None
    top = 0.0
    for block in described.blocks:
        if isinstance(block, d.Heading):
            slide, top = deck.slides.add_slide(deck.slide_layouts[5]), 1.8
            slide.shapes.title.text = block.text
            continue
        if isinstance(block, d.Table):
            _add_box(slide, top, block.caption)
            _add_table(slide, top + 0.5, block)
            top += 2.5
            continue
        if isinstance(block, d.Items):
            frame = _add_box(slide, top)
            _add_items(frame, block.items, ordered=block.ordered)
        elif isinstance(block, d.Prose) and block.note:
            _add_box(slide, top, block.text)
            slide.notes_slide.notes_text_frame.text = block.note
        elif isinstance(block, d.Definition):
            _add_box(slide, top, f"{block.term}: {block.text}")
        elif isinstance(block, d.Prose | d.Code | d.Quotation):
            frame = _add_box(slide, top, block.text)
            if isinstance(block, d.Code):
                for paragraph in frame.paragraphs:
                    paragraph.font.name = "Consolas"
            if isinstance(block, d.Prose) and block.vertical:
                frame._txBody.bodyPr.set("vert", "eaVert" if described.language in ("zh", "ko") else "vert")
        top += 0.7
    return saved(deck)


def ppsx(described: d.Described) -> bytes:
    return retyped(pptx_(described), _MAIN, _MAIN.replace("presentation.main", "slideshow.main"))


def _add_box(slide: Any, top: float, text: str = "") -> Any:
    frame = slide.shapes.add_textbox(Inches(0.5), Inches(top), Inches(9), Inches(0.5)).text_frame
    frame.text = text
    return frame


def _add_items(frame: Any, items: list[d.Item], level: int = 0, *, ordered: bool = False) -> None:
    for item in items:
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = item.text, level
        properties = paragraph._p.get_or_add_pPr()
        if ordered:
            etree.SubElement(properties, f"{_A}buAutoNum", type="arabicPeriod")
        else:
            etree.SubElement(properties, f"{_A}buChar", char="•")
        if item.code:
            for line in item.code.split("\n"):
                below = frame.add_paragraph()
                below.text, below.level = line, level
                below.font.name = "Consolas"
        _add_items(frame, item.inner, level + 1)


def _add_table(slide: Any, top: float, table: d.Table) -> None:
    size = len(table.rows), len(table.rows[0])
    made = slide.shapes.add_table(*size, Inches(0.5), Inches(top), Inches(9), Inches(2)).table
    for at, line in enumerate(d.placed(table)):
        for column, one in enumerate(line):
            if one is not None:
                cell = made.cell(at, column)
                cell.text = d.flat(one.cell)
                if one.down > 1 or one.across > 1:
                    cell.merge(made.cell(at + one.down - 1, column + one.across - 1))
