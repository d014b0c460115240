"""The --embed-url and --embed-model options, shared by every command that opens an index; and an index opened to be searched."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from runtime.commands.options import Place, read_settings
from runtime.terminal import say

if TYPE_CHECKING:
    from index.embedders.embedder import Embedder
    from index.search.searcher import Searcher


def embedder_options[**P, R](command: Callable[P, R]) -> Callable[P, R]:
    """Adds --embed-url and --embed-model."""
    url = click.option(
        "--embed-url", help="Base URL (…/v1) of an embeddings server.  [default: the setting index.embedder]"
    )
    model = click.option("--embed-model", default="", help="Embedding model: its name on the server.")
    return url(model(command))


def embedder(url: str | None, model: str) -> "Embedder | None":
    """The embedder that the options or else the settings name; None for LSA. Raises IndexProblem when it is not available."""
    settings = read_settings().index
    if url:
        settings = msgspec.structs.replace(settings, embedder="openai", embed_base_url=url)
    if model:
        settings = msgspec.structs.replace(settings, embed_model=model)
    from runtime.engines.embedders import made_embedder

    return made_embedder(settings)


@contextmanager
def opened(
    index: Place, snapshot: str | None = None, embed: tuple[str | None, str] = (None, "")
) -> "Iterator[Searcher]":
    """The index, to be searched. The slow imports happen here, during Java's start. Raises IndexProblem."""
    from index.search import class_archive
    from index.search.searcher import Searcher
    from runtime.engines.embedders import reranking
    from runtime.index_of import index_of

    settings = read_settings(index=index).index
    reranker = reranking(settings, lambda line: say(line, err=True))
    searcher = Searcher.open(index_of(settings), snapshot, embedder=embedder(*embed), reranker=reranker)
    try:
        yield searcher
    finally:
        searcher.close()
        if isinstance(index, Path):
            class_archive.make_behind(index)
