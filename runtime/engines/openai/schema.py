"""Check a decoded reply against its JSON Schema, for servers that accept a schema and may not honour it."""

from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match


def problem(value: object, schema: dict[str, Any]) -> str:
    """The most relevant violation and its place, in one short line; empty if the value fits."""
    worst = best_match(Draft202012Validator(schema).iter_errors(value))
    return f"{worst.json_path}: {' '.join(worst.message.split())[:200]}" if worst else ""
