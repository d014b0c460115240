"""Every prompt's output schema with short strings and lists, as random weights would fill the real bounds completely."""

from typing import Any

from prompts.contracts import PROMPTS
from prompts.library import Library

TEXT, ITEMS, NUMBER = 12, 2, 99


def short_schemas() -> dict[str, dict[str, Any]]:
    """By prompt name, for the prompts that answer in JSON: the real schema's structure in few tokens."""
    return {name: _short(schema) for name, schema in full_schemas().items()}


def full_schemas() -> dict[str, dict[str, Any]]:
    library = Library()
    schemas = {prompt.name: library.file(prompt.name).schema for prompt in PROMPTS}
    return {name: schema for name, schema in schemas.items() if schema is not None}


def _short(schema: dict[str, Any]) -> dict[str, Any]:
    out = dict(schema)
    if out.get("type") == "object":
        out["properties"] = {name: _short(inner) for name, inner in out["properties"].items()}
    elif out.get("type") == "array":
        out |= {
            "items": _short(out["items"]),
            "maxItems": max(out.get("minItems", 0), min(out.get("maxItems", ITEMS), ITEMS)),
        }
    elif out.get("type") == "string" and "enum" not in out:
        out["maxLength"] = max(out.get("minLength", 0), min(out.get("maxLength", TEXT), TEXT))
    elif out.get("type") in ("integer", "number"):
        out |= {"minimum": out.get("minimum", 0), "maximum": min(out.get("maximum", NUMBER), NUMBER)}
    return out
