"""Fit a model's reply into the limits of its schema, since a reply that is a little too long is better than none."""

from typing import Any

from index.text.sentences import shortened

#: What a null in place of a text or a list means.
_NOTHING: dict[str, Any] = {"string": "", "array": []}


def fitted(value: Any, schema: dict[str, Any], at: str = "$") -> tuple[Any, list[str]]:
    """The value within its limits, and the paths of what was cut.

    Texts end with a sentence where they can and lists at their limit; unknown fields go, and a missing text is empty.
    """
    kind = schema.get("type")
    if value is None and kind in _NOTHING:
        return _NOTHING[kind], []
    cut: list[str] = []
    if isinstance(value, str) and len(value) > (most := schema.get("maxLength", len(value))):
        return shortened(value, most, ""), [at]
    if isinstance(value, list):
        if len(value) > (most := schema.get("maxItems", len(value))):
            value, cut = value[:most], [at]
        pairs = [fitted(item, schema.get("items") or {}, f"{at}[{n}]") for n, item in enumerate(value)]
        return [item for item, _ in pairs], [*cut, *(path for _, paths in pairs for path in paths)]
    if isinstance(value, dict) and isinstance(known := schema.get("properties"), dict):
        whole = {
            name: None for name in schema.get("required", ()) if known.get(name, {}).get("type") == "string"
        } | value
        kept = {n: v for n, v in whole.items() if n in known or schema.get("additionalProperties", True) is not False}
        fields = {name: fitted(item, known.get(name, {}), f"{at}.{name}") for name, item in kept.items()}
        return {name: item for name, (item, _) in fields.items()}, [
            path for _, paths in fields.values() for path in paths
        ]
    return value, cut
