"""Does a decoded reply fit its JSON Schema? For endpoints that promise a schema and may not keep it."""

from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match


def problem(value: object, schema: dict[str, Any]) -> str:
    """What is wrong most of all, with its place, in a short line; empty when the value fits."""
    worst = best_match(Draft202012Validator(schema).iter_errors(value))
    return f"{worst.json_path}: {' '.join(worst.message.split())[:200]}" if worst else ""
