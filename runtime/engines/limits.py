"""Fit a model's reply into its schema, since a reply that is a little too long is better than none, or tell its worst misfit."""

from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from index.text.sentences import shortened

#: What a null in place of a text or a list means.
_NOTHING: dict[str, Any] = {"string": "", "array": []}


def fitted(value: Any, schema: dict[str, Any]) -> tuple[Any, list[str]]:
    """The value within its limits, and the paths of what was cut.

    Texts end with a sentence where they can and lists at their limit; unknown fields go, and a missing text is empty.
    """
    cut: list[str] = []
    return _fitted(value, schema, "$", cut), cut


def _fitted(value: Any, schema: dict[str, Any], at: str, cut: list[str]) -> Any:
    kind = schema.get("type")
    if value is None and kind in _NOTHING:
        return _NOTHING[kind]
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        cut.append(at)
        return shortened(value, schema["maxLength"], "")
    if isinstance(value, list):
        if len(value) > schema.get("maxItems", len(value)):
            cut.append(at)
            value = value[: schema["maxItems"]]
        return [_fitted(item, schema.get("items") or {}, f"{at}[{n}]", cut) for n, item in enumerate(value)]
    if isinstance(value, dict) and isinstance(known := schema.get("properties"), dict):
        texts = (name for name in schema.get("required", ()) if known.get(name, {}).get("type") == "string")
        whole = dict.fromkeys(texts) | value
        if schema.get("additionalProperties", True) is False:
            whole = {name: item for name, item in whole.items() if name in known}
        return {name: _fitted(item, known.get(name, {}), f"{at}.{name}", cut) for name, item in whole.items()}
    return value


def misfit(value: object, schema: dict[str, Any]) -> str:
    """The most relevant violation and its place, in one short line; empty if the value fits."""
    worst = best_match(Draft202012Validator(schema).iter_errors(value))
    return f"{worst.json_path}: {' '.join(worst.message.split())[:200]}" if worst else ""
