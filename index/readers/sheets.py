"""Sheets, row by row: a sheet is a heading, each of its tables a header and rows with their column names.

XLSX by openpyxl: only cells with content are kept, so a sheet that claims a million empty rows costs nothing. ODS by ElementTree:
its cells hold the text that a person sees. XLS and XLSB by calamine, which knows neither number formats nor hidden rows.
"""

import io
import zipfile
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from index.model import Document, Metadata
from index.readers.formats import Format, Source, TextBuilder, Unreadable, refused
from index.readers.grid import MAX_CELLS, Grid, Range, add_sheet, shown
from index.readers.packages import language, metadata, open_document_metadata, opened, usual

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

_NAMES = "urn:oasis:names:tc:opendocument:xmlns:"
_TABLE, _OFFICE, _TEXT = f"{{{_NAMES}table:1.0}}", f"{{{_NAMES}office:1.0}}", f"{{{_NAMES}text:1.0}}"
_STYLE = f"{{{_NAMES}style:1.0}}"
#: Of so many rows hidden together a table may go on below them.
_MOST_HIDDEN = 10_000
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")


def read_open_sheets(source: Source) -> Document:
    """Raises Unreadable."""
    builder = TextBuilder()
    title, tag, described = "", "", Metadata()
    with opened(source.data, "ODS"), zipfile.ZipFile(io.BytesIO(source.data)) as archive:
        for name, grid in _open_sheets(archive, MAX_CELLS):
            add_sheet(builder, name, grid)
        if "meta.xml" in archive.namelist():
            title, tag, described = open_document_metadata(ElementTree.fromstring(archive.read("meta.xml")))
    if not builder:
        raise Unreadable("the document has no text", failed=False)
    return builder.finish(source.source_id, title or source.title, language=language(tag), metadata=described)


def _open_sheets(archive: zipfile.ZipFile, room: int) -> Iterator[tuple[str, Grid]]:
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
        text = _text_of_cell(cell)
        if text and cell.tag == _CELLS[0]:
            for below in range(count):
                for beside in range(repeated):
                    grid.put(number + below, column + beside, text)
            high = int(cell.get(f"{_TABLE}number-rows-spanned", "1"))
            wide = int(cell.get(f"{_TABLE}number-columns-spanned", "1"))
            if high > 1 or wide > 1:
                yield Range(number, column, number + high - 1, column + wide - 1)
        column += repeated


def _text_of_cell(cell: ElementTree.Element) -> str:
    """The displayed value; a date as ISO. A comment is an element of its own next to the paragraphs."""
    if cell.get(f"{_OFFICE}value-type") == "date":
        return cell.get(f"{_OFFICE}date-value", "").removesuffix("T00:00:00").replace("T", " ")
    return "\n".join("".join(one.itertext()) for one in cell.findall(f"{_TEXT}p"))


def read_old_sheets(source: Source) -> Document:
    """Raises Unreadable."""
    import python_calamine as calamine

    builder = TextBuilder()
    left = MAX_CELLS
    with refused("no readable XLS or XLSB", calamine.CalamineError, OSError, ValueError):
        try:
            book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(source.data))
        except calamine.PasswordError as error:
            raise Unreadable("protected by a password; save it without one") from error
        for described in book.sheets_metadata:
            if (described.typ, described.visible) != (
                calamine.SheetTypeEnum.WorkSheet,
                calamine.SheetVisibleEnum.Visible,
            ):
                continue
            sheet = book.get_sheet_by_name(described.name)
            grid = Grid(left)
            top = sheet.start[0] if sheet.start is not None else 0
            for number, cells in enumerate(sheet.iter_rows(), 1 + top):
                for column, value in enumerate(cells, 1):
                    grid.put(number, column, shown(value))
            grid.spread(
                Range(start[0] + 1, start[1] + 1, end[0] + 1, end[1] + 1)
                for start, end in sheet.merged_cell_ranges or ()
            )
            left -= grid.count
            add_sheet(builder, described.name, grid)
    if not builder:
        raise Unreadable("the document has no text", failed=False)
    return builder.finish(source.source_id, source.title)


_MAIN = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"


def read_sheets(source: Source) -> Document:
    """Raises Unreadable."""
    import openpyxl

    builder = TextBuilder()
    with opened(source.data, "XLSX"):
        data = usual(source.data, r"ms-excel|openxmlformats-officedocument\.spreadsheetml", _MAIN)
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        left = MAX_CELLS
        for sheet in book.worksheets:
            if sheet.sheet_state == "visible":
                grid = _grid(book, sheet, left)
                left -= grid.count
                add_sheet(builder, sheet.title, grid)
        core = book.properties
        book.close()
    if not builder:
        raise Unreadable("the document has no text", failed=False)
    return builder.finish(
        source.source_id,
        str(core.title or "").strip() or source.title,
        language=language(core.language),
        metadata=metadata(core, core.creator),
    )


def _grid(book: "Workbook", sheet: "ReadOnlyWorksheet", room: int) -> Grid:
    """The visible content of a sheet. What the library gives by cell has every empty one in it, so its parser is used."""
    from openpyxl.utils.cell import range_boundaries
    from openpyxl.worksheet._reader import WorkSheetParser

    grid = Grid(room)
    number_format = _number_formats(book)
    hidden: set[int] = set()
    with sheet._get_source() as file:
        parser = WorkSheetParser(
            file, sheet._shared_strings, True, book.epoch, book._date_formats, book._timedelta_formats
        )
        for number, cells in parser.parse():
            if _is_hidden(parser.row_dimensions.pop(str(number), {})):
                hidden.add(number)
            for cell in cells:
                if cell["value"] is not None:
                    grid.put(number, cell["column"], shown(cell["value"], number_format(cell["style_id"])))
    # What a filter hides comes back with a click; a row hidden by hand does not.
    if not (getattr(parser, "auto_filter", None) and parser.auto_filter.filterColumn) and not _has_filtered_table(book):
        grid.hide_rows(hidden)
    for column in parser.column_dimensions.values():
        if _is_hidden(column):
            grid.hide_columns(int(column["min"]), int(column["max"]))
    if parser.merged_cells is not None:
        bounds = (range_boundaries(one.ref) for one in parser.merged_cells.mergeCell)
        grid.spread([Range(top, left, bottom, right) for left, top, right, bottom in bounds])
    return grid


def _is_hidden(attributes: dict[str, str]) -> bool:
    """A collapsed group is not hidden: its plus sign shows that there is more."""
    return attributes.get("hidden") in ("1", "true") and not int(attributes.get("outlineLevel", "0"))


def _has_filtered_table(book: "Workbook") -> bool:
    archive = book._archive
    return any(b"filterColumn" in archive.read(name) for name in archive.namelist() if name.startswith("xl/tables/"))


def _number_formats(book: "Workbook") -> Callable[[int], str]:
    from openpyxl.styles.numbers import BUILTIN_FORMATS, BUILTIN_FORMATS_MAX_SIZE

    known: dict[int, str] = {}

    def number_format(style: int) -> str:
        if style not in known:
            number = book._cell_styles[style].numFmtId
            own = number - BUILTIN_FORMATS_MAX_SIZE
            known[style] = BUILTIN_FORMATS.get(number, "General") if own < 0 else book._number_formats[own]
        return known[style]

    return number_format


FORMATS = (
    Format(
        "Excel",
        (".xlsx", ".xlsm", ".xltx", ".xltm"),
        read_sheets,
        "openpyxl",
        "sheets as headings, titles, rows with their column names and cell range, merged cells in each row, numbers and"
        " dates as shown, properties",
        "formulas (their results are kept), hidden sheets, rows and columns, comments, charts, headers and footers",
    ),
    Format(
        "Excel 97–2003, Excel binary",
        (".xls", ".xlsb"),
        read_old_sheets,
        "python-calamine",
        "sheets as headings, titles, rows with their column names and cell range, merged cells in each row",
        "number formats (5 % is read as 0.05), hidden sheets, comments, properties",
    ),
    Format(
        "OpenDocument spreadsheet",
        (".ods",),
        read_open_sheets,
        "the standard library",
        "sheets as headings, titles, rows with their column names and cell range, merged cells in each row, properties",
        "formulas (their results are kept), hidden sheets and rows, comments, charts",
    ),
)
