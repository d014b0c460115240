"""`groundwire eval retrieval`: how well an index finds the passages that questions are judged to need."""

import tempfile
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.table import Table

from index import snapshot
from index.errors import IndexProblem
from index.ingest import bring_in
from index.searcher import Searcher
from runtime.commands.embedder_options import embedder, embedder_options
from runtime.commands.index import bars, one_line_errors
from runtime.measure import rankings


@click.command("retrieval")
@click.option("--index", "directory", type=click.Path(path_type=Path), help="Folder of the index.")
@click.option(
    "--questions",
    type=click.Path(path_type=Path),
    required=True,
    help="JSONL of {id, question, source_ids, language?}.",
)
@click.option(
    "--passages",
    type=click.Path(path_type=Path),
    help="Documents to make the index from where there is none yet; without --index it is made for the occasion.",
)
@click.option("--k", "k", type=click.IntRange(1, 100), default=10, show_default=True, help="Depth of every measure.")
@embedder_options
@click.option("--limit", type=click.IntRange(1), help="Only the first so many questions.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the measures here.")
@click.option(
    "--save-run",
    type=click.Path(path_type=Path),
    help="Write TREC runs, one file per system: PATH.bm25, PATH.vectors, PATH.fusion.",
)
def eval_retrieval_command(
    directory: Path | None,
    questions: Path,
    passages: Path | None,
    k: int,
    embed_url: str | None,
    embed_model: str,
    limit: int | None,
    json_path: Path | None,
    save_run: Path | None,
) -> None:
    """Print MRR, nDCG and recall of BM25, the vectors and their fusion, with 95 % bootstrap intervals.

    Sources are ranked by their best passage. Questions without source_ids are left out.
    """
    if directory is None and passages is None:
        raise click.UsageError("name an --index, or --passages to make one from")
    with (
        one_line_errors(),
        tempfile.TemporaryDirectory() as scratch,
        embedder(embed_url, embed_model) as vectors,
    ):
        folder = directory or Path(scratch) / "index"
        asked = rankings.read_questions(questions)[:limit]
        if passages is not None and not snapshot.exists(folder):
            with bars() as tell:
                bring_in(folder, [str(passages)], only=True, embedder=vectors, progress=tell)
        searcher = Searcher.open(folder, embedder=vectors)
        try:
            runs = {system: rankings.run(searcher, asked, system, k) for system in rankings.SYSTEMS}
        finally:
            searcher.close()
        _write(runs, asked, k, json_path, save_run)


def _write(
    runs: dict[str, rankings.Run],
    asked: list[rankings.Question],
    k: int,
    json_path: Path | None,
    save_run: Path | None,
) -> None:
    relevant = {question.id: frozenset(question.source_ids) for question in asked}
    table = Table("system", f"MRR@{k}", f"nDCG@{k}", f"R@{k}", box=None)
    systems: dict[str, dict[str, float]] = {}
    intervals: dict[str, dict[str, tuple[float, float]]] = {}
    for system, ranked in runs.items():
        names = {question: [source for source, _ in sources] for question, sources in ranked.items()}
        found = {name: rankings.interval(v) for name, v in rankings.measure(names, relevant, k).items()}
        systems[system] = {name: round(one.mean, 5) for name, one in found.items()}
        intervals[system] = {name: (round(one.low, 5), round(one.high, 5)) for name, one in found.items()}
        table.add_row(system, *(f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]" for one in found.values()))
        if save_run is not None:
            _save(save_run.with_name(f"{save_run.name}.{system}"), "\n".join(rankings.trec_lines(ranked, system)))
    Console().print(table)
    if json_path is not None:
        result = {"systems": systems, "intervals": intervals, "questions": len(asked), "k": k}
        _save(json_path, msgspec.json.format(msgspec.json.encode(result), indent=2).decode())


def _save(path: Path, text: str) -> None:
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise IndexProblem(f"{path} cannot be written ({error.strerror}); choose another place") from error
