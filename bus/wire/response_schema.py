"""What a request may say of the shape of its answer: a part of JSON Schema that every engine's grammar keeps."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

#: Why a question with a schema fails where nothing but a model could answer it.
NEEDS_MODEL: Final = "an answer in a response_schema needs a model; set inference.engine to mlx or openai"
MOST_BYTES: Final = 8000
MOST_DEPTH: Final = 8
MOST: Final = 1000
_TYPES: Final = ("object", "array", "string", "integer", "number", "boolean", "null")
_COUNTS: Final = ("minItems", "maxItems", "minLength", "maxLength")
_KEYWORDS: Final = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "minimum", "maximum"}
    | {"title", "description", "$schema", *_COUNTS}
)
#: What a keyword's value is; a list has something in it.
_OF_TYPE: Final[dict[str, Any]] = {
    "properties": dict,
    "required": list,
    "enum": list,
    "anyOf": list,
    "additionalProperties": bool,
    "minimum": int | float,
    "maximum": int | float,
}


def problem_of(schema: dict[str, Any]) -> str:
    """The fault of a schema, with its place, in one line; empty for none."""
    if len(msgspec.json.encode(schema)) > MOST_BYTES:
        return f"it is longer than {MOST_BYTES} bytes; make it smaller"
    if schema.get("type") != "object":
        return 'its "type" is not "object"; put the value into an object'
    return next(_problems(schema, "$", 0), "")


def _problems(schema: Any, path: str, depth: int) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield f"{path} is no object; write a schema there"
        return
    if depth > MOST_DEPTH:
        yield f"{path} is nested too deeply; make it flatter"
        return
    wrong = next(_wrong_here(schema, path), "")
    if wrong:
        yield wrong
        return
    for name, inner in schema.get("properties", {}).items():
        yield from _problems(inner, f"{path}.{name}", depth + 1)
    if "items" in schema:
        yield from _problems(schema["items"], f"{path}[]", depth + 1)
    for n, inner in enumerate(schema.get("anyOf", ())):
        yield from _problems(inner, f"{path}.anyOf[{n}]", depth + 1)


def _wrong_here(schema: dict[str, Any], path: str) -> Iterator[str]:
    """The fault of a schema's own keywords, apart from the schemas inside it."""
    if unknown := sorted(schema.keys() - _KEYWORDS):
        yield f"{path}: {unknown[0]!r} is not supported; there are {', '.join(sorted(_KEYWORDS))}"
    if schema.keys().isdisjoint({"type", "enum", "const", "anyOf"}):
        yield f"{path} has no type; give it one of {', '.join(_TYPES)}"
    if schema.get("type", "object") not in _TYPES:
        yield f"{path}.type is not one of {', '.join(_TYPES)}"
    for name in _COUNTS:
        count = schema.get(name, 0)
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= MOST:
            yield f"{path}.{name} is no whole number from 0 to {MOST}"
    for name, kind in _OF_TYPE.items():
        if name in schema and not (isinstance(schema[name], kind) and (schema[name] or name not in ("enum", "anyOf"))):
            yield f"{path}.{name} is not valid there; see json-schema.org"
    names, required = schema.get("properties", {}), schema.get("required", ())
    if any(not isinstance(name, str) or name not in names for name in required):
        yield f"{path}: what is required is not among its properties"
