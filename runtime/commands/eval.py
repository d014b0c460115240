"""`groundwire eval`: measure quality on a set of questions or answers."""

from pathlib import Path

import click
import msgspec

from runtime.commands.lazy_group import LazyGroup

_PARTS = {
    "questions": ("eval_questions", "eval_questions_command"),
    "sentences": ("eval_sentences", "eval_sentences_command"),
}


@click.group("eval", cls=LazyGroup, parts=_PARTS)
def eval_group() -> None:
    """Measure answers or the gate on a set of your own."""


def save(path: Path, value: object) -> None:
    """Write `value` as JSON. Raises click.ClickException when the file cannot be written."""
    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written ({error.strerror}); choose another path") from error
