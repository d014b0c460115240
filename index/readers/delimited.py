"""CSV and TSV by the csv module, row by row: a header, if there is one, and rows that say their column names."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

from index.model import Document
from index.readers.formats import Format, Source, TextBuilder
from index.readers.tabular import SAMPLE, head
from index.readers.text import decode

_DELIMITERS = ",;\t|"
#: As many lines are looked at for the delimiter.
_LINES = 100
#: A longer cell among quotes that are not well set was opened by one that is never closed.
_STRAY = 128 * 1024


class _Dialect(NamedTuple):
    delimiter: str
    quoting: int
    strict: bool


def read_delimited(source: Source) -> Document:
    """The delimiter is found by counting, not by the suffix."""
    text = decode(source.data)
    csv.field_size_limit(max(len(text), _STRAY))  # of the whole process; by default a cell of 128 KB ends the reading
    delimiter = _delimiter(text, "\t" if source.suffix == ".tsv" else ",")
    dialect = _dialect(text, delimiter)
    rows = _rows(text, dialect)
    sample = list(islice(rows, SAMPLE))
    builder = TextBuilder()
    first = head(sample)
    first.add(builder, chain(sample[first.rows :], rows))
    return builder.finish(source.source_id, source.title)


def _rows(text: str, dialect: _Dialect) -> Iterator[list[str]]:
    """The rows that are not empty. Raises csv.Error."""
    # A file, not lines: a line break inside quotes belongs to its cell.
    for cells in csv.reader(io.StringIO(text, newline=""), **dialect._asdict(), skipinitialspace=True):
        if any(map(str.strip, cells)):
            yield cells


def _delimiter(text: str, usual: str) -> str:
    """The one that gives most rows the same number of columns, more than one; `usual` when none does.

    Quotes right around cells count for more: another delimiter may well be inside them.
    """
    lines = "".join(line for line in islice(io.StringIO(text), _LINES))
    best, result = (False, 0.0, 0), usual
    for delimiter in sorted(_DELIMITERS, key=lambda one: one != usual):
        problem, widths = "", list[int]()
        try:
            widths.extend(len(cells) for cells in _rows(lines, _Dialect(delimiter, csv.QUOTE_MINIMAL, strict=True)))
        except csv.Error as error:
            problem = str(error)
        if not problem.startswith("unexpected end") and problem:
            rows = _rows(lines, _Dialect(delimiter, csv.QUOTE_NONE, strict=False))
            widths = [len(cells) for cells in rows]
        width, times = Counter(widths).most_common(1)[0] if widths else (0, 0)
        score = ("expected after" not in problem, times / max(1, len(widths)), width)
        if width > 1 and score > best:
            best, result = score, delimiter
    return result


def _dialect(text: str, delimiter: str) -> _Dialect:
    """How quotes are read: one that is never closed would take in the rest of the file, and is then an ordinary sign."""
    for strict in (True, False):
        dialect = _Dialect(delimiter, csv.QUOTE_MINIMAL, strict)
        try:
            for cells in _rows(text, dialect):
                if not strict and max(map(len, cells)) > _STRAY:
                    return _Dialect(delimiter, csv.QUOTE_NONE, strict=False)
        except csv.Error as error:
            if "unexpected end" in str(error):
                break
        else:
            return dialect
    return _Dialect(delimiter, csv.QUOTE_NONE, strict=False)


FORMATS = (
    Format(
        "CSV, TSV",
        (".csv", ".tsv", ".tab"),
        read_delimited,
        "the standard library",
        "rows, each with its column names; delimiter, quotes and header are detected",
    ),
)
