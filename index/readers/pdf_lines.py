"""The lines of a PDF page in reading order: down one column, then down the next."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from index.languages.characters import WIDE
from index.readers.pdf_page import Run, raised
from index.readers.pdf_words import FROM_RIGHT_LETTER

_WIDE = re.compile(f"[{WIDE}]")
#: A column of prose has lines of this many letters at least; a wide character counts as two.
_PROSE = 18
#: So many edges of columns are tried, and so many stretches of each, the tallest.
_MOST_EDGES, _MOST_PLACES = 40, 6


class Line(NamedTuple):
    """Cells are parted by gaps wider than a letter is high. `start` and `end` grow in the direction in which it is read."""

    cells: tuple[Run, ...]
    start: float
    end: float
    top: float
    bottom: float
    size: float
    bold: bool

    @property
    def text(self) -> str:
        return " ".join(cell.text for cell in self.cells)

    @property
    def fixed(self) -> bool:
        return all(cell.fixed for cell in self.cells)


def regions(runs: Sequence[Run]) -> list[list[Line]]:
    """The columns of a page, each with its lines; text across all columns is a region between them."""
    result = _columns(runs) if len(runs) >= 4 else None
    if result is None:
        lines = lines_of(runs)
        return [lines] if lines else []
    above, left, right, below = result
    first, second = (right, left) if reads_from_right(runs) else (left, right)
    return [*regions(above), *regions(first), *regions(second), *regions(below)]


def _columns(runs: Sequence[Run]) -> tuple[list[Run], list[Run], list[Run], list[Run]] | None:
    """The runs above, left, right and below of the tallest gutter that no run crosses; None where there are no columns."""
    best: tuple[float, float, float, float] | None = None
    edges_of = Counter([*(round(run.left) - 1 for run in runs), *(round(run.right) + 1 for run in runs)])
    for x in (float(x) for x, times in edges_of.most_common(_MOST_EDGES) if times >= 3):
        crossing = sorted((run.top, run.bottom) for run in runs if run.left < x < run.right)
        edges = [float("-inf"), *(edge for pair in crossing for edge in pair), float("inf")]
        free = sorted(zip(edges[::2], edges[1::2], strict=True), key=lambda pair: pair[0] - pair[1])
        for top, bottom in free[:_MOST_PLACES]:
            inside = [run for run in runs if top <= (run.top + run.bottom) / 2 <= bottom]
            left, right = [run for run in inside if run.right <= x], [run for run in inside if run.left >= x]
            height = _shared_height(left, right)
            if height > 0 and (best is None or height > best[0]) and _are_columns(left, right):
                best = (height, x, top, bottom)
    if best is None:
        return None
    _, x, top, bottom = best
    above = [run for run in runs if (run.top + run.bottom) / 2 < top]
    below = [run for run in runs if (run.top + run.bottom) / 2 > bottom]
    inside = [run for run in runs if top <= (run.top + run.bottom) / 2 <= bottom]
    return above, [run for run in inside if run.right <= x], [run for run in inside if run.right > x], below


def _shared_height(left: list[Run], right: list[Run]) -> float:
    """The height of the lower side; 0 where no gutter parts the two."""
    if len(left) < 2 or len(right) < 2:
        return 0
    gutter = min(run.left for run in right) - max(run.right for run in left)
    if gutter < 0.8 * max(right[0].size, left[0].size):
        return 0
    return min(max(run.bottom for run in side) - min(run.top for run in side) for side in (left, right))


def _are_columns(left: list[Run], right: list[Run]) -> bool:
    """Prose at both sides, or lines that are not side by side: else it may be a table, read row by row."""
    one, two = lines_of(left), lines_of(right)
    if len(one) < 2 or len(two) < 2:
        return False
    if _is_prose(one) and _is_prose(two):
        return True
    if any(run.table for run in (*left, *right)):
        return False
    fewer, more = (one, two) if len(one) <= len(two) else (two, one)
    beside = sum(any(abs(line.bottom - other.bottom) < 0.25 * line.size for other in more) for line in fewer)
    return beside < 0.5 * len(fewer) and len(fewer) >= 3


def _is_prose(lines: list[Line]) -> bool:
    start, end = min(line.start for line in lines), max(line.end for line in lines)
    full = sum(line.end - start >= 0.75 * (end - start) for line in lines)
    letters = sum(len(line.text) + len(_WIDE.findall(line.text)) for line in lines)
    single = sum(len(line.cells) == 1 for line in lines)
    return full >= 0.4 * len(lines) and letters >= _PROSE * len(lines) and single >= 0.6 * len(lines)


def lines_of(runs: Sequence[Run]) -> list[Line]:
    """Lines from top to bottom, in any order of drawing."""
    rows: list[list[Run]] = []
    ends: list[tuple[float, float]] = []
    for run in sorted(runs, key=lambda run: (run.top + run.bottom, run.left)):
        if rows and not run.table and not rows[-1][0].table:
            top, bottom = ends[-1]
            shared = min(run.bottom, bottom) - max(run.top, top)
            if shared > 0.5 * min(run.bottom - run.top, bottom - top):
                rows[-1].append(run)
                if run.bottom - run.top > bottom - top:
                    ends[-1] = run.top, run.bottom
                continue
        rows.append([run])
        ends.append((run.top, run.bottom))
    return [_line(row) for row in rows]


def _line(runs: list[Run]) -> Line:
    from_right = reads_from_right(runs)
    runs = sorted(runs, key=lambda run: -run.right if from_right else run.left)
    cells = [runs[0]]
    for run in runs[1:]:
        last = cells[-1]
        gap = last.left - run.right if from_right else run.left - last.right
        if gap > max(last.size, run.size):
            cells.append(run)
        else:
            glue = "" if gap < 0.2 * run.size else " "
            text = run.text if glue else raised(run.text, last.size, last.bottom, run.size, run.bottom)
            longer = max(last, run, key=lambda one: len(one.text))
            cells[-1] = longer._replace(
                text=last.text + glue + text,
                left=min(last.left, run.left),
                right=max(last.right, run.right),
                bold=last.bold and run.bold,
                fixed=last.fixed and run.fixed,
            )
    left, right = min(run.left for run in runs), max(run.right for run in runs)
    longest = max(cells, key=lambda cell: len(cell.text))
    return Line(
        tuple(cells),
        -right if from_right else left,
        -left if from_right else right,
        longest.top,
        longest.bottom,
        longest.size,
        all(cell.bold for cell in cells),
    )


def reads_from_right(runs: Sequence[Run]) -> bool:
    text = "".join(run.text for run in runs)
    if text.isascii():
        return False
    letters = sum(map(str.isalpha, text))
    return 2 * len(FROM_RIGHT_LETTER.findall(text)) > letters
