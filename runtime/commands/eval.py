"""`groundwire eval`: measure quality on a set of questions or answers."""

from pathlib import Path

import click
import msgspec
from rich.table import Table

from runtime.commands.consoles import plain_console
from runtime.commands.lazy_group import LazyGroup

_PARTS = {
    "retrieval": ("eval_retrieval", "eval_retrieval_command"),
    "questions": ("eval_questions", "eval_questions_command"),
    "fit": ("eval_fit", "eval_fit_command"),
    "gate": ("eval_gate", "eval_gate_command"),
    "sentences": ("eval_sentences", "eval_sentences_command"),
    "fitgate": ("eval_sentences", "eval_fit_gate_command"),
    "rewriting": ("eval_rewriting", "eval_rewriting_command"),
}


@click.group("eval", cls=LazyGroup, parts=_PARTS)
def eval_group() -> None:
    """Measure what is shown, retrieval, answers, the gate or rewriting on a set of your own."""


def show(figures: msgspec.Struct, out: Path | None, **details: object) -> None:
    """Print one row per figure; with `out`, also write the figures and details there as JSON."""
    table = Table("figure", "value")
    for name, value in msgspec.structs.asdict(figures).items():
        text = "-" if value is None else f"{value:.3f}" if isinstance(value, float) else f"{value:,}"
        table.add_row(name.replace("_", " "), text)
    plain_console().print(table)
    if out is not None:
        save(out, {"figures": figures, **details})


def save(path: Path, value: object) -> None:
    """Write `value` as JSON. Raises click.ClickException when the file cannot be written."""
    write(path, msgspec.json.format(msgspec.json.encode(value), indent=2))


def write(path: Path, text: bytes) -> None:
    """Write a text file with a final newline. Raises click.ClickException when it cannot be written."""
    try:
        path.write_bytes(text + b"\n")
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written ({error.strerror}); choose another path") from error
