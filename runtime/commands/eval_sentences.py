"""`groundwire eval sentences`: what the gate does with sentences that people have labelled."""

from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table

from actors.gate.check import check_sentence
from actors.gate.flags import standing
from runtime.commands.consoles import plain_console
from runtime.commands.eval import save
from runtime.commands.options import FILE, NEW_FILE
from runtime.measure.gate_scores import SUPPORTED, Line, Sentences, cited, read_lines, standings
from runtime.measure.lines import BadLine
from runtime.terminal import one_line


@click.command("sentences")
@click.option(
    "--file", "sources", type=FILE, required=True, multiple=True, help="Labelled sentences; several with more."
)
@click.option("--json", "out", type=NEW_FILE, help="Also write the figures to this JSON file.")
@click.option("--errors", type=click.IntRange(min=0), default=0, help="Print this many wrong verdicts.")
def eval_sentences_command(*, sources: Sequence[Path], out: Path | None, errors: int) -> None:
    """Measure what becomes of true and of unsupported sentences, by flag and by language.

    Reads JSON lines {"id", "answer", "evidence": [{"n", "text"}], "language", "label"}: one sentence each, labelled
    supported or, with any other word, not. A sentence without marks is read as if it cited all of its evidence.
    """
    lines = [line for source in sources for line in labelled_lines(source)]
    found = standings(lines)
    if out is not None:
        save(out, found)
    console = plain_console(width=96)
    for language, pair in found.items():
        console.print(_table(language, pair))
    for line in lines:
        verdict = standing(check_sentence(cited(line), line.numbered()))
        wrong = verdict == "withheld" if line.label == SUPPORTED else verdict == "verified"
        if wrong and errors > 0:
            errors -= 1
            console.print(f"{line.label}, {verdict}: {one_line(line.answer)}")


def labelled_lines(source: Path) -> list[Line]:
    """The lines of a file, each with a label. Raises click.ClickException for the first fault."""
    try:
        with source.open("rb") as lines:
            items = list(read_lines(lines))
    except BadLine as error:
        raise click.ClickException(f"{source}: {error}") from None
    unlabelled = next((item.id for item in items if item.label is None), None)
    if unlabelled is not None:
        raise click.ClickException(f"{source}: {unlabelled} has no label; write supported or unsupported")
    if not items:
        raise click.ClickException(f"{source}: no lines to measure")
    return items


def _table(language: str, pair: tuple[Sentences, Sentences]) -> Table:
    true, other = pair
    shown = Table(title=f"{language}: share of sentences", title_justify="left")
    for heading in ("", f"supported ({true.sentences})", f"others ({other.sentences})"):
        shown.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for name, share in true.standings.items():
        shown.add_row(name, f"{share:.3f}", f"{other.standings[name]:.3f}")
    shown.add_section()
    for kind in sorted({*true.flags, *other.flags}):
        shown.add_row(f"flag: {kind}", f"{true.flags.get(kind, 0):.3f}", f"{other.flags.get(kind, 0):.3f}")
    return shown
