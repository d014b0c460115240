"""`groundwire eval rewriting`: how close rewritten follow-up questions come to those that people wrote, and what each finds."""

from pathlib import Path

import click
from rich.table import Table

from runtime.commands.consoles import plain_console
from runtime.commands.embedder_options import embedder_options
from runtime.commands.eval import show
from runtime.commands.eval_retrieval import opened
from runtime.commands.options import INDEX_FOLDER_PLACE, one_line_errors
from runtime.measure.lines import read
from runtime.measure.rewriting import FollowUp, Rewritten, figures, retrieval, rewrite

type _Found = dict[str, dict[str, dict[str, float]]]


@click.command("rewriting")
@click.option("--file", "source", required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--index", "directory", type=INDEX_FOLDER_PLACE, help="Folder of the index to search in.")
@click.option(
    "--passages",
    type=click.Path(path_type=Path),
    help="Documents to build the index from if there is none; without --index it is temporary.",
)
@embedder_options
@click.option(
    "--json", "out", type=click.Path(path_type=Path), help="Write the figures and every rewrite to this JSON file."
)
def eval_rewriting_command(
    source: Path,
    directory: Path | None,
    passages: Path | None,
    embed_url: str | None,
    embed_model: str,
    out: Path | None,
) -> None:
    """Measure how well follow-up questions are rewritten into complete ones.

    Compares the extractive engine's rewrites with people's: their words and, with --index or --passages, R@5 and MRR@10 of what
    the question finds as asked, as rewritten, and as a person wrote it. Each line is {"id", "language", "history": [{"role",
    "content"}], "question", "rewrite", "source_ids"}; lines without history are skipped, as there is nothing to rewrite, and
    those without source_ids count for the words alone.
    """
    with one_line_errors():
        lines = [line for line in read(source, FollowUp) if line.history]
        if not lines:
            raise click.ClickException(
                f"{source} has no question with a history; add follow-up questions with their earlier turns"
            )
        rewritten = [rewrite(line) for line in lines]
        found: _Found = {}
        if directory is not None or passages is not None:
            relevant = {line.id: line.source_ids for line in lines if line.source_ids}
            if not relevant:
                raise click.ClickException(f"{source} has no source_ids; add to each line the ids of what answers it")
            with opened(directory, passages, embed_url, embed_model) as searcher:
                found = retrieval(searcher, rewritten, relevant)
    _show(found, rewritten)
    show(figures(rewritten), out, retrieval=found, rewrites=rewritten)


def _show(found: _Found, rewritten: list[Rewritten]) -> None:
    """One row per language and form; one language is shown once, as all."""
    if not found:
        return
    several = len({one.language for one in rewritten}) > 1
    rows = [(language, form, measured) for language, forms in found.items() for form, measured in forms.items()]
    table = Table("language", "question", *rows[0][2], box=None)
    for language, form, measured in rows:
        if several or language == "all":
            table.add_row(language, form, *(f"{value:.3f}" for value in measured.values()))
    plain_console().print(table)
