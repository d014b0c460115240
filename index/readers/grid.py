"""The filled cells of a sheet as a person sees them, and the tables in them.

A value is shown by its number format, without grouping of thousands, a date as ISO. Tables are separated by empty rows or columns,
each with its title and header.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from datetime import datetime, time
from functools import cache
from typing import NamedTuple

from index.readers.formats import TextBuilder, Unreadable, row
from index.readers.tabular import SAMPLE, Head, head, is_certain

#: Of one workbook. A cell takes about 200 bytes while its sheet is read.
MAX_CELLS = 2_000_000
#: Of one sheet. A text that many cells share is one in the file.
MAX_CHARACTERS = 50_000_000


class Range(NamedTuple):
    """A rectangle of cells, counted from 1, its last row and column included."""

    top: int
    left: int
    bottom: int
    right: int


class Table(NamedTuple):
    """Rows without an empty one between them, and the columns that they fill."""

    rows: list[int]
    columns: list[int]


class Grid:
    """The cells with content of a sheet, by row and column, counted from 1."""

    def __init__(self, room: int = MAX_CELLS) -> None:
        self.rows: dict[int, dict[int, str]] = {}
        self.count = 0
        self._room = room
        self._characters = 0
        self._wide: dict[int, list[Range]] = {}
        self._hidden: set[int] = set()

    def put(self, number: int, column: int, text: str) -> None:
        """Raises Unreadable when the sheet has more than there is room for."""
        if not text.strip():
            return
        self.count += 1
        if self.count > self._room:
            raise Unreadable(f"more than {MAX_CELLS:,} filled cells; split it, or save its sheets as CSV")
        self._characters += len(text)
        if self._characters > MAX_CHARACTERS:
            raise Unreadable(f"more than {MAX_CHARACTERS:,} characters on one sheet; split it")
        self.rows.setdefault(number, {})[column] = text

    def hide_rows(self, numbers: Iterable[int]) -> None:
        """Leave rows out; their table stays a table."""
        for number in numbers:
            self.rows.pop(number, None)
            self._hidden.add(number)

    def hide_columns(self, first: int, last: int) -> None:
        for cells in self.rows.values():
            for column in [column for column in cells if first <= column <= last]:
                del cells[column]
        self.rows = {number: cells for number, cells in self.rows.items() if cells}

    def spread(self, ranges: Iterable[Range]) -> None:
        """Copy the text of a merged cell into each row and column that it covers, as far as the sheet is filled."""
        numbers = sorted(self.rows)
        used = sorted({column for cells in self.rows.values() for column in cells})
        for one in ranges:
            text = self.rows.get(one.top, {}).get(one.left)
            if text is None:
                continue
            columns = used[bisect_left(used, one.left) : bisect_left(used, one.right + 1)]
            for number in numbers[bisect_left(numbers, one.top) : bisect_left(numbers, one.bottom + 1)]:
                for column in columns:
                    if column not in self.rows[number]:
                        self.put(number, column, text)
                if one.right > one.left:
                    self._wide.setdefault(number, []).append(one)

    def tables(self) -> Iterator[Table]:
        block: list[int] = []
        expected = 0
        for number in sorted(self.rows):
            while expected in self._hidden:
                expected += 1
            if block and number > expected:
                yield from self._beside(block)
                block = []
            block.append(number)
            expected = number + 1
        if block:
            yield from self._beside(block)

    def _beside(self, numbers: list[int]) -> Iterator[Table]:
        """The tables side by side in these rows; a column left empty inside one table does not cut it."""
        used = sorted({column for number in numbers for column in self.rows[number]})
        groups: list[list[int]] = []
        for column in used:
            if groups and column == groups[-1][-1] + 1:
                groups[-1].append(column)
            else:
                groups.append([column])
        if len(groups) == 1 or any(len(group) < 2 for group in groups):
            yield Table(numbers, used)
            return
        for group in groups:
            filled = [number for number in numbers if any(column in self.rows[number] for column in group)]
            yield Table(filled, group)

    def cells(self, table: Table) -> list[list[str]]:
        return [[self.rows[number].get(column, "") for column in table.columns] for number in table.rows]

    def is_wide(self, number: int, table: Table) -> bool:
        """Whether one merged cell covers the row from the table's first column to its last."""
        return any(
            one.left <= table.columns[0] and one.right >= table.columns[-1] for one in self._wide.get(number, ())
        )

    def grouping(self, table: Table) -> set[int]:
        """The positions of rows with a cell merged over several of the table's columns, but not over all."""
        return {
            at
            for at, number in enumerate(table.rows)
            if not self.is_wide(number, table)
            and any(one.right > table.columns[0] and one.left < table.columns[-1] for one in self._wide.get(number, ()))
        }


def add_sheet(builder: TextBuilder, name: str, grid: Grid) -> None:
    """A heading with the sheet's name, and its tables; an empty sheet adds nothing."""
    if not grid.rows:
        return
    sheet = name if name.isidentifier() else "'" + name.replace("'", "''") + "'"
    builder.add(name, "heading", 1, anchor=f"{sheet}!A1")
    told = Head((), (), 0)
    before: Table | None = None
    for table in grid.tables():
        rows = grid.cells(table)
        if len(table.columns) == 1:
            for number, cells in zip(table.rows, rows, strict=True):
                builder.add(cells[0], anchor=_cells(sheet, number, table))
            continue
        first = head(rows[: SAMPLE + 10], grid.grouping(table))
        goes_on = (
            before is not None
            and before.columns == table.columns
            and before.rows[-1] + 2 >= table.rows[0]
            and not first.titles
            and not is_certain(first.names, rows[first.rows :])
        )
        start = 0
        if not goes_on:
            for title in first.titles:
                builder.add(title)
            told, start = first, first.rows
            builder.add(row(first.names), "table_header")
        _add_rows(builder, sheet, grid, table, rows, told, start)
        before = table


def _add_rows(
    builder: TextBuilder,
    sheet: str,
    grid: Grid,
    table: Table,
    rows: list[list[str]],
    first: Head,
    start: int,
) -> None:
    """The rows from `start`. One merged over all columns is a title within the table; single cells at the end are notes."""
    notes = len(rows)
    if len(table.columns) > 2:
        while notes > start + 1 and sum(map(bool, rows[notes - 1])) == 1 and rows[notes - 1][0]:
            notes -= 1
    for at in range(start, len(rows)):
        number = table.rows[at]
        anchor = _cells(sheet, number, table)
        if at >= notes or (len(table.columns) > 2 and grid.is_wide(number, table)):
            builder.add(rows[at][0], anchor=anchor)
        else:
            builder.add(first.row(rows[at]), "table_row", anchor=anchor)


def _cells(sheet: str, number: int, table: Table) -> str:
    first, last = letters(table.columns[0]), letters(table.columns[-1])
    return f"{sheet}!{first}{number}" + (f":{last}{number}" if last != first else "")


def letters(column: int) -> str:
    """A column's name, A for 1."""
    name = ""
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)(?:-[^\]]*)?\]|\[[^\]]*\]|_.|\*.')
_DIGITS = re.compile(r"[0#?,]+(?:\.([0#?]+))?")


class _Pattern(NamedTuple):
    before: str
    decimals: int | None  # None: as many as the number has
    least_digits: int
    percent: bool
    after: str


def shown(value: object, number_format: str = "General") -> str:
    """The text of one cell; an empty one is ''."""
    match value:
        case bool():
            return str(value).upper()
        case int() | float():
            return _number(value, number_format)
        case datetime():
            return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")
        case time():
            return value.isoformat("minutes" if not value.second else "seconds")
    return "" if value is None else str(value).strip()


def _number(value: float, number_format: str) -> str:
    pattern = _pattern(number_format)
    amount = value * 100 if pattern.percent else value
    if pattern.decimals is None:
        digits = str(int(amount)) if float(amount).is_integer() and abs(amount) < 1e15 else f"{amount:.12g}"
    else:
        digits = f"{abs(amount):.{pattern.decimals}f}"
        whole, point, rest = digits.partition(".")
        digits = ("-" if amount < 0 else "") + whole.zfill(pattern.least_digits) + point + rest
    return f"{pattern.before}{digits}{'%' if pattern.percent else ''}{pattern.after}".strip()


@cache
def _pattern(number_format: str) -> _Pattern:
    """The first section of a format such as `#,##0.00 "€";-0`; one that is not understood shows the number as it is."""
    section = re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', number_format)[0]
    if section.lower() == "general" or "@" in section or re.search(r"[eE][+-]|\?/|[0#]/[0#]", section):
        return _Pattern("", None, 0, percent=False, after="")
    literal = _LITERAL.sub(lambda found: (found[1] or found[2] or found[3] or "").replace("%", ""), section)
    digits = _DIGITS.search(literal)
    if digits is None or re.search(r"[ymdhs]", re.sub(_LITERAL, "", section), re.IGNORECASE):
        return _Pattern("", None, 0, percent="%" in section, after="")
    fraction = digits[1] or ""
    return _Pattern(
        before=literal[: digits.start()].lstrip("(-"),
        decimals=None if "#" in fraction or "?" in fraction else len(fraction),
        least_digits=digits[0].partition(".")[0].count("0"),
        percent="%" in section,
        after=literal[digits.end() :].replace("%", "").rstrip(")"),
    )
