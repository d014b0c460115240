"""Six short documents, one a language, described without a format: `texts/*.toml`. Each holds every structure that we keep."""

import datetime as dt
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec

TEXTS = Path(__file__).parent / "texts"
LANGUAGES = tuple(sorted(path.stem for path in TEXTS.glob("*.toml")))
RIGHT_TO_LEFT = frozenset(("ar",))

#: Text, or the rows of a table inside the cell. "^" goes on from the cell above, "<" from the one before.
Cell = str | list[list[str]]


class Heading(msgspec.Struct, tag="heading", tag_field="kind"):
    text: str
    level: int


class Prose(msgspec.Struct, tag="prose", tag_field="kind"):
    """Inline code is in backticks. `note`: a footnote at its end. `vertical`: written so where a format can."""

    text: str
    note: str = ""
    vertical: bool = False


class Item(msgspec.Struct):
    text: str
    code: str = ""
    inner: list["Item"] = []


class Items(msgspec.Struct, tag="items", tag_field="kind"):
    items: list[Item]
    ordered: bool = False


class Table(msgspec.Struct, tag="table", tag_field="kind"):
    """`header`: how many rows are."""

    caption: str
    rows: list[list[Cell]]
    header: int = 1


class Code(msgspec.Struct, tag="code", tag_field="kind"):
    text: str
    syntax: str


class Quotation(msgspec.Struct, tag="quotation", tag_field="kind"):
    text: str


class Definition(msgspec.Struct, tag="definition", tag_field="kind"):
    term: str
    text: str


Part = Heading | Prose | Items | Table | Code | Quotation | Definition


class Described(msgspec.Struct):
    title: str
    author: str
    date: dt.datetime
    tags: list[str]
    blocks: list[Part]
    language: str = ""


class Placed(msgspec.Struct):
    """A cell of a table that is not covered by another, and how many rows and columns it covers."""

    cell: Cell
    down: int = 1
    across: int = 1


@cache
def described(language: str) -> Described:
    raw = tomllib.loads((TEXTS / f"{language}.toml").read_text(encoding="utf-8"))
    return msgspec.convert({**raw, "language": language}, Described)


def placed(table: Table) -> list[list[Placed | None]]:
    """The rows of a table, None for a cell that another covers."""
    found: list[list[Placed | None]] = []
    owners: list[list[Placed]] = []
    for row in table.rows:
        line: list[Placed | None] = []
        owner: list[Placed] = []
        for column, cell in enumerate(row):
            if cell == "^":
                above = owners[-1][column]
                above.down += not column or owner[-1] is not above
                owner.append(above)
                line.append(None)
            elif cell == "<":
                owner[-1].across += 1
                owner.append(owner[-1])
                line.append(None)
            else:
                owner.append(Placed(cell))
                line.append(owner[-1])
        found.append(line)
        owners.append(owner)
    return found


def spread(table: Table) -> list[list[str]]:
    """The rows of a table for a format without merged cells: a merged cell is repeated."""
    rows: list[list[str]] = []
    for row in table.rows:
        line: list[str] = []
        for column, cell in enumerate(row):
            line.append(rows[-1][column] if cell == "^" else line[-1] if cell == "<" else flat(cell))
        rows.append(line)
    return rows


def joined_header(table: Table) -> list[str]:
    """The names of the columns, those of several rows together."""
    columns = zip(*spread(table)[: table.header], strict=True)
    return [" ".join(dict.fromkeys(names)) for names in columns]


def flat(cell: Cell) -> str:
    return cell if isinstance(cell, str) else "; ".join(": ".join(row) for row in cell)


def inline(text: str) -> Iterator[tuple[str, bool]]:
    """The stretches of a text, and whether each is code."""
    for at, part in enumerate(text.split("`")):
        if part:
            yield part, at % 2 == 1


def words(document: Described) -> list[str]:
    """Every visible word of a written document."""
    said: list[str] = []
    for block in document.blocks:
        said += _texts(block)
    return [word for text in said for word in re.findall(r"\w+", text)]


def _texts(block: Part) -> Iterator[str]:
    if isinstance(block, Table):
        yield block.caption
        yield from (flat(cell) for row in block.rows for cell in row)
    elif isinstance(block, Items):
        yield from _of_items(block.items)
    else:
        yield block.text
        if isinstance(block, Definition):
            yield block.term
        if isinstance(block, Prose):
            yield block.note


def _of_items(items: list[Item]) -> Iterator[str]:
    for item in items:
        yield item.text
        yield item.code
        yield from _of_items(item.inner)
