"""`groundwire eval gate`: how often the gate passes a wrong answer, and how often it withholds a right one."""

import time
from pathlib import Path

import click
from rich.table import Table

from runtime.commands.consoles import plain_console
from runtime.commands.eval import save
from runtime.measure.gate_scores import Line, Report, Score, outcome, read_lines, report
from runtime.measure.lines import BadLine
from runtime.terminal import one_line


@click.command("gate")
@click.option("--file", "source", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True)
@click.option(
    "--json", "out", type=click.Path(dir_okay=False, path_type=Path), help="Also write the figures to this JSON file."
)
@click.option("--errors", type=click.IntRange(min=0), default=0, help="Print this many wrong verdicts.")
def eval_gate_command(*, source: Path, out: Path | None, errors: int) -> None:
    """Measure the gate's verdicts on labelled answers.

    Reads JSON lines {"id", "answer", "evidence": [{"n", "text"}], "label"}; a label is supported, contradicted or
    not_enough. The result is deterministic.
    """
    items = labelled_lines(source, "supported, contradicted or not_enough")
    began = time.perf_counter()
    outcomes = [outcome(item) for item in items]
    measured = report(outcomes, ms_per_answer=(time.perf_counter() - began) * 1000 / len(items))
    if out is not None:
        save(out, measured)
    console = plain_console(width=96)
    console.print(table(measured, source.name))
    for item, one in zip(items, outcomes, strict=True):
        wrong = one.withheld if one.label == "supported" else not one.withheld and one.label == "contradicted"
        if wrong and errors > 0:
            errors -= 1
            console.print(f"{one.label}, {'withheld' if one.withheld else 'passed'}: {one_line(item.answer)}")


def labelled_lines(source: Path, labels: str) -> list[Line]:
    """The lines of a file, each with a label. Raises click.ClickException for the first fault."""
    try:
        with source.open("rb") as lines:
            items = list(read_lines(lines))
    except BadLine as error:
        raise click.ClickException(f"{source}: {error}") from None
    unlabelled = next((item.id for item in items if item.label is None), None)
    if unlabelled is not None:
        raise click.ClickException(f"{source}: {unlabelled} has no label; write {labels}")
    if not items:
        raise click.ClickException(f"{source}: no lines to measure")
    return items


def table(measured: Report, title: str) -> Table:
    found = Table(
        title=f"{title}: {measured.answers} answers, {measured.ms_per_answer:.2f} ms each", title_justify="left"
    )
    for heading in ("", "precision", "recall", "F1", "said of"):
        found.add_column(heading, justify="right" if heading else "left", no_wrap=True)

    def row(name: str, score: Score) -> None:
        found.add_row(name, f"{score.precision:.1%}", f"{score.recall:.1%}", f"{score.f1:.3f}", str(score.flagged))

    for label, score in measured.labels.items():
        row(f"gate: {label}", score)
    row(f"word overlap, {measured.overlap_fair_withheld:.1%} of supported lost", measured.overlap_fair)
    row(f"word overlap, {measured.overlap_best_withheld:.1%} of supported lost", measured.overlap_best)
    found.add_section()
    for kind, score in measured.flags.items():
        row(f"flag: {kind}", score)
    found.add_section()
    for label, share in measured.withheld.items():
        found.add_row(f"withheld of {label}", "", f"{share:.1%}", "", f"{measured.counts[label]}")
    return found
