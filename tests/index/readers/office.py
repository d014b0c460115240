"""Office documents put together for one test each, from the markup that their programs write."""

from collections.abc import Callable
from typing import Any

import docx
import openpyxl
import pptx
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml

from index.model import Document
from index.readers import Source, read
from tests.index.files import saved

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_SPACES = " ".join(
    f'xmlns:{prefix}="{name}"'
    for prefix, name in {
        "w": _W,
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    }.items()
)


def given(data: bytes, suffix: str) -> Document:
    return read(Source(data, f"x{suffix}", "x", suffix))


def blocks(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def word(body: str, *, numbering: str = "", styles: str = "", footnotes: str = "", endnotes: str = "") -> Document:
    """A DOCX with this markup as its body; numberings and styles are added to those of an empty document."""
    document = docx.Document()
    for child in parse_xml(f"<w:body {_SPACES}>{body}</w:body>"):
        document.element.body.insert_element_before(child, "w:sectPr")
    if numbering:
        root = document.part.numbering_part.element
        added = list(parse_xml(f"<w:numbering {_SPACES}>{numbering}</w:numbering>"))
        for child in [one for one in added if one.tag.endswith("abstractNum")]:
            root.insert(0, child)
        for child in [one for one in added if one.tag.endswith("num")]:
            root.append(child)
    for child in parse_xml(f"<w:styles {_SPACES}>{styles}</w:styles>"):
        document.styles.element.append(child)
    for kind, notes in (("footnotes", footnotes), ("endnotes", endnotes)):
        if notes:
            xml = f"<w:{kind} {_SPACES}>{notes}</w:{kind}>".encode()
            part = Part(PackURI(f"/word/{kind}.xml"), "application/xml", xml, document.part.package)
            document.part.relate_to(part, getattr(RT, kind.upper()))
    return given(saved(document), ".docx")


def p(text: str, style: str = "", more: str = "") -> str:
    """A paragraph; `more` goes among its properties."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    run = text if text.startswith("<") else f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'
    return f"<w:p><w:pPr>{named}{more}</w:pPr>{run}</w:p>"


def item(text: str, number: int, level: int = 0) -> str:
    return p(text, more=f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def table(*rows: str) -> str:
    return f"<w:tbl><w:tblPr/><w:tblGrid/>{''.join(rows)}</w:tbl>"


def tr(*cells: str, properties: str = "") -> str:
    """A row; a cell is markup, or text."""
    made = (cell if cell.startswith("<w:tc>") else tc(cell) for cell in cells)
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(made)}</w:tr>"


def tc(content: str, properties: str = "") -> str:
    inside = content if content.startswith("<w:") else p(content)
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inside}</w:tc>"


def slides(*fill: Callable[[Any], None], layout: int = 1) -> Document:
    """A PPTX with a slide for each function, which is given it."""
    deck = pptx.Presentation()
    for one in fill:
        one(deck.slides.add_slide(deck.slide_layouts[layout]))
    return given(saved(deck), ".pptx")


def sheet(rows: list[list[object]], change: Callable[[Any], None] = lambda page: None, name: str = "Fees") -> Document:
    """An XLSX with one sheet of these rows; `change` is given it before it is saved."""
    book = openpyxl.Workbook()
    page = book.active
    assert page is not None
    page.title = name
    for one in rows:
        page.append(one)
    change(page)
    return given(saved(book), ".xlsx")
