"""An HTML table as rows of cells, a merged cell in every row and column that it covers; and whether it is a table at all."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from lxml import etree
from lxml.html import HtmlElement

from index.model import BlockKind
from index.readers.formats import row
from index.readers.tabular import Head, has_labels, in_a_cell, joined, labelled

#: The content of the cells of a table that only arranges the page.
_ARRANGED = ("table", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "ul", "ol", "dl", "blockquote", "section", "article")
_MOST_COLUMNS = 100


class CellPart(NamedTuple):
    """A block before it has its place."""

    text: str
    kind: BlockKind
    level: int = 0
    anchor: str = ""
    syntax: str = ""


class Row(NamedTuple):
    """`cells` has the cell of each column, None where there is none; `own` are those that begin in this row."""

    cells: list[HtmlElement | None]
    own: list[HtmlElement]
    in_head: bool

    @property
    def is_header(self) -> bool:
        return self.in_head or (self.label is None and all(map(is_header_cell, self.own)))

    @property
    def label(self) -> HtmlElement | None:
        """The one cell of a row that it fills, as a title between rows does."""
        alone = len(self.own) == 1 and len(self.cells) > 1 and all(cell is self.own[0] for cell in self.cells)
        return self.own[0] if alone else None


def is_header_cell(cell: HtmlElement) -> bool:
    return cell.tag == "th" or cell.get("role") in ("columnheader", "rowheader")


def rows(table: HtmlElement) -> list[Row]:
    """The rows in the order in which they are shown: those of the head first, those of the foot last."""
    known = sorted(_lines(table), key=lambda line: {"thead": 0, "tfoot": 2}.get(_section(line).tag, 1))
    placed = _placed(known)
    begins = sorted({column for covered, _ in placed for column, (_, first) in covered.items() if column == first})
    result: list[Row] = []
    for line, (covered, own) in zip(known, placed, strict=True):
        cells = [covered[column][0] if column in covered else None for column in begins]
        if own:
            result.append(Row(cells, own, _section(line).tag == "thead"))
    return result


def arranges_the_page(table: HtmlElement, found: list[Row]) -> bool:
    """Whether the cells are read as what they hold, since the table only arranges the page."""
    if table.get("role") in ("presentation", "none") or sum(len(row.own) for row in found) <= 1:
        return True
    if any(row.in_head or any(map(is_header_cell, row.own)) for row in found):
        return False
    return all(len(row.own) == 1 for row in found) or next(table.iterdescendants(*_ARRANGED), None) is not None


def pieces(found: list[Row], read: Callable[[HtmlElement], tuple[str, list[CellPart]]]) -> Iterator[CellPart]:
    """The blocks of a table: each row with the names of its columns, and below it the code in its cells."""
    value = {cell: read(cell) for one in found for cell in one.own}
    lines = [["" if cell is None else value[cell][0] for cell in one.cells] for one in found]
    if has_labels(lines) and not any(one.in_head or any(map(is_header_cell, one.own)) for one in found):
        lines = [[labelled(cells)] for cells in lines]
    columns: list[str] = []
    head: list[list[str]] = []
    body = any(not one.is_header for one in found)
    for one, texts in zip(found, lines, strict=True):
        if one.label is not None and one.in_head:
            yield CellPart(value[one.label][0], "prose")
        elif one.label is None and one.is_header and (body or one.in_head or one is found[0]):
            head.append(texts)
        else:
            if head:
                columns, head = list(joined(head)), []
                yield CellPart(row(columns), "table_header")
            yield CellPart(value[one.label][0] if one.label is not None else _named(one, texts, columns), "table_row")
        for cell in one.own:
            yield from value[cell][1]
    if head:
        yield CellPart(row(joined(head)), "table_header")


def piece_in_a_cell(found: list[Row], read: Callable[[HtmlElement], tuple[str, list[CellPart]]]) -> list[CellPart]:
    """A table inside a cell as one text, and the code in it."""
    value = {cell: read(cell) for one in found for cell in one.own}
    below = [part for _, parts in value.values() for part in parts]
    rows = [
        [value[one.label][0]]
        if one.label is not None
        else ["" if cell is None else value[cell][0] for cell in one.cells]
        for one in found
    ]
    heads = 0
    while heads < len(found) - 1 and found[heads].label is None and found[heads].is_header:
        heads += 1
    return [CellPart(in_a_cell(rows, Head((), joined(rows[:heads]), heads)), "prose"), *below]


def _named(one: Row, texts: list[str], columns: list[str]) -> str:
    if columns or not is_header_cell(one.own[0]) or one.cells[0] is not one.own[0] or all(map(is_header_cell, one.own)):
        return row(texts, columns)
    return row(texts[1:], texts[:1])  # a row that is named in its first column only


def outside_cells(table: HtmlElement) -> Iterator[str]:
    """Text between the cells, where none belongs."""
    walk = etree.iterwalk(table, events=("start", "end"))
    for event, element in walk:
        if event == "end":
            yield (element.tail or "") if element is not table else ""
        elif element.tag in ("td", "th", "caption"):
            walk.skip_subtree()
        else:
            yield element.text or ""


def _lines(table: HtmlElement) -> list[HtmlElement]:
    """What holds the cells of this table, not of a table inside it: its `tr` elements, if it is well formed."""
    results: dict[HtmlElement, None] = {}
    walk = etree.iterwalk(table, events=("start",))
    for _, element in walk:
        if element is not table and element.tag in ("table", "td", "th", "caption"):
            walk.skip_subtree()
        if element.tag in ("td", "th"):
            results.setdefault(element.getparent())
        elif element.tag == "tr":
            results.setdefault(element)
    return list(results)


def _section(line: HtmlElement) -> HtmlElement:
    """The head, body or foot that the line belongs to."""
    return next((one for one in (line, *line.iterancestors()) if one.tag in ("thead", "tbody", "tfoot", "table")), line)


def _placed(lines: list[HtmlElement]) -> list[tuple[dict[int, tuple[HtmlElement, int]], list[HtmlElement]]]:
    """For each line, by column: the cell and the column in which it begins; and the cells that begin in the line."""
    result: list[tuple[dict[int, tuple[HtmlElement, int]], list[HtmlElement]]] = []
    #: By column: the cell, its first column, the lines still to fill.
    above: dict[int, tuple[HtmlElement, int, int]] = {}
    section = None
    for line in lines:
        if _section(line) is not section:
            section, above = _section(line), {}
        covered = {column: (cell, first) for column, (cell, first, _) in above.items()}
        above = {column: (cell, first, left - 1) for column, (cell, first, left) in above.items() if left > 1}
        own = [cell for cell in line if cell.tag in ("td", "th")]
        column = 0
        for cell in own:
            while column in covered:
                column += 1
            down = _span(cell, "rowspan") or len(lines)
            for at in range(column, column + min(_span(cell, "colspan") or 1, _MOST_COLUMNS)):
                covered.setdefault(at, (cell, column))
                if down > 1:
                    above[at] = (cell, column, down - 1)
            column = at + 1
        result.append((covered, own))
    return result


def _span(cell: HtmlElement, name: str) -> int:
    """How many columns or lines the cell fills; 0, for lines, is all that are left."""
    value = cell.get(name, "1").strip()
    return int(value) if value.isdecimal() and len(value) < 6 else 1
