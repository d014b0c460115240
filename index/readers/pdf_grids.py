"""Tables of a PDF page in drawn lines, with their merged cells. Each becomes one run at its place on the page."""

from bisect import bisect
from collections.abc import Sequence
from itertools import pairwise

from index.readers.pdf_lines import lines_of, reads_from_right
from index.readers.pdf_page import Rule, Run, Table
from index.readers.pdf_tables import named

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
