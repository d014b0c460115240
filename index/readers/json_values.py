"""JSON as a person reads it: short values as `key: value` rows, other parts as sections below their keys, records as a table."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from itertools import chain

import msgspec

from index.readers.formats import TextBuilder, row
from index.readers.text import chapters

#: JSON that is nested deeper or has more values is data for programs.
_DEEPEST, _MOST_VALUES = 20, 50_000
#: A longer text, or a record whose row is longer, becomes a section.
_LONGEST_VALUE, _LONGEST_ROW = 200, 600
_HUMP = re.compile(r"(?<=[a-z]{2})[A-Z](?=[a-z])")


_decoder = msgspec.json.Decoder(float_hook=Decimal)  # as it is written: 1.50


def add_json(builder: TextBuilder, text: str) -> str | None:
    """Add the blocks of JSON or JSON Lines and return the title; None, with nothing added, for broken JSON and other data."""
    whole: object = None
    for decode in (_decoder.decode_lines, _decoder.decode):
        with suppress(msgspec.DecodeError, RecursionError):
            whole = decode(text)
    if not _is_for_people(whole):
        return None
    parts = dict(whole) if isinstance(whole, Mapping) else {"": whole}
    title = _cell(parts.pop("title")) if _is_short(parts.get("title", {})) else ""
    builder.add(title, "heading", 1)
    _add_parts(builder, parts, 2)
    return title


def _is_for_people(whole: object) -> bool:
    """Whether it has records or mostly texts of several words, and at least half of its values are texts."""
    values, below, records = list[object](), [whole], False
    for _ in range(_DEEPEST):
        lists = [one for one in below if isinstance(one, list)]
        records = records or any(len(one) > 1 and isinstance(one[-1], Mapping) for one in lists)
        values += [one for one in below if not isinstance(one, Mapping | list)]
        mappings = [one.values() for one in below if isinstance(one, Mapping)]
        below = list(chain(*lists, *mappings))
    texts = [one for one in values if isinstance(one, str)]
    words = sum(len(one) for one in texts if " " in one or not one.isascii())
    many = len(values) > min(2 * len(texts), _MOST_VALUES)
    return not below and not many and (records or 2 * words > sum(map(len, texts)))


def _add_parts(builder: TextBuilder, parts: Mapping[str, object], level: int) -> None:
    """The short values come first, as what follows a section belongs to it."""
    short = {key: value for key, value in parts.items() if _is_short(value)}
    whole = _row(short)
    for text in [whole] if len(whole) <= _LONGEST_ROW else [_row({key: value}) for key, value in short.items()]:
        builder.add(text, "table_row")
    for key, value in parts.items():
        if key not in short:
            _add_section(builder, _words(key), value, level)


def _add_section(builder: TextBuilder, heading: str, value: object, level: int) -> None:
    intro = builder.add(heading, "heading", min(level, 6))
    if isinstance(value, Mapping):
        _add_parts(builder, value, level + 1)
    elif isinstance(value, list):
        _add_list(builder, value, level + 1, intro)
    else:
        for block in chapters(text := str(value)):
            deeper = min(level + block.level, 6) if block.kind == "heading" else block.level
            builder.add(text[block.start : block.end], block.kind, deeper, syntax=block.syntax)


def _add_list(builder: TextBuilder, values: Sequence[object], level: int, intro: tuple[int, int] | None = None) -> None:
    records = [one for one in values if isinstance(one, Mapping)]
    if len(records) < len(values):
        for value in values:
            builder.add(f"- {text}" if (text := _cell(value)) else "", "list_item", 1, intro=intro)
        return
    header = row(list(dict.fromkeys(_words(key) for record in records for key in record)))
    rows = list(map(_row, records))
    if max(map(len, rows)) > _LONGEST_ROW:
        for number, record in enumerate(records, 1):
            name = next((one for one in record.values() if isinstance(one, str) and _is_short(one)), "")
            _add_section(builder, name or str(number), record, level)
        return
    builder.add(header if len(header) <= _LONGEST_ROW else "", "table_header")
    for text in rows:
        builder.add(text, "table_row")


def _is_short(value: object) -> bool:
    """Whether it is the value of a row: neither a long text, nor an object, nor a list of anything but numbers."""
    if isinstance(value, list):
        return all(isinstance(one, int | Decimal) for one in value)
    if isinstance(value, str):
        return len(value) <= _LONGEST_VALUE and "\n" not in value.strip()
    return not isinstance(value, Mapping)


def _row(record: Mapping[str, object]) -> str:
    return row(list(map(_cell, record.values())), list(map(_words, record)))


def _cell(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{_words(key)}: {cell}" for key, one in value.items() if (cell := _cell(one)))
    if isinstance(value, list):
        return "; ".join(filter(None, map(_cell, value)))
    return "" if value is None else str(value) if not isinstance(value, bool) else str(value).lower()


def _words(key: str) -> str:
    """`do_not` and `doNot` as "do not"; a name such as GitHub stays."""
    if key[:1].islower():
        key = _HUMP.sub(lambda letter: f" {letter[0].lower()}", key)
    return " ".join(key.replace("_", " ").split())
