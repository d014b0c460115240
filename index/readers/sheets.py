"""XLSX by openpyxl, row by row: a sheet is a heading, each of its tables a header and rows with their column names.

Only cells with content are kept, so a sheet that claims a million empty rows costs nothing.
"""

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from index.model import Document
from index.readers.formats import Format, Source, TextBuilder, Unreadable
from index.readers.grid import MAX_CELLS, Grid, Range, add_sheet, shown
from index.readers.packages import language, metadata, opened, usual

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

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
)
