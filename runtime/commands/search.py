"""`groundwire search`: search an index without calling a model."""

from pathlib import Path
from typing import Any

import click

from index.filters import words_of
from index.languages import LANGUAGES
from index.searcher import Searcher
from runtime.commands.embedder_options import embedder, embedder_options
from runtime.commands.filter_options import filter_options, line_about, taken_filter, taken_groups
from runtime.commands.options import INDEX_FOLDER, SNAPSHOT, one_line_errors, read_settings
from runtime.commands.terminal import one_line, say, say_json
from runtime.engines.rerankers import reranking
from runtime.processes.hits import about_of

_MAX_QUERY = 4000


@click.command("search")
@click.argument("query")
@INDEX_FOLDER
@click.option("-k", "k", type=click.IntRange(1, 100), default=5, show_default=True, help="Number of passages.")
@click.option("--language", type=click.Choice(LANGUAGES), help="Language of the query; detected by default.")
@filter_options
@SNAPSHOT
@embedder_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per hit.")
def search_command(
    query: str,
    directory: Path,
    k: int,
    language: str | None,
    name: str | None,
    embed_url: str | None,
    embed_model: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Print the passages that best match QUERY, best first. Exits 1 when the index cannot be read."""
    if len(query) > _MAX_QUERY:
        raise click.UsageError(f"the query has {len(query)} characters; shorten it to {_MAX_QUERY}")
    only, groups = taken_filter(options), taken_groups(options)
    with one_line_errors(), embedder(embed_url, embed_model) as vectors:
        reranker = reranking(read_settings().index, lambda line: say(line, err=True))
        searcher = Searcher.open(directory, name, embedder=vectors, reranker=reranker)
        depth = max(2 * k, 10)
        hits = searcher.search(query, language=language, k=k, bm25_k=depth, vector_k=depth, filter=only, groups=groups)
        none_passes = only is not None and not searcher.passing(only, groups)
        searcher.close()
    for number, hit in enumerate(hits, 1):
        if as_json:
            say_json(hit)
            continue
        place = f", page {hit.page}" if hit.page is not None else ""
        reranked = "" if hit.rerank_score is None else f", reranked {hit.rerank_score:.4g}"
        say(one_line(f"{number}. {hit.title or hit.source_id} ({hit.source_id}{place}) {hit.score:.3f}{reranked}"))
        if line := line_about(about_of(hit)):
            say(f"   {one_line(line)}")
        say(f"   {one_line(hit.text)[:300]}")
    if not hits and not as_json:
        why = f": no document passes the filter ({words_of(only)})" if only and none_passes else ""
        say(f"nothing found{why}", err=True)
