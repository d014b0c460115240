"""`groundwire eval`: measure on a set of questions or claims."""

import importlib
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.table import Table

_PARTS = {
    "retrieval": ("eval_retrieval", "eval_retrieval_command"),
    "answers": ("eval_answers", "eval_answers_command"),
    "gate": ("eval_gate", "eval_gate_command"),
    "rewriting": ("eval_rewriting", "eval_rewriting_command"),
}


class _Parts(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_PARTS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _PARTS:
            return None
        module, attribute = _PARTS[name]
        command = getattr(importlib.import_module(f"runtime.commands.{module}"), attribute)
        return command if isinstance(command, click.Command) else None


@click.command("eval", cls=_Parts)
def eval_group() -> None:
    """Measure retrieval, answers, the gate or rewriting on a set of your own."""


def show(figures: msgspec.Struct, out: Path | None, **details: object) -> None:
    """Print the figures, a row each; write them and the details into `out` as JSON where one is named."""
    table = Table("figure", "value")
    for name, value in msgspec.structs.asdict(figures).items():
        text = "-" if value is None else f"{value:.3f}" if isinstance(value, float) else f"{value:,}"
        table.add_row(name.replace("_", " "), text)
    Console().print(table)
    if out is not None:
        save(out, {"figures": figures, **details})


def save(path: Path, value: object) -> None:
    """Write `value` as JSON. Raises click.ClickException where that cannot be done."""
    write(path, msgspec.json.format(msgspec.json.encode(value), indent=2))


def write(path: Path, text: bytes) -> None:
    """Write a file that ends in a line end. Raises click.ClickException where that cannot be done."""
    try:
        path.write_bytes(text + b"\n")
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written ({error.strerror}); choose another place") from error
