"""XLSX by openpyxl, ODS by the standard library: a sheet for each heading, of what a sheet can hold."""

import io
import re
import zipfile
from xml.sax.saxutils import escape

import openpyxl
from openpyxl.utils import get_column_letter

from tests.documents import described as d
from tests.documents.writers.word import retyped
from tests.index.files import saved

_MAIN = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
_NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text", "meta")
)

_LONGEST_NAME = 31

Rows = list[list[d.Placed | None]]


def xlsx(described: d.Described) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    core = book.properties
    core.title, core.creator, core.keywords = described.title, described.author, ", ".join(described.tags)
    core.language = described.language
    core.created = core.modified = described.date.replace(tzinfo=None)
    for name, rows in _sheets(described):
        sheet = book.create_sheet(name)
        sheet.sheet_view.rightToLeft = described.language in d.RIGHT_TO_LEFT
        for at, line in enumerate(rows, 1):
            for column, one in enumerate(line, 1):
                if one is None or one.cell == "":
                    continue
                text = d.flat(one.cell)
                sheet.cell(at, column, int(text) if text.isdigit() else text)
                if one.down > 1 or one.across > 1:
                    last = f"{get_column_letter(column + one.across - 1)}{at + one.down - 1}"
                    sheet.merge_cells(f"{get_column_letter(column)}{at}:{last}")
    return _saved_at(saved(book), described)


def _saved_at(data: bytes, described: d.Described) -> bytes:
    """The library writes the time of saving and ignores the given one."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        said = re.search(rb"<dcterms:modified[^>]*>([^<]+)<", archive.read("docProps/core.xml"))
    assert said is not None
    return retyped(data, said[1].decode(), f"{described.date:%Y-%m-%dT%H:%M:%SZ}")


def xlsm(described: d.Described) -> bytes:
    return retyped(xlsx(described), _MAIN, "application/vnd.ms-excel.sheet.macroEnabled.main+xml")


def ods(described: d.Described) -> bytes:
    tables = []
    for name, rows in _sheets(described):
        lines = "".join(f"<table:table-row>{''.join(map(_ods_cell, line))}</table:table-row>" for line in rows)
        tables.append(f'<table:table table:name="{escape(name)}">{lines}</table:table>')
    content = (
        f"<office:document-content {_NAMES}><office:body><office:spreadsheet>{''.join(tables)}</office:spreadsheet>"
        "</office:body></office:document-content>"
    )
    return open_document("spreadsheet", content, described)


def open_document(kind: str, content: str, described: d.Described) -> bytes:
    said = meta(described)
    media = f"application/vnd.oasis.opendocument.{kind}"
    space = 'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"'
    manifest = (
        f'<manifest:manifest {space}><manifest:file-entry manifest:full-path="/" manifest:media-type="{media}"/>'
        '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>'
    )
    return packed(media, {"META-INF/manifest.xml": manifest, "content.xml": content, "meta.xml": said})


def meta(described: d.Described) -> str:
    keywords = "".join(f"<meta:keyword>{escape(tag)}</meta:keyword>" for tag in described.tags)
    return (
        f'<office:document-meta {_NAMES} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
        f"<dc:title>{escape(described.title)}</dc:title><dc:creator>{escape(described.author)}</dc:creator>"
        f"<dc:date>{described.date:%Y-%m-%dT%H:%M:%S}</dc:date><dc:language>{described.language}</dc:language>{keywords}"
        "</office:meta></office:document-meta>"
    )


def packed(kind: str, members: dict[str, str]) -> bytes:
    """A package of OpenDocument's or EPUB's form; its first member names its type."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", kind)
        for name, content in members.items():
            archive.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + content)
    return file.getvalue()


def _ods_cell(one: d.Placed | None) -> str:
    if one is None:
        return "<table:covered-table-cell/>"
    spans = f' table:number-rows-spanned="{one.down}" table:number-columns-spanned="{one.across}"'
    text = f"<text:p>{escape(d.flat(one.cell))}</text:p>" if one.cell else ""
    return f"<table:table-cell{spans if one.down > 1 or one.across > 1 else ''}>{text}</table:table-cell>"


def _sheets(described: d.Described) -> list[tuple[str, Rows]]:
    """A sheet for each heading: the text above its table, the table, the text below; blocks separated by an empty row."""
    sheets: list[tuple[str, Rows]] = []
    for block in described.blocks:
        if isinstance(block, d.Heading):
            name = block.text[:_LONGEST_NAME]
            sheets.append((name, [] if name == block.text else [[d.Placed(block.text)], []]))
            continue
        rows = sheets[-1][1]
        if isinstance(block, d.Table):
            rows += [[d.Placed(block.caption)], *d.placed(block), []]
        elif isinstance(block, d.Items):
            rows += [*([d.Placed(text)] for text in _texts(block.items)), []]
        elif isinstance(block, d.Definition):
            rows += [[d.Placed(block.term), d.Placed(block.text)], []]
        else:
            note = getattr(block, "note", "")
            rows += [[d.Placed(text)] for text in (block.text, note) if text] + [[]]
    return sheets


def _texts(items: list[d.Item]) -> list[str]:
    return [text for item in items for text in (item.text, item.code, *_texts(item.inner)) if text]
