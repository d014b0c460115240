"""Tables of a PDF page: those in drawn lines, with their merged cells, and those by columns that several lines share.

Each becomes one run at its place on the page. Unsure tables stay prose.
"""

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import pairwise

from index.readers.pdf_lines import Line, lines_of, reads_from_right
from index.readers.pdf_page import Rule, Run, Table

#: A table without drawn lines has as many rows at least.
_LEAST_ROWS = 3
_LONGEST_CELL = 60
_NUMBER = re.compile(r"(?:[A-Z]{3}\s)?[-+–−(]?[^\w\s]?\s?\d[\d\s.,'’]*\s?[%)\w]{0,3}[^\w\s]?")
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
        columns = (at for at in range(len(first)) if not _NUMBER.fullmatch(first[at]))
        numbers = whole and any(all(_NUMBER.fullmatch(row[at]) for row in whole) for at in columns)
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


#: Drawn lines that are no farther apart touch.
_NEAR = 3.0
_MOST_RULES = 3000

#: The runs of each cell; a merged cell is at each of its places.
_Cells = list[list[list[Run]]]


def with_grids(runs: Sequence[Run], rules: Sequence[Rule]) -> list[Run]:
    """The runs of a page, those inside a table as one."""
    left = list(runs)
    for group in _touching(rules):
        edges = _apart([_across(rule) for rule in group if _is_upright(rule)])
        levels = _apart([_down(rule) for rule in group if not _is_upright(rule)])
        if len(edges) < 3 or len(levels) < 3:
            continue
        inside = [
            run for run in left
            if edges[0] < (run.left + run.right) / 2 < edges[-1] and levels[0] < (run.top + run.bottom) / 2 < levels[-1]
        ]  # fmt: skip
        if not inside or any(run.left < edges[0] - _NEAR or run.right > edges[-1] + _NEAR for run in inside):
            continue
        cells = _cells(inside, group, edges, levels)
        if not any(len({id(cell) for cell in row if cell}) > 1 for row in cells) or _crosses(cells, edges, levels):
            continue
        table = _table(cells, edges, from_right=reads_from_right(inside))
        if table is not None:
            taken = {id(run) for run in inside}
            left = [run for run in left if id(run) not in taken]
            text = " ".join(run.text for run in inside)
            size = min(run.size for run in inside)
            position = edges[0], edges[-1], levels[0], levels[-1]
            left.append(Run(text, *position, size, bold=False, fixed=False, table=table))
    return left


def _touching(rules: Sequence[Rule]) -> list[list[Rule]]:
    """The drawn lines in groups, of which each line touches another of its group."""
    distinct = sorted(set(rules), key=lambda rule: rule.top)
    if len(distinct) > _MOST_RULES:
        return []
    open_: list[tuple[Rule, int]] = []
    names: list[int] = []

    def name(at: int) -> int:
        while names[at] != at:
            names[at] = names[names[at]]
            at = names[at]
        return at

    for rule in distinct:
        open_ = [pair for pair in open_ if pair[0].bottom + _NEAR >= rule.top]
        own = len(names)
        names.append(own)
        for other, at in open_:
            if other.left - _NEAR <= rule.right and rule.left <= other.right + _NEAR:
                names[name(at)] = name(own)
        open_.append((rule, own))
    group_of: list[list[Rule]] = [[] for _ in distinct]
    for at, rule in enumerate(distinct):
        group_of[name(at)].append(rule)
    return [group for group in group_of if len(group) > 4]


def _cells(runs: list[Run], rules: list[Rule], edges: list[float], levels: list[float]) -> _Cells:
    """The places of a grid; two without a drawn line between them are one cell."""
    upright = [rule for rule in rules if _is_upright(rule)]
    flat = [rule for rule in rules if not _is_upright(rule)]
    cells: _Cells = []
    for top, bottom in pairwise(levels):
        middle = (top + bottom) / 2
        walls = [_across(rule) for rule in upright if rule.top < middle < rule.bottom]
        row: list[list[Run]] = []
        for at, (one, two) in enumerate(pairwise(edges)):
            centre = (one + two) / 2
            under = any(abs(_down(rule) - top) <= _NEAR and rule.left < centre < rule.right for rule in flat)
            beside = any(abs(wall - one) <= _NEAR for wall in walls)
            above = cells[-1][at] if cells and not under else None
            before = row[-1] if row and not beside else None
            row.append(above if above is not None else before if before is not None else [])
        cells.append(row)
    for run in runs:
        across, down = (run.left + run.right) / 2, (run.top + run.bottom) / 2
        cells[_between(down, levels)][_between(across, edges)].append(run)
    return cells


def _crosses(cells: _Cells, edges: list[float], levels: list[float]) -> bool:
    """Whether text reaches over the walls of its cell, as it does over the decoration of a slide."""
    for (top, bottom), row in zip(pairwise(levels), cells, strict=True):
        for cell in {id(cell): cell for cell in row if cell}.values():
            at = [at for at, one in enumerate(row) if one is cell]
            left, right = edges[at[0]] - _NEAR, edges[at[-1] + 1] + _NEAR
            if any(run.left < left or run.right > right for run in cell):
                return True
            if sum(any(cell is one for one in other) for other in cells) == 1 and any(
                run.top < top - 0.5 * run.size or run.bottom > bottom + 0.5 * run.size for run in cell
            ):
                return True
    return False


def _table(cells: _Cells, edges: list[float], *, from_right: bool) -> Table | None:
    """Cells as text. A header's cell over several columns is a part of the name of each."""
    rows: _Cells = []
    for row in cells:
        same = rows and all(one is two for one, two in zip(row, rows[-1], strict=True))
        if any(row) and not same:
            rows.append(row)
    title = ""
    if len(rows) > 1 and _is_one(rows[0]):
        title = _text(rows.pop(0)[0]).replace("\n", " ")
    if len(rows) < 2:
        return None
    texts = [tuple(map(_text, row[::-1] if from_right else row)) for row in rows]
    depth = _header(rows)
    names = tuple(" ".join(dict.fromkeys(filter(None, column))) for column in zip(*texts[:depth], strict=True))
    body = [text[:1] if _is_one(row) else text for row, text in zip(rows[depth:], texts[depth:], strict=True)]
    return named([names, *body], distinct=True)._replace(title=title, edges=tuple(edges))


def _header(rows: _Cells) -> int:
    """The number of rows that name the columns: several where a cell reaches over two columns, and others down next to it."""
    first = rows[0]
    if len(first) == len({id(cell) for cell in first}):
        return 1
    depth = max(sum(any(cell is one for one in row) for row in rows) for cell in first)
    return min(max(2, depth), len(rows) - 1)


def _is_one(row: list[list[Run]]) -> bool:
    return all(cell is row[0] for cell in row)


def _text(cell: list[Run]) -> str:
    return "\n".join(line.text for line in lines_of(cell))


def _is_upright(rule: Rule) -> bool:
    return rule.right - rule.left < rule.bottom - rule.top


def _across(rule: Rule) -> float:
    return (rule.left + rule.right) / 2


def _down(rule: Rule) -> float:
    return (rule.top + rule.bottom) / 2


def _between(place: float, bounds: list[float]) -> int:
    return min(max(bisect(bounds, place) - 1, 0), len(bounds) - 2)


def _apart(places: list[float]) -> list[float]:
    """The places in order, without those that are hardly apart."""
    kept: list[float] = []
    for position in sorted(places):
        if not kept or position - kept[-1] > _NEAR:
            kept.append(position)
    return kept
