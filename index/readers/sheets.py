"""XLSX by openpyxl: a sheet is a heading and a table."""

import io

from index.model import Document
from index.readers.building import TextBuilder
from index.readers.formats import Format, Source
from index.readers.packages import opened
from index.readers.unreadable import Unreadable

_MAX_ROWS = 200_000


def read_sheets(source: Source) -> Document:
    """Raises Unreadable."""
    import openpyxl

    builder = TextBuilder()
    with opened(source.data, "XLSX"):
        book = openpyxl.load_workbook(io.BytesIO(source.data), read_only=True, data_only=True)
        for sheet in book.worksheets:
            rows = [
                ["" if cell is None else str(cell) for cell in cells]
                for cells in sheet.iter_rows(values_only=True, max_row=_MAX_ROWS)
            ]
            rows = [cells for cells in rows if any(cells)]
            if rows:
                builder.add(sheet.title, "heading", 1)
                builder.table(rows[1:], rows[0])
        title = str(book.properties.title or "")
        book.close()
    if not builder:
        raise Unreadable("the document has no text", failed=False)
    return builder.finish(source.source_id, title.strip() or source.title)


FORMATS = (Format("Excel", (".xlsx",), read_sheets, "openpyxl", "sheets as headings, rows with their column names"),)
