"""`groundwire eval rewriting`: how close rewritten follow-up questions come to those that people wrote."""

from pathlib import Path

import click

from runtime.commands.eval import show
from runtime.commands.options import one_line_errors
from runtime.measure.lines import read
from runtime.measure.rewriting import FollowUp, figures, rewrite


@click.command("rewriting")
@click.option("--file", "source", required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--json", "out", type=click.Path(path_type=Path), help="Write the figures and every rewrite to this JSON file."
)
def eval_rewriting_command(source: Path, out: Path | None) -> None:
    """Measure how well follow-up questions are made to stand alone.

    Compares the extractive engine's rewrites with people's. Each line is {"id", "language", "history": [{"role",
    "content"}], "question", "rewrite"}; lines without history are skipped, as there is nothing to rewrite.
    """
    with one_line_errors():
        lines = [line for line in read(source, FollowUp) if line.history]
    if not lines:
        raise click.ClickException(
            f"{source} has no question with a history; add follow-up questions with their earlier turns"
        )
    rewritten = [rewrite(line) for line in lines]
    show(figures(rewritten), out, rewrites=rewritten)
