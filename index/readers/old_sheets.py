"""XLS and XLSB by calamine, which knows neither number formats nor hidden rows."""

import io

from index.model import Document
from index.readers.formats import Format, Source, TextBuilder, Unreadable
from index.readers.grid import MAX_CELLS, Grid, Range, add_sheet, shown


def read_old_sheets(source: Source) -> Document:
    """Raises Unreadable."""
    import python_calamine as calamine

    builder = TextBuilder()
    left = MAX_CELLS
    try:
        with calamine.CalamineWorkbook.from_filelike(io.BytesIO(source.data)) as book:
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
    except calamine.PasswordError as error:
        raise Unreadable("protected by a password; save it without one") from error
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise Unreadable(f"no readable XLS or XLSB ({str(error)[:120]})") from error
    except BaseException as error:
        if (
            type(error).__name__ != "PanicException"
        ):  # what a bug in the library raises, of a class that it does not export
            raise
        raise Unreadable(f"no readable XLS or XLSB ({str(error)[:120]})") from error
    if not builder:
        raise Unreadable("the document has no text", failed=False)
    return builder.finish(source.source_id, source.title)


FORMATS = (
    Format(
        "Excel 97–2003, Excel binary",
        (".xls", ".xlsb"),
        read_old_sheets,
        "python-calamine",
        "sheets as headings, titles, rows with their column names and cell range, merged cells in each row",
        "number formats (5 % is read as 0.05), hidden sheets, comments, properties",
    ),
)
