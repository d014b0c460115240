"""YAML, JSON and TOML: JSON with texts for people as sections and rows, a description of an API (OpenAPI) as its prose, other
data as code cut at its outermost keys, with comments as prose.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import PurePath

import msgspec

from index.model import Document
from index.readers.formats import Format, Source, TextBuilder, Unreadable
from index.readers.json_values import add_json
from index.readers.notebook import add_markdown
from index.readers.text import decode

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
        with suppress(
            msgspec.DecodeError, RecursionError
        ):  # with comments, as programs allow in their settings: it is shown as it is
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
