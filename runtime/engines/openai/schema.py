"""Does a decoded reply fit its JSON Schema? For endpoints that promise a schema and may not keep it.

Knows the keywords that our prompt files use; any other keyword is a bug in the prompt file and is refused.
"""

from collections.abc import Iterator
from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
KNOWN = frozenset({
    "type", "enum", "const", "anyOf", "description", "title", "properties", "required", "additionalProperties", "items",
    "minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum",
})  # fmt: skip


def problem(value: object, schema: dict[str, Any]) -> str:
    """What is wrong first, with its place, as in `$.score: above 9`; empty when the value fits.

    Raises: ValueError for a schema with a keyword unknown here.
    """
    return next(_problems(value, schema, "$"), "")


def _problems(value: object, schema: dict[str, Any], path: str) -> Iterator[str]:
    unknown = schema.keys() - KNOWN
    if unknown:
        raise ValueError(f"{path}: the schema uses {', '.join(sorted(unknown))}, which is not checked here")
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: none of the allowed values"
    if "const" in schema and value != schema["const"]:
        yield f"{path}: not {schema['const']!r}"
    if "anyOf" in schema and all(problem(value, choice) for choice in schema["anyOf"]):
        yield f"{path}: fits no alternative"
    kind = schema.get("type")
    if kind is not None and not any(_is(value, name) for name in ([kind] if isinstance(kind, str) else kind)):
        yield f"{path}: no {kind}"
    if isinstance(value, dict):
        yield from _object_problems(value, schema, path)
    elif isinstance(value, list):
        yield from _bounds(len(value), schema, "minItems", "maxItems", path)
        for index, item in enumerate(value):
            yield from _problems(item, schema.get("items", {}), f"{path}[{index}]")
    elif isinstance(value, str):
        yield from _bounds(len(value), schema, "minLength", "maxLength", path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _bounds(value, schema, "minimum", "maximum", path)


def _object_problems(value: dict[str, object], schema: dict[str, Any], path: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{path}.{name}: missing"
    for name, inner in value.items():
        if name in properties:
            yield from _problems(inner, properties[name], f"{path}.{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{path}.{name}: not expected"


def _bounds(size: float, schema: dict[str, Any], low: str, high: str, path: str) -> Iterator[str]:
    if size < schema.get(low, size):
        yield f"{path}: below {schema[low]}"
    if size > schema.get(high, size):
        yield f"{path}: above {schema[high]}"


def _is(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, TYPES[name])
