"""The table of all agents, generated from the prompt files: input, reply and sampling of each."""

from typing import Any

from prompts.contracts import PROMPTS
from prompts.library import Library, PromptFile

_BY_REQUEST = {"answer_structured": "as requested", "answer_hint": "as requested, 600", "guard_language": "as the text"}


def documentation(library: Library | None = None) -> str:
    """A Markdown table with one row per agent, in pipeline order."""
    files = library or Library()
    lines = ["| agent | what it does | input | output | T / max tokens |", "|---|---|---|---|---|"]
    for prompt in PROMPTS:
        file = files.file(prompt.name)
        tokens = _BY_REQUEST.get(prompt.name, str(file.max_tokens))
        given = ", ".join(f"`{name}`" for name in _inputs(file))
        replied = ", ".join(_outputs(file.schema)) if file.schema else "text"
        lines.append(f"| `{file.name}` | {file.description} | {given} | {replied} | {file.temperature} / {tokens} |")
    return "\n".join(lines) + "\n"


def _inputs(file: PromptFile) -> list[str]:
    """Picoschema keys as the table shows them: `passages[]{title,text}`."""
    shown = []
    for key, value in file.input.items():
        name, array, _ = key.partition("(array)")
        inner = "{" + ",".join(part.partition("(")[0] for part in value) + "}" if isinstance(value, dict) else ""
        shown.append(f"{name}{'[]' if array else ''}{inner}")
    return shown


def _outputs(schema: dict[str, Any]) -> list[str]:
    return [f"`{name}`{_bounds(part)}" for name, part in schema["properties"].items()]


def _bounds(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " " + "/".join(map(str, schema["enum"]))
    if schema["type"] == "array":
        items = schema["items"]
        inner = " of " + ", ".join(_outputs(items)) if "properties" in items else _bounds(items)
        return f" [{schema.get('minItems', 0)}..{schema['maxItems']}]{inner}"
    if "maxLength" in schema:
        return f" ≤ {schema['maxLength']}"
    return ""
