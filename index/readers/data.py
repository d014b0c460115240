"""YAML, JSON and TOML: JSON with texts for people as sections and rows, a description of an API (OpenAPI) as its prose, other
data as code cut at its outermost keys, with comments as prose.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from itertools import chain
from pathlib import PurePath

import msgspec

from index.model import Document
from index.readers.formats import Format, Source, TextBuilder, Unreadable, row
from index.readers.notebook import add_markdown
from index.readers.text import chapters, decode

_SYNTAX = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml"}
_MOST_BYTES = 1_000_000
_LOCKS = frozenset(("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "composer.lock"))
_KEYS = {
    "yaml": re.compile(r"[^\s#\-\]}][^#\n]*:(?:\s|$)|---|- "),
    "json": re.compile(r'(?:  |\t)["{\[]'),
    "toml": re.compile(r"\[|[^\s#\]][^=\n]*="),
}
#: Short keys are kept together until they have so many lines.
_LEAST_LINES = 15
_COMMENT = re.compile(r"#+(?:[ \t]?(.*))?")


def read_data(source: Source) -> Document:
    """Raises Unreadable for files with more data than a person reads."""
    name = PurePath(source.source_id).name
    if len(source.data) > _MOST_BYTES:
        raise Unreadable(
            "data of more than 1 MB; put what is to be found in it into a document or a table", failed=False
        )
    if name in _LOCKS:
        raise Unreadable("a list of versions that a program wrote", failed=False)
    text = decode(source.data)
    builder = TextBuilder()
    syntax = _SYNTAX[source.suffix]
    if (parsed := _parsed(text, syntax)) is not None and is_api(parsed):
        title, version = add_api(builder, parsed)
        document = builder.finish(source.source_id, title or name)
        return msgspec.structs.replace(document, metadata=msgspec.structs.replace(document.metadata, version=version))
    if syntax == "json":
        if (heading := add_json(builder, text)) is not None:
            return builder.finish(source.source_id, heading or name)
        # With comments, as programs allow in their settings, it is shown as it is.
        with suppress(msgspec.DecodeError, RecursionError):
            text = msgspec.json.format(text, indent=2)
    for comment, lines in _pieces(text, _KEYS[syntax]):
        builder.add(comment)
        builder.add(lines, "code", syntax=syntax)
    return builder.finish(source.source_id, name or source.title)


def _parsed(text: str, syntax: str) -> object:
    """What the file holds, if it may be a description of an API."""
    if syntax == "toml" or not re.search(r"""(?:^|[{,])\s*["']?(?:openapi|swagger)["']?\s*:""", text, re.MULTILINE):
        return None
    import yaml

    try:
        parsed: object = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return parsed


def _pieces(text: str, key: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Each part with the comment before it; a part begins with an outermost key."""
    comment: list[str] = []
    lines: list[str] = []
    for line in text.split("\n"):
        match = _COMMENT.fullmatch(line)
        if match is not None and (not lines or not lines[-1].strip() or not lines[-1].startswith((" ", "\t"))):
            if lines:
                yield _prose(comment), "\n".join(lines)
                comment, lines = [], []
            comment.append((match[1] or "").strip())
            continue
        if lines and len(lines) >= _LEAST_LINES and key.match(line):
            yield _prose(comment), "\n".join(lines)
            comment, lines = [], []
        lines.append(line)
    yield _prose(comment), "\n".join(lines)


def _prose(comment: list[str]) -> str:
    """A comment's lines as one paragraph, an empty line between two; none of lines that only divide."""
    paragraphs = "\n".join(line if any(map(str.isalnum, line)) else "" for line in comment).split("\n\n")
    return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs if paragraph.strip())


FORMATS = (
    Format(
        "Data",
        tuple(_SYNTAX),
        read_data,
        "PyYAML, msgspec",
        "JSON of texts or records as sections, lists and rows, other data as code cut at the outermost keys, comments, "
        "descriptions of paths and schemas in an OpenAPI file",
        "files over 1 MB, lists of versions",
    ),
)


_METHODS = ("get", "put", "post", "delete", "patch", "head", "options", "trace")


def is_api(parsed: object) -> bool:
    return isinstance(parsed, Mapping) and ("openapi" in parsed or "swagger" in parsed) and "paths" in parsed


def add_api(builder: TextBuilder, parsed: object) -> tuple[str, str]:
    """Add its blocks; the title and version that it gives itself. Parts that break the standard are skipped."""
    whole = _mapping(parsed)
    info = _mapping(whole.get("info"))
    title = _text(info, "title")
    builder.add(title, "heading", 1)
    _add_text(builder, info)
    for path, item in _mapping(whole.get("paths")).items():
        shared = _mapping(item)
        for method in _METHODS:
            if isinstance(operation := shared.get(method), Mapping):
                builder.add(f"{method.upper()} {path}", "heading", 2, anchor=_text(operation, "operationId"))
                _add_text(builder, operation)
                _add_operation(builder, shared, operation)
    schemas = _mapping(_mapping(whole.get("components")).get("schemas") or whole.get("definitions"))
    for name, schema in schemas.items():
        builder.add(str(name), "heading", 2)
        _add_text(builder, _mapping(schema))
        properties = _mapping(_mapping(schema).get("properties"))
        rows = [
            (str(key), _type(_mapping(one)), _text(_mapping(one), "description")) for key, one in properties.items()
        ]
        if rows:
            builder.table(rows, ("Property", "Type", "Description"))
    return title, _text(info, "version")


def _add_operation(builder: TextBuilder, shared: Mapping[object, object], operation: Mapping[object, object]) -> None:
    parameters = [*_items(shared.get("parameters")), *_items(operation.get("parameters"))]
    rows = [
        (_text(one, "name"), _text(one, "in"), "yes" if one.get("required") else "no", _text(one, "description"))
        for one in parameters
        if one.get("name")
    ]
    if rows:
        builder.table(rows, ("Parameter", "In", "Required", "Description"))
    answers = [
        (str(code), _text(_mapping(one), "description")) for code, one in _mapping(operation.get("responses")).items()
    ]
    if answers:
        builder.table(answers, ("Response", "Description"))


def _add_text(builder: TextBuilder, part: Mapping[object, object]) -> None:
    builder.add(_text(part, "summary"))
    if description := _text(part, "description"):
        add_markdown(builder, description, deeper=2)


def _mapping(value: object) -> Mapping[object, object]:
    return value if isinstance(value, Mapping) else {}


def _items(value: object) -> Iterator[Mapping[object, object]]:
    return (one for one in value if isinstance(one, Mapping)) if isinstance(value, list) else iter(())


def _text(part: Mapping[object, object], key: str) -> str:
    value = part.get(key, "")
    return str(value) if isinstance(value, str | int | float) else ""


def _type(schema: Mapping[object, object]) -> str:
    """A property's type; that of a reference is its name."""
    named = _text(schema, "$ref").rpartition("/")[2]
    items = _mapping(schema.get("items"))
    return named or (f"array of {_type(items)}" if items else _text(schema, "type"))


#: JSON that is nested deeper or has more values is data for programs.
_DEEPEST, _MOST_VALUES = 20, 50_000
#: A longer text, or a record whose row is longer, becomes a section.
_LONGEST_VALUE, _LONGEST_ROW = 200, 600
_HUMP = re.compile(r"(?<=[a-z]{2})[A-Z](?=[a-z])")


_decoder = msgspec.json.Decoder(float_hook=Decimal)  # as it is written: 1.50


def add_json(builder: TextBuilder, text: str) -> str | None:
    """Add the blocks of JSON or JSON Lines and return the title; None, with nothing added, for broken JSON and other data."""
    whole: object = None
    for read in (_decoder.decode_lines, _decoder.decode):
        with suppress(msgspec.DecodeError, RecursionError):
            whole = read(text)
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
