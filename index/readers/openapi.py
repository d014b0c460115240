"""A description of an API (OpenAPI 3, Swagger 2): a heading for each path and schema, its texts as prose, its parts as tables."""

from collections.abc import Iterator, Mapping

from index.readers.building import TextBuilder
from index.readers.notebook import add_markdown

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
