"""`groundwire eval retrieval`: how well an index finds the sources judged relevant to each question."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.table import Table

from index.build.ingest import bring_in
from index.search.searcher import Searcher
from index.snapshot import snapshot
from runtime.commands.consoles import plain_console
from runtime.commands.eval import save, write
from runtime.commands.index_options import embedder, embedder_options
from runtime.commands.options import INDEX_FOLDER_PLACE, PATH, one_line_errors
from runtime.commands.progress import bars
from runtime.measure import rankings


@contextmanager
def opened(
    directory: Path | None, passages: Path | None, embed_url: str | None, embed_model: str
) -> Iterator[Searcher]:
    """The index in `directory`, built from `passages` if there is none; with no directory a temporary one. Raises IndexProblem."""
    vectors = embedder(embed_url, embed_model)
    with tempfile.TemporaryDirectory() as scratch:
        folder = directory or Path(scratch) / "index"
        if passages is not None and not snapshot.exists(folder):
            with bars() as tell:
                bring_in(folder, [str(passages)], only=True, embedder=vectors, progress=tell)
        searcher = Searcher.open(folder, embedder=vectors)
        try:
            yield searcher
        finally:
            searcher.close()


@click.command("retrieval")
@click.option("--index", "directory", type=INDEX_FOLDER_PLACE, help="Folder of the index.")
@click.option("--questions", type=PATH, required=True, help="JSONL of {id, question, source_ids, language?}.")
@click.option(
    "--passages", type=PATH, help="Documents to build the index from if there is none; without --index it is temporary."
)
@click.option(
    "--k", "k", type=click.IntRange(1, 100), default=10, show_default=True, help="Cut-off rank of every measure."
)
@embedder_options
@click.option("--limit", type=click.IntRange(1), help="Use only this many questions, from the first.")
@click.option("--json", "json_path", type=PATH, help="Write the measures to this JSON file.")
@click.option(
    "--save-run", type=PATH, help="Write TREC runs, one file per system: PATH.bm25, PATH.vectors, PATH.fusion."
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
    """Measure BM25, the vectors and their fusion: MRR, nDCG, recall.

    Each figure has a 95 % bootstrap interval. A source ranks by its best passage; questions without source_ids are skipped.
    """
    if directory is None and passages is None:
        raise click.UsageError("give --index, or --passages to build one from")
    with one_line_errors():
        asked = rankings.read_questions(questions)[:limit]
        with opened(directory, passages, embed_url, embed_model) as searcher:
            runs = {system: rankings.run(searcher, asked, system, k) for system in rankings.SYSTEMS}
    found = rankings.report(runs, asked, k)
    table = Table("system", f"MRR@{k}", f"nDCG@{k}", f"R@{k}", box=None)
    for system, measures in found.items():
        table.add_row(system, *(f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]" for one in measures.values()))
    plain_console().print(table)
    if save_run is not None:
        for system, ranked in runs.items():
            place = save_run.with_name(f"{save_run.name}.{system}")
            write(place, "\n".join(rankings.trec_lines(ranked, system)).encode())
    if json_path is not None:
        means = {s: {name: round(one.mean, 5) for name, one in of.items()} for s, of in found.items()}
        bounds = {
            s: {name: (round(one.low, 5), round(one.high, 5)) for name, one in of.items()} for s, of in found.items()
        }
        save(json_path, {"systems": means, "intervals": bounds, "questions": len(asked), "k": k})
