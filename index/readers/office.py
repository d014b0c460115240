"""DOCX, PPTX and XLSX. All three are ZIP archives of XML, so each is first checked for a ZIP bomb."""

import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from xml.etree.ElementTree import ParseError

import docx
import openpyxl
import pptx
from docx.document import Document as DocxDocument
from docx.opc.exceptions import PackageNotFoundError as NoDocx
from docx.table import Table
from docx.text.paragraph import Paragraph
from lxml import etree
from openpyxl.utils.exceptions import InvalidFileException
from pptx.exc import PackageNotFoundError as NoPptx

from index.languages import every
from index.model import Document
from index.readers.building import TextBuilder, row
from index.readers.unreadable import Unreadable

_OLE = b"\xd0\xcf\x11\xe0"
_MAX_UNPACKED = 400 * 1024 * 1024
_MAX_RATIO = 120
_MAX_ROWS = 200_000
_STYLES = "|".join(every(lambda language: language.headings.style.split()))
_HEADING = re.compile(rf"(?:{_STYLES}) (\d)", re.IGNORECASE)
#: The exceptions these libraries raise on damaged archives; each means a damaged file.
_DAMAGED = (NoDocx, NoPptx, InvalidFileException, zipfile.BadZipFile, etree.LxmlError, ParseError, KeyError, ValueError,
            AttributeError, TypeError, IndexError, OSError, EOFError, NotImplementedError)  # fmt: skip


def read_office(data: bytes, source_id: str, title: str, suffix: str) -> Document:
    """`suffix`: .docx, .pptx or .xlsx. Raises Unreadable."""
    _look_over(data)
    builder = TextBuilder()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns about styles it does not know
            named = {".docx": _docx, ".pptx": _pptx, ".xlsx": _xlsx}[suffix](data, builder)
    except _DAMAGED as error:
        raise Unreadable(f"no readable {suffix[1:].upper()} ({type(error).__name__}: {str(error)[:120]})") from error
    if not builder:
        raise Unreadable("the document has no text", failed=False)
    return builder.finish(source_id, named.strip() or title)


def _look_over(data: bytes) -> None:
    if data.startswith(_OLE):
        raise Unreadable("protected by a password or in the old binary format; save it again without a password")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise Unreadable(f"damaged archive ({error})") from error
    unpacked = sum(member.file_size for member in members)
    if unpacked > _MAX_UNPACKED or (unpacked > 20 * 1024 * 1024 and unpacked > _MAX_RATIO * len(data)):
        raise Unreadable(f"unpacks to {unpacked // 1024**2} MB from {len(data) / 1024**2:.1f} MB, as a ZIP bomb does")


def _docx(data: bytes, builder: TextBuilder) -> str:
    document: DocxDocument = docx.Document(io.BytesIO(data))
    items: list[str] = []
    for part in document.iter_inner_content():
        if isinstance(part, Table):
            _close_list(builder, items)
            builder.add("\n".join(_docx_rows(part)), "table")
            continue
        style = (part.style.name if part.style is not None else None) or ""
        heading = _HEADING.search(style)
        if part.text.strip() and (style.startswith("List") or _is_numbered(part)) and not heading:
            items.append(f"- {part.text.strip()}")
            continue
        _close_list(builder, items)
        if heading or style == "Title":
            builder.add(part.text, "heading", int(next(filter(None, heading.groups()))) if heading else 1)
        else:
            builder.add(part.text)
    _close_list(builder, items)
    return document.core_properties.title or ""


def _is_numbered(paragraph: Paragraph) -> bool:
    properties = paragraph._p.pPr  # the library has no public access to a paragraph's numbering
    return properties is not None and properties.numPr is not None


def _close_list(builder: TextBuilder, items: list[str]) -> None:
    builder.add("\n".join(items), "list")
    items.clear()


def _docx_rows(table: Table) -> Iterator[str]:
    for one in table.rows:
        cells: list[str] = []
        last = None
        for cell in one.cells:
            if cell._tc is not last:  # a merged cell is returned once per column
                cells.append(cell.text)
            last = cell._tc
        yield row(cells)


def _pptx(data: bytes, builder: TextBuilder) -> str:
    presentation = pptx.Presentation(io.BytesIO(data))
    for number, slide in enumerate(presentation.slides, 1):
        builder.page(number)
        title = slide.shapes.title
        if title is not None:
            builder.add(title.text_frame.text, "heading", 1)
        for shape in slide.shapes:
            if title is not None and shape.shape_id == title.shape_id:
                continue
            if shape.has_text_frame:
                builder.add(shape.text_frame.text, "list" if "\n" in shape.text_frame.text else "text")
            elif getattr(shape, "has_table", False):
                rows = (row([cell.text for cell in one.cells]) for one in shape.table.rows)
                builder.add("\n".join(rows), "table")
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            builder.add(slide.notes_slide.notes_text_frame.text)
    return presentation.core_properties.title or ""


def _xlsx(data: bytes, builder: TextBuilder) -> str:
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    try:
        for sheet in book.worksheets:
            rows = []
            for number, cells in enumerate(sheet.iter_rows(values_only=True)):
                if number == _MAX_ROWS:
                    break
                line = row(["" if cell is None else str(cell) for cell in cells])
                if line:
                    rows.append(line)
            if rows:
                builder.add(sheet.title, "heading", 1)
                builder.add("\n".join(rows), "table")
        return str(book.properties.title or "")
    finally:
        book.close()
