"""The generated parts of docs/, each from the code that it describes.

uv run python tests/readme_tables.py      # rewrite them
"""

import ast
import inspect
import os
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec
from click.testing import CliRunner

from actors.pipeline import ACTORS, pipeline
from bus.wire.messages import CATALOGUE, message_type
from index.readers import KNOWN_UNREAD, all_formats
from prompts.contracts import PROMPTS
from prompts.library import Library, PromptFile
from runtime import settings
from runtime.cli import commands, groundwire
from tests.changes import table

ROOT = Path(__file__).parent.parent
EXTRAS = ("formats", "ocr")
FILES = ("docs/architecture.md", "docs/documents.md", "docs/reference.md", "docs/suites.md", "docs/traces.md")
#: Trace files of five runs, which the outputs of commands in docs/traces.md are of.
RUNS = ROOT / "tests/runtime/replay/guide"
BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n).*?(\n<!-- end -->)", re.DOTALL)


def graph() -> str:
    return f"```mermaid\n{pipeline().mermaid()}\n```"


def actors() -> str:
    rows = ["| actor | takes | gives | powers | what it does |", "|---|---|---|---|---|"]
    for a in ACTORS:
        module = inspect.getdoc(inspect.getmodule(a.run)) or ""
        takes = a.takes.__name__ + (" (all lanes)" if a.joins else "")
        gives = ", ".join(g.__name__ for g in a.gives) or "—"
        rows.append(f"| `{a.name}` | {takes} | {gives} | {', '.join(a.powers) or '—'} | {module.splitlines()[0]} |")
    return "\n".join(rows)


def messages() -> str:
    rows = ["| message | subject | fields | |", "|---|---|---|---|"]
    for message in CATALOGUE:
        name = message_type(message)
        subject = f"gw.{name}.<run_id>" + ("" if name == "question_asked" else ".<lane>")
        fields = ", ".join(f"`{field.name}`" for field in msgspec.structs.fields(message))
        doc = (inspect.getdoc(message) or "").splitlines()[0]
        rows.append(f"| {message.__name__} | `{subject}` | {fields} | {doc} |")
    return "\n".join(rows)


def configuration() -> str:
    rows = ["| key | default | |", "|---|---|---|"]
    sections = settings.sections()
    for section, struct in (*sections.items(), ("", settings.Settings)):
        notes = _notes(struct)
        for field in msgspec.structs.fields(struct):
            if field.name not in sections or section:
                key = f"{section}.{field.name}".removeprefix(".")
                default = f"`{field.default}`" if field.default != "" else ""
                rows.append(f"| `{key}` | {default} | {notes.get(field.name, '')} |")
    return "\n".join(rows)


def _notes(struct: type[msgspec.Struct]) -> dict[str, str]:
    """The `#:` comment behind each field."""
    source = inspect.getsource(struct)
    names = [
        n.target.id
        for n in ast.walk(ast.parse(source))
        if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
    ]
    found = {}
    for line in source.splitlines():
        name = line.strip().partition(":")[0]
        if name in names and "#:" in line:
            found[name] = line.partition("#:")[2].strip()
    return found


def cli() -> str:
    rows = ["| command | |", "|---|---|"]
    context = click.Context(groundwire, info_name="groundwire")
    for name, row in commands().items():
        command = groundwire.get_command(context, name)
        usage = ""
        if isinstance(command, click.Group):
            usage = " " + "\\|".join(command.list_commands(context))
        elif command is not None:
            usage = "".join(f" {p.make_metavar(context)}" for p in command.params if isinstance(p, click.Argument))
        rows.append(f"| `groundwire {name}{usage}` | {row.line} |")
    return "\n".join(rows)


def formats_read() -> str:
    rows = ["| format | | by | kept | not kept |", "|---|---|---|---|---|"]
    for one in all_formats():
        suffixes = " ".join(f"`{suffix}`" for suffix in one.suffixes)
        by = one.library + (
            f" (`groundwire[{one.extra}]`)" if one.extra in EXTRAS else f" ({one.extra})" if one.extra else ""
        )
        rows.append(f"| {one.name} | {suffixes} | {by} | {one.keeps} | {one.leaves} |")
    others = ", ".join(f"`{suffix}` ({remedy})" for suffix, remedy in KNOWN_UNREAD.items())
    return "\n".join([*rows, "", f"Known and not read: {others}."])


def thresholds() -> str:
    rows = ["| threshold | value | | figure |", "|---|---|---|---|"]
    for path in sorted((ROOT / "actors").glob("*/thresholds.py")):
        figure, meaning = "", ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("# ---- "):
                figure = line.removeprefix("# ---- ")
            elif line.startswith("#: "):
                meaning = line.removeprefix("#: ")
            elif declared := re.fullmatch(r"(\w+): Final.* = (.+)", line):
                name, value = declared.groups()
                rows.append(f"| `{path.parent.name}` {name} | `{value}` | {meaning} | {figure} |")
    return "\n".join(rows)


_BY_REQUEST = {"answer_structured": "as requested", "answer_hint": "as requested, 600", "guard_language": "as the text"}


def prompts() -> str:
    """A Markdown table with one row per agent, in pipeline order."""
    files = Library()
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


def printed(*lines: str) -> str:
    """What commands on the trace files print at 80 columns; the id of a new run is left out."""
    shown = []
    zone, folder = os.environ.get("TZ", ""), Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(RUNS, place, dirs_exist_ok=True)
        try:
            os.chdir(place)
            os.environ["TZ"] = "UTC"
            time.tzset()
            for line in lines:
                done = CliRunner().invoke(groundwire, shlex.split(line), env={"COLUMNS": "80"})
                text = re.sub(r"^run \w+ is in", "run … is in", done.output, flags=re.MULTILINE)
                text = re.sub(r"^Usage: .*?\n\nError: ", "error: ", text, flags=re.DOTALL)
                shown.append(f"$ groundwire {line}\n{text.rstrip()}")
        finally:
            os.chdir(folder)
            os.environ["TZ"] = zone
            time.tzset()
    return "```text\n" + "\n\n".join(shown) + "\n```"


PARTS: dict[str, Callable[[], str]] = {
    "show": partial(printed, "trace show lied.jsonl"),
    "why": partial(
        printed,
        "trace why founder.jsonl --source opening.md",
        "trace why lied.jsonl --source refunds.md",
        "trace why refunds.jsonl --source libros.md",
    ),
    "blame": partial(printed, "trace blame refunds.jsonl", "trace blame lied.jsonl --engine extractive"),
    "listed": partial(
        printed,
        "trace list lied.jsonl refunds.jsonl founder.jsonl down.jsonl libros.jsonl --sort took_s",
        "trace list lied.jsonl refunds.jsonl founder.jsonl --flag fabricated_number --verdict wrong",
    ),
    "many": partial(
        printed,
        "trace odd lied.jsonl refunds.jsonl founder.jsonl down.jsonl libros.jsonl",
        "trace stats lied.jsonl refunds.jsonl founder.jsonl down.jsonl libros.jsonl",
        "trace frame lied.jsonl refunds.jsonl founder.jsonl --out runs.parquet",
    ),
    "replayed": partial(
        printed,
        "replay refunds.jsonl",
        "replay lied.jsonl",
        "replay lied.jsonl --from answer_simple --out same.jsonl",
        "replay lied.jsonl --from select_evidence --profile library --out other.jsonl",
    ),
    "compared": partial(printed, "diff lied.jsonl refunds.jsonl"),
    "what_if": partial(
        printed,
        "replay refunds.jsonl founder.jsonl libros.jsonl --without refunds.md",
        "replay founder.jsonl --set voice=helpful",
        "replay lied.jsonl --set voice=helpful",
    ),
    "shared": partial(
        printed, "trace export lied.jsonl --share --cited-only --out shared.jsonl", "replay shared.jsonl"
    ),
    "kept": partial(
        printed,
        "suite add refunds.jsonl --out shop.suite",
        "suite add lied.jsonl --out shop.suite --name refunds --says 14 --never-says 38",
        "suite run shop.suite",
    ),
    "graph": graph,
    "changes": table,
    "actors": actors,
    "messages": messages,
    "configuration": configuration,
    "cli": cli,
    "prompts": prompts,
    "formats": formats_read,
    "thresholds": thresholds,
}


def filled(text: str) -> str:
    """The text with every generated block made again. Raises KeyError for a block that nothing makes."""
    return BLOCK.sub(lambda found: found[1] + PARTS[found[2]]().strip() + found[3], text)


if __name__ == "__main__":
    for name in FILES:
        path = ROOT / name
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"wrote {name}")
