"""`groundwire search`: search an index without calling a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from index.java import warm_up
from index.languages import LANGUAGES
from runtime.commands.filter_options import filter_options, for_server, line_about, taken_filter, taken_groups
from runtime.commands.index_options import embedder_options, opened
from runtime.commands.options import ASKED_INDEX, SNAPSHOT, URL, Place, check_place, one_line_errors, server
from runtime.terminal import one_line, say, say_json

if TYPE_CHECKING:
    from groundwire import client

    from index.filters import Filter
    from index.model import Hit

_MAX_QUERY = 4000


@click.command("search")
@click.argument("query")
@ASKED_INDEX
@URL
@click.option("-k", "k", type=click.IntRange(1, 100), default=5, show_default=True, help="Number of passages.")
@click.option("--language", type=click.Choice(LANGUAGES), help="Language of the query; detected by default.")
@filter_options
@SNAPSHOT
@embedder_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per hit.")
def search_command(
    query: str,
    index: Place | None,
    url: str | None,
    k: int,
    language: str | None,
    name: str | None,
    embed_url: str | None,
    embed_model: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Print the passages that best match QUERY, best first. Exits 1 when the index cannot be read.

    With --url a server searches; its key is read from GROUNDWIRE_KEY.
    """
    if len(query) > _MAX_QUERY:
        raise click.UsageError(f"the query has {len(query)} characters; shorten it to {_MAX_QUERY}")
    only, groups = taken_filter(options), taken_groups(options)
    check_place(index, url, None, groups)
    if url is not None:
        if name or embed_url:
            raise click.UsageError("--snapshot and the embedder are for an index; a server has its own")
        _print_remote(url, query, k, language, only, as_json=as_json)
        return
    assert index is not None, "either an index or a server is asked"
    if isinstance(index, Path):
        warm_up.begin(index, brief=True)
    with one_line_errors(), opened(index, name, (embed_url, embed_model)) as searcher:
        from index.filters import words_of
        from runtime.processes.served import about_of

        hits = searcher.search(query, language=language, k=k, filter=only, groups=groups, as_list=True)
        none_passes = only is not None and not searcher.passing(only, groups)
    for number, hit in enumerate(hits, 1):
        if as_json:
            say_json(hit)
            continue
        reranked = "" if hit.rerank_score is None else f", reranked {hit.rerank_score:.4g}"
        _print_hit(number, hit, line_about(about_of(hit)), reranked)
    if not hits and not as_json:
        why = f": no document passes the filter ({words_of(only)})" if only and none_passes else ""
        say(f"nothing found{why}", err=True)


def _print_hit(number: int, hit: "Hit | client.Hit", about: str, reranked: str = "") -> None:
    place = f", page {hit.page}" if hit.page is not None else ""
    say(one_line(f"{number}. {hit.title or hit.source_id} ({hit.source_id}{place}) {hit.score:.3f}{reranked}"))
    if about:
        say(f"   {one_line(about)}")
    say(f"   {one_line(hit.text)[:300]}")


def _print_remote(url: str, query: str, k: int, language: str | None, only: "Filter | None", *, as_json: bool) -> None:
    with server(url) as client:
        found = client.search(query, k=k, language=language, filter=for_server(only))
    from groundwire.wire import About

    for number, hit in enumerate(found.hits, 1):
        if as_json:
            say_json(hit)
        else:
            _print_hit(number, hit, line_about(msgspec.convert(msgspec.to_builtins(hit.about), About)))
    if not found.hits and not as_json:
        say(f"nothing found{found.detail and f': {found.detail}'}", err=True)
