"""Find in rows of cells what a person sees at once: the title above a table, its header, and where the rows begin."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from index.languages import every
from index.languages.tables.kinds import words_in
from index.readers.formats import TextBuilder, row
from index.text.sentences import CELLS

#: The rows that are compared to distinguish a header from data.
SAMPLE = 200
_MOST_HEADER_ROWS = 3
_LONGEST_NAME = 200
_VALUE = re.compile(
    r"[-+(]?\s*[^\w\s]{0,3}\s*\d[\d.,\s'’/:TZ+-]*\s*[%°)]?\s*[^\W\d]{0,3}|\S+://\S+|\S+@\S+\.\w+|true|false|[-–—?]|n/?a",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")
#: A number or a date at the beginning of a cell, and the first letters of its unit before or after it.
_AMOUNT = re.compile(r"[-+±~<>≈]?\s?([^\w\s(]{0,2})\s?\d[\d.,\s'’/:-]*+([^\W\d]++|[^\w\s(]?)")
_DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}\b")
_MONTHS = frozenset(every(lambda language: words_in(" ".join(language.numbers.dates.months))))
_COLONS = (":", "：")
#: As many units below each other are of different things.
_UNITS = 3


class Head(NamedTuple):
    """`titles` are above the table; `names` are those of its columns, none where no row is a header.

    `rows`: how many rows these are. `labels`: each row is a label and its value.
    """

    titles: tuple[str, ...]
    names: tuple[str, ...]
    rows: int
    labels: bool = False

    def row(self, cells: Sequence[str]) -> str:
        """The text of a row below: `Age: 31 | Town: Lyon`, or `Label: value`."""
        return labelled(cells) if self.labels else row(cells, self.names)

    def add(self, builder: TextBuilder, body: Iterable[Sequence[str]]) -> None:
        """Add the titles, the header and the rows below it."""
        for title in self.titles:
            builder.add(title)
        builder.add(row(self.names), "table_header")
        for cells in body:
            builder.add(self.row(cells), "table_row")


def head(rows: Sequence[Sequence[str]], grouping: Collection[int] = ()) -> Head:
    """What the first rows are. `grouping`: the positions of rows with a cell that is merged over several columns."""
    width = max(map(len, rows), default=0)
    skipped = 0
    while width > 1 and skipped < len(rows) - 1 and _is_title(rows[skipped], width):
        skipped += 1
    if skipped == len(rows) - 1 and skipped:
        skipped = 0  # a list of single cells, not a title
    titles = tuple("".join(_distinct(line)) for line in rows[:skipped] if _distinct(line))
    if has_labels(rows[skipped:]):
        return Head(titles, (), skipped, labels=True)
    last = skipped
    while last in grouping and last - skipped + 1 < _MOST_HEADER_ROWS and last + 2 < len(rows):
        last += 1
    names = joined(rows[skipped : last + 1])
    body = rows[last + 1 :]
    if not body or not _is_header(names, body, several=last > skipped):
        return Head(titles, (), skipped)
    return Head(titles, names, last + 1)


def has_labels(rows: Sequence[Sequence[str]], *, marked: bool = False) -> bool:
    """Whether each row of two columns, the first too, is a label and its value. `marked`: the format makes it a header.

    The first row shows it by a value with a unit, or by one like those below; else different units below show it.
    """
    if len(rows) < 2 or any(len(cells) != 2 for cells in rows):
        return False
    labels, values = ([cell.strip() for cell in column] for column in zip(*rows, strict=True))
    if not all(labels) or len(set(labels)) < len(labels) or any(map(_AMOUNT.match, labels)):
        return False
    if all(label.endswith(_COLONS) for label in labels):
        return True
    first, *others = map(_unit, values)
    if first is not None and not _YEAR.match(values[0]):
        return bool(first) or 2 * sum(unit is not None for unit in others) >= len(others)
    return not marked and len({unit for unit in others if unit}) >= _UNITS


def labelled(cells: Sequence[str]) -> str:
    """`Label: value`, or the label alone."""
    return row(cells[1:], [cells[0].strip().rstrip("".join(_COLONS)).rstrip()]) or row(cells[:1])


def _unit(cell: str) -> str | None:
    """What a cell with an amount counts, in two letters; "" where it does not say; None for a cell without one."""
    if _DATE.match(cell):
        return "date"
    amount = _AMOUNT.match(cell)
    if amount is None:
        return None
    unit = (amount[1] or amount[2]).lower()
    return "date" if unit in _MONTHS else unit[:2]


def joined(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The names of columns with a header of several rows: `Group Name`."""
    width = max(map(len, rows), default=0)
    names: list[str] = []
    for column in range(width):
        parts = (" ".join(cells[column].split()) for cells in rows if column < len(cells))
        names.append(" ".join(dict.fromkeys(part for part in parts if part)))
    return tuple(names)


def in_a_cell(rows: Sequence[Sequence[str]], first: Head) -> str:
    """A table inside a cell: `a: b; c: d`."""
    if len(first.names) > 2:
        lines = [row(cells, first.names).replace(CELLS, ", ") for cells in rows[first.rows :]]
    else:
        lines = [": ".join(filter(None, cells)) for cells in rows[len(first.titles) :]]
    return "; ".join((*first.titles, *filter(None, lines)))


def is_certain(names: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether columns of values have words above them, so that the first row can be nothing but a header."""
    supporting, against = _votes(names, body)
    return supporting > 0 and against == 0


def _is_header(names: Sequence[str], body: Sequence[Sequence[str]], *, several: bool) -> bool:
    filled = [name for name in names if name]
    corner = not names[0]
    if len(filled) < min(2, len(names) - corner) or len(filled) * 2 < len(names):
        return False
    if any(len(name) > _LONGEST_NAME or name.endswith((":", "：")) for name in filled):
        return False
    supporting, against = _votes(names, body)
    if supporting or against:
        return supporting > against
    if several:
        return True
    if len(set(filled)) < len(filled):
        return False
    return not any(name in _column(body, at) for at, name in enumerate(names) if name)


def _votes(names: Sequence[str], body: Sequence[Sequence[str]]) -> tuple[int, int]:
    """How many columns of values have a name above them, and how many begin with one more value."""
    supporting = against = 0
    for at, name in enumerate(names):
        cells = [cell for cell in _column(body[:SAMPLE], at) if cell]
        if not name or sum(map(_is_value, cells)) < 0.8 * max(1, len(cells)):
            continue
        is_year = _YEAR.fullmatch(name) is not None and not all(map(_YEAR.fullmatch, cells))
        if _is_value(name) and not is_year:
            against += 1
        else:
            supporting += 1
    return supporting, against


def _column(body: Sequence[Sequence[str]], at: int) -> list[str]:
    return [" ".join(cells[at].split()) for cells in body if at < len(cells)]


def _is_value(text: str) -> bool:
    return _VALUE.fullmatch(text) is not None


def _is_title(cells: Sequence[str], width: int) -> bool:
    """A single text, or none; above two columns, the text over the second is its name."""
    return len(_distinct(cells)) <= 1 and (width > 2 or not any(cells) or bool(cells[0]))


def _distinct(cells: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(cell for cell in cells if cell.strip()))
