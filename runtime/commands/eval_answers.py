"""`groundwire eval answers`: do cited spans hold the gold answers, and are unanswerable questions refused?"""

import contextlib
import functools
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.progress import track

from bus.wire.messages import Collection, Passage
from index.build.ingest import bring_in
from index.search.searcher import Searcher
from runtime.commands.consoles import plain_console
from runtime.commands.eval import show
from runtime.commands.options import INDEX_FOLDER_PLACE, one_line_errors
from runtime.measure.answers import (
    Answered,
    EvalPassage,
    EvalQuestion,
    answer,
    as_passage,
    figures,
    own_passages,
    retrieved,
)
from runtime.measure.lines import read

type Retrieve = Callable[[EvalQuestion], tuple[tuple[Passage, ...], Collection | None]]

SEED = 0


@click.command("answers")
@click.option("--questions", required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--passages", required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--index", "index", type=INDEX_FOLDER_PLACE, help="Folder of the index; built there if there is none.")
@click.option("--own-passage", is_flag=True, help="Give each question its own passage instead of retrieving.")
@click.option(
    "--leave-out",
    is_flag=True,
    help="Drop each question's own sources from its hits, so that no question has an answer.",
)
@click.option("--style", type=click.Choice(["simple", "synthesis"]), default="simple", show_default=True)
@click.option("--limit", type=click.IntRange(min=1), help="Measure this many questions, sampled with a fixed seed.")
@click.option(
    "--json", "out", type=click.Path(path_type=Path), help="Write the figures and every answer to this JSON file."
)
def eval_answers_command(
    questions: Path,
    passages: Path,
    index: Path | None,
    own_passage: bool,
    leave_out: bool,
    style: str,
    limit: int | None,
    out: Path | None,
) -> None:
    """Measure the extractive engine's citations and refusals.

    Answers QUESTIONS over PASSAGES. Both files are JSONL: {"id", "question", "language", "answers", "answerable",
    "source_ids"} and {"source_id", "title", "text"}.
    """
    with one_line_errors():
        asked, known = read(questions, EvalQuestion), read(passages, EvalPassage)
    if own_passage and leave_out:
        raise click.UsageError(
            "--leave-out and --own-passage cannot be combined: with --own-passage nothing is retrieved"
        )
    own = own_passages(asked, known) if own_passage else []
    given = {question.id: passage for question, passage in zip(asked, own, strict=False)}
    if limit is not None and limit < len(asked):
        asked = [asked[k] for k in sorted(random.Random(SEED).sample(range(len(asked)), limit))]
    console = plain_console(stderr=True)
    with contextlib.ExitStack() as stack:
        if own_passage:
            find: Retrieve = lambda question: ((as_passage(given[question.id]),), None)  # noqa: E731
        else:
            folder = index or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="groundwire-")))
            searcher = stack.enter_context(_opened(folder, passages, console))
            find = functools.partial(retrieved, searcher, leave_out=leave_out)
        shown = track(asked, "Answering", console=console, transient=True)
        answers: list[Answered] = []
        for question in shown:
            passages_found, collection = find(question)
            answers.append(answer(question, passages_found, style, collection))
    measured = [msgspec.structs.replace(q, answerable=q.answerable and not leave_out) for q in asked]
    show(figures(measured, answers), out, answers=answers)


@contextlib.contextmanager
def _opened(folder: Path, passages: Path, console: Console) -> Iterator[Searcher]:
    """The index in `folder`, built from the passages if there is none yet."""
    with one_line_errors():
        if not (folder / "current").exists():
            with console.status("Building the index"):
                bring_in(folder, [str(passages)], only=False)
        searcher = Searcher.open(folder)
    try:
        yield searcher
    finally:
        searcher.close()
