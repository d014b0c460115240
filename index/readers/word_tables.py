"""Tables of WordprocessingML as rows of texts, merged text written into each cell that it covers."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from index.readers.tabular import Head, head, joined
from index.readers.word_text import WRAPPERS, W, is_on, value

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


class Rows(NamedTuple):
    """`wide`: the positions of rows that are one merged cell; `grouping`: of rows with a cell over several columns.

    `header`: how many rows the document marks as repeated on each page.
    """

    cells: list[list[str]]
    wide: set[int]
    grouping: set[int]
    header: int


def rows_of(table: "Element", text_of: Callable[["Element"], str]) -> Rows:
    """`text_of` gives the text of one cell, a `tc`."""
    result = Rows([], set(), set(), 0)
    header = 0
    for tr in _inside(table, "tr"):
        properties = tr.find(W + "trPr")
        if properties is not None and (properties.find(W + "del") is not None or is_on(properties.find(W + "hidden"))):
            continue
        above = result.cells[-1] if result.cells else []
        before = "" if properties is None else value(properties.find(W + "gridBefore"))
        cells = [""] * (int(before) if before.isdigit() else 0)
        spans: list[int] = []
        for tc in _inside(tr, "tc"):
            span = value(tc.find(f"{W}tcPr/{W}gridSpan"))
            spans.append(int(span) if span.isdigit() else 1)
            merged = tc.find(f"{W}tcPr/{W}vMerge")
            goes_on = merged is not None and value(merged) != "restart"
            text = above[len(cells)] if goes_on and len(cells) < len(above) else text_of(tc)
            cells += [text] * min(spans[-1], 200)
        at = len(result.cells)
        if len(spans) == 1 and spans[0] > 2:
            result.wide.add(at)
        elif any(span > 1 for span in spans):
            result.grouping.add(at)
        if header == at and properties is not None and is_on(properties.find(W + "tblHeader")):
            header += 1
        result.cells.append(cells)
    return result._replace(header=header)


def head_of(rows: Rows) -> Head:
    """The header is what the document marks as such, else the first row if it looks like one."""
    if 0 < rows.header < len(rows.cells):
        return Head((), joined(rows.cells[: rows.header]), rows.header)
    return head(rows.cells, rows.grouping)


def cells_of(table: "Element") -> Iterator["Element"]:
    for tr in _inside(table, "tr"):
        yield from _inside(tr, "tc")


def _inside(element: "Element", name: str) -> Iterator["Element"]:
    """The rows of a table or cells of a row, those in content controls too."""
    for child in element:
        if child.tag == W + name:
            yield child
        elif child.tag in WRAPPERS or child.tag == W + "sdt":
            yield from _inside(child, name)
