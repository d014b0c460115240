"""DOCX by python-docx, and by its XML where the library has no function."""

import io
import zipfile
from typing import Any

import docx
from docx.document import Document as WordDocument
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part as PackagePart
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.table import Table as WordTable
from docx.table import _Cell
from docx.text.paragraph import Paragraph

from tests.documents import described as d
from tests.index.files import saved

_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_BULLETS = ("List Bullet", "List Bullet 2", "List Bullet 3")


def docx_(described: d.Described) -> bytes:
    document = docx.Document()
    describe(document.core_properties, described)
    for name in ("Source Code", "Definition Term", "Definition"):
        document.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
    notes: list[str] = []
    for block in described.blocks:
        match block:
            case d.Heading():
                document.add_heading(block.text, block.level)
            case d.Prose():
                _add_prose(document, block, notes, described.language)
            case d.Items():
                _add_items(document, block.items, ordered=block.ordered)
            case d.Table():
                document.add_paragraph(block.caption, style="Caption")
                _add_table(document, block)
            case d.Code():
                _add_code(document, block.text)
            case d.Quotation():
                document.add_paragraph(block.text, style="Quote")
            case d.Definition():
                document.add_paragraph(block.term, style="Definition Term")
                document.add_paragraph(block.text, style="Definition")
    if described.language in d.RIGHT_TO_LEFT:
        for paragraph in document.element.body.iter(qn("w:p")):
            paragraph.get_or_add_pPr().append(OxmlElement("w:bidi"))
    _add_notes(document, notes)
    return saved(document)


def describe(core: Any, described: d.Described) -> None:
    core.title, core.author, core.keywords = described.title, described.author, ", ".join(described.tags)
    core.created = core.modified = described.date
    core.language = described.language


def docm(described: d.Described) -> bytes:
    return retyped(docx_(described), _MAIN, "application/vnd.ms-word.document.macroEnabled.main+xml")


def dotx(described: d.Described) -> bytes:
    return retyped(docx_(described), _MAIN, _MAIN.replace("document.main", "template.main"))


def retyped(data: bytes, before: str, after: str) -> bytes:
    """The package as its program declares a template or a file with macros."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(changed, "w") as copy:
        for name in archive.namelist():
            copy.writestr(name, archive.read(name).replace(before.encode(), after.encode()))
    return changed.getvalue()


def _add_prose(document: WordDocument, block: d.Prose, notes: list[str], language: str) -> None:
    paragraph = _written(document.add_paragraph(), block.text)
    if block.note:
        notes.append(block.note)
        _refer(paragraph, len(notes))
    if block.vertical:
        _turn(document, language)


def _written(paragraph: Paragraph, text: str) -> Paragraph:
    for part, code in d.inline(text):
        run = paragraph.add_run(part)
        if code:
            run.font.name = "Consolas"
    return paragraph


def _refer(paragraph: Paragraph, number: int) -> None:
    mark = OxmlElement("w:footnoteReference")
    mark.set(qn("w:id"), str(number))
    paragraph.add_run()._r.append(mark)


def _add_notes(document: WordDocument, notes: list[str]) -> None:
    inside = "".join(
        f'<w:footnote w:id="{number}"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t>{note}</w:t></w:r></w:p></w:footnote>'
        for number, note in enumerate(notes, 1)
    )
    xml = f"<w:footnotes {nsdecls('w')}>{inside}</w:footnotes>".encode()
    part = PackagePart(PackURI("/word/footnotes.xml"), "application/xml", xml, document.part.package)
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)


def _add_items(document: WordDocument, items: list[d.Item], depth: int = 0, *, ordered: bool = False) -> None:
    for item in items:
        style = "List Number" if ordered else _BULLETS[depth]
        _written(document.add_paragraph(style=style), item.text)
        if item.code:
            _add_code(document, item.code)
        _add_items(document, item.inner, depth + 1)


def _add_code(document: WordDocument, text: str) -> None:
    for line in text.split("\n"):
        document.add_paragraph(line, style="Source Code")


def _add_table(document: WordDocument, table: d.Table) -> None:
    made: WordTable = document.add_table(len(table.rows), len(table.rows[0]))
    for at, line in enumerate(d.placed(table)):
        for column, one in enumerate(line):
            if one is None:
                continue
            cell: _Cell = made.cell(at, column)
            if one.down > 1 or one.across > 1:
                cell = cell.merge(made.cell(at + one.down - 1, column + one.across - 1))
            if isinstance(one.cell, str):
                cell.text = one.cell
            else:
                inner = cell.add_table(len(one.cell), len(one.cell[0]))
                for row, texts in zip(inner.rows, one.cell, strict=True):
                    for place, text in zip(row.cells, texts, strict=True):
                        place.text = text
    for row in list(made.rows)[: table.header]:
        row._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))


def _turn(document: WordDocument, language: str) -> None:
    """The last section's lines run from top to bottom."""
    direction = parse_xml(f'<w:textDirection {nsdecls("w")} w:val="{"tbRl" if language in ("zh", "ko") else "lrTb"}"/>')
    document.sections[-1]._sectPr.append(direction)
