"""Tables of a PDF page: those in drawn lines, and those by columns that several lines share. Unsure tables stay prose."""

import re
from collections.abc import Iterator, Sequence

from index.readers.pdf_lines import Line
from index.readers.pdf_page import Rule, Run, Table

#: A table without drawn lines has as many rows at least.
_LEAST_ROWS = 3
_LONGEST_CELL = 60
_NUMBER = re.compile(r"[-+–−(]?[^\w\s]?\s?\d[\d\s.,'’]*\s?[%)\w]{0,3}[^\w\s]?")
_NAME = re.compile(r"[^\W\d_]")


def with_tables(lines: Sequence[Line], rules: Sequence[Rule]) -> Iterator[Table | list[Line]]:
    """A region's lines, those between tables together, and its tables."""
    at = 0
    plain: list[Line] = []
    while at < len(lines):
        drawn = lines[at].cells[0].table
        result = None if drawn else _aligned(lines, at)
        if drawn:
            if plain:
                yield plain
                plain = []
            yield drawn
            at += 1
            continue
        if result is None:
            plain.append(lines[at])
            at += 1
            continue
        if plain:
            yield plain
            plain = []
        rows, after = result
        top, bottom = lines[at].bottom - 1, lines[min(at + 1, after - 1)].top + 0.5 * lines[at].size
        ruled = any(rule.bottom - rule.top < 3 and top < rule.top < bottom for rule in rules)
        yield named(rows, distinct=ruled or (lines[at].bold and not lines[after - 1].bold))
        at = after
    if plain:
        yield plain


def named(rows: list[tuple[str, ...]], *, distinct: bool) -> Table:
    """With the first row as names of columns, where it is `distinct` or is above numbers, and has the words for it."""
    first = rows[0]
    names = first[1:] if distinct and not first[0] and len(first) > 2 else first  # the corner of a table may be empty
    if len(rows) > 1 and all(_NAME.search(cell) and len(cell) <= _LONGEST_CELL for cell in names):
        whole = [row for row in rows[1:] if len(row) == len(first)]
        numbers = whole and any(all(_NUMBER.fullmatch(row[at]) for row in whole) for at in range(len(first)))
        if distinct or numbers:
            return Table(first, tuple(rows[1:]))
    return Table((), tuple(rows))


def _aligned(lines: Sequence[Line], at: int) -> tuple[list[tuple[str, ...]], int] | None:
    """Rows of cells below each other: two columns or more, and no cell that reaches over two of them."""
    if len(lines[at].cells) < 2 or _is_marker(lines[at].cells[0]):
        return None
    spans: list[tuple[float, float]] = []
    taken: list[Line] = []
    for line in lines[at:]:
        if line.cells[0].table or (taken and line.top - taken[-1].bottom > 1.5 * line.size):
            break
        wider = _merged(spans, line.cells)
        least = len(spans) if spans else 2
        if (
            (len(line.cells) < 2 and not _continues(spans, line))
            or len(wider) < max(2, least)
            or len(wider) > least + (2 if len(taken) < 2 else 0)
        ):
            break
        spans = wider
        taken.append(line)
    while taken and len(taken[-1].cells) < 2:
        taken.pop()
    full = [line for line in taken if len(line.cells) >= max(2, 0.6 * len(spans))]
    if len(full) < _LEAST_ROWS or len(full) < 0.6 * len(taken):
        return None
    longest = max(len(cell.text) for line in full for cell in line.cells)
    if longest > 2 * _LONGEST_CELL:
        return None
    rows: list[list[str]] = []
    for line in taken:
        cells = [" ".join(cell.text for cell in line.cells if one <= cell.left <= two) for one, two in spans]
        if rows and not cells[-1 if line.start < 0 else 0] and len(line.cells) < len(spans) and _continues(spans, line):
            rows[-1] = [f"{above} {cell}".strip() for above, cell in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    return [tuple(row[::-1] if lines[at].start < 0 else row) for row in rows], at + len(taken)


def _merged(spans: list[tuple[float, float]], cells: tuple[Run, ...]) -> list[tuple[float, float]]:
    """The columns' places when these cells are added; cells that overlap are in one column."""
    merged: list[tuple[float, float]] = []
    for left, right in sorted([*spans, *((cell.left, cell.right) for cell in cells)]):
        if merged and left < merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], right)
        else:
            merged.append((left, right))
    return merged


def _continues(spans: list[tuple[float, float]], line: Line) -> bool:
    """Whether a line goes on within one column that is not the first."""
    cell = line.cells[0]
    inner = spans[:-1] if line.start < 0 else spans[1:]
    return any(one - 2 <= cell.left and cell.left <= two for one, two in inner)


def _is_marker(cell: Run) -> bool:
    """A list's bullet or number, which a wide gap may follow."""
    return len(cell.text) <= 4 and not any(map(str.isalpha, cell.text[1:]))
