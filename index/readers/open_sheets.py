"""ODS by ElementTree, row by row: its cells hold the text that a person sees."""

import io
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree

from index.model import Document, Metadata
from index.readers.formats import Format, Source, TextBuilder, Unreadable
from index.readers.grid import MAX_CELLS, Grid, Range, add_sheet
from index.readers.packages import open_document_metadata, opened

_NAMES = "urn:oasis:names:tc:opendocument:xmlns:"
_TABLE, _OFFICE, _TEXT = f"{{{_NAMES}table:1.0}}", f"{{{_NAMES}office:1.0}}", f"{{{_NAMES}text:1.0}}"
_STYLE = f"{{{_NAMES}style:1.0}}"
#: Of so many rows hidden together a table may go on below them.
_MOST_HIDDEN = 10_000
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")


def read_open_sheets(source: Source) -> Document:
    """Raises Unreadable."""
    builder = TextBuilder()
    title, language, described = "", None, Metadata()
    with opened(source.data, "ODS"), zipfile.ZipFile(io.BytesIO(source.data)) as archive:
        for name, grid in _sheets(archive, MAX_CELLS):
            add_sheet(builder, name, grid)
        if "meta.xml" in archive.namelist():
            title, language, described = open_document_metadata(ElementTree.fromstring(archive.read("meta.xml")))
    if not builder:
        raise Unreadable("the document has no text", failed=False)
    return builder.finish(source.source_id, title or source.title, language=language, metadata=described)


def _sheets(archive: zipfile.ZipFile, room: int) -> Iterator[tuple[str, Grid]]:
    """Each visible sheet. An element is emptied when it has been read."""
    hidden_styles: set[str] = set()
    grid, merged, number = Grid(room), list[Range](), 1
    with archive.open("content.xml") as file:
        for event, element in ElementTree.iterparse(file, ("start", "end")):
            if event == "start" and element.tag == f"{_TABLE}table":
                grid, merged, number = Grid(room), [], 1
            elif event == "start":
                continue
            elif element.tag == f"{_STYLE}style":
                properties = element.find(f"{_STYLE}table-properties")
                if properties is not None and properties.get(f"{_TABLE}display") == "false":
                    hidden_styles.add(element.get(f"{_STYLE}name", ""))
            elif element.tag == f"{_TABLE}table-row":
                count = int(element.get(f"{_TABLE}number-rows-repeated", "1"))
                if element.get(f"{_TABLE}visibility") == "collapse":
                    grid.hide_rows(range(number, number + min(count, _MOST_HIDDEN)))
                else:
                    merged += _put_row(grid, element, number, count)
                number += count
                element.clear()
            elif element.tag == f"{_TABLE}table":
                grid.spread(merged)
                room -= grid.count
                if element.get(f"{_TABLE}style-name", "") not in hidden_styles:
                    yield element.get(f"{_TABLE}name", ""), grid
                element.clear()


def _put_row(grid: Grid, element: ElementTree.Element, number: int, count: int) -> Iterator[Range]:
    column = 1
    for cell in element:
        if cell.tag not in _CELLS:
            continue
        repeated = int(cell.get(f"{_TABLE}number-columns-repeated", "1"))
        text = _text(cell)
        if text and cell.tag == _CELLS[0]:
            for below in range(count):
                for beside in range(repeated):
                    grid.put(number + below, column + beside, text)
            high = int(cell.get(f"{_TABLE}number-rows-spanned", "1"))
            wide = int(cell.get(f"{_TABLE}number-columns-spanned", "1"))
            if high > 1 or wide > 1:
                yield Range(number, column, number + high - 1, column + wide - 1)
        column += repeated


def _text(cell: ElementTree.Element) -> str:
    """The displayed value; a date as ISO. A comment is an element of its own next to the paragraphs."""
    if cell.get(f"{_OFFICE}value-type") == "date":
        return cell.get(f"{_OFFICE}date-value", "").removesuffix("T00:00:00").replace("T", " ")
    return "\n".join("".join(one.itertext()) for one in cell.findall(f"{_TEXT}p"))


FORMATS = (
    Format(
        "OpenDocument spreadsheet",
        (".ods",),
        read_open_sheets,
        "the standard library",
        "sheets as headings, titles, rows with their column names and cell range, merged cells in each row, properties",
        "formulas (their results are kept), hidden sheets and rows, comments, charts",
    ),
)
