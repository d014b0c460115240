"""Options of commands that build or open an index: its embedder, the files of a folder that are read, and where it is published."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from index.snapshot.roots import Rules
from runtime.commands.options import Place, read_settings
from runtime.terminal import say

if TYPE_CHECKING:
    from index.embedders.embedder import Embedder
    from index.search.searcher import Searcher


def source_options[**P, R](command: Callable[P, R]) -> Callable[P, R]:
    include = click.option(
        "--include",
        multiple=True,
        metavar="GLOB",
        help="Read only files that match, as in a .gitignore; repeatable. Remembered with the folder; '' ends it.",
    )
    exclude = click.option(
        "--exclude",
        multiple=True,
        metavar="GLOB",
        help="Leave out what matches, as in a .gitignore; repeatable. Remembered with the folder; '' ends it.",
    )
    base_url = click.option(
        "--base-url",
        metavar="URL",
        help="Where the folder is published, for the links of its documents. Remembered; '' ends it.",
    )
    return include(exclude(base_url(command)))


def rules_of(include: tuple[str, ...], exclude: tuple[str, ...], base_url: str | None) -> Rules:
    """Raises click.UsageError."""
    if base_url and not base_url.startswith(("http://", "https://", "/", "file://")):
        raise click.UsageError(f"--base-url {base_url}: write the whole address, as in https://docs.example.org/guide")
    return Rules(include or None, exclude or None, base_url)


def embedder_options[**P, R](command: Callable[P, R]) -> Callable[P, R]:
    url = click.option(
        "--embed-url", help="Base URL (…/v1) of an embeddings server.  [default: the setting index.embedder]"
    )
    model = click.option("--embed-model", default="", help="Embedding model: its name on the server.")
    return url(model(command))


def embedder(url: str | None, model: str) -> "Embedder | None":
    """The embedder that the options or else the settings name; None for the built-in one. Raises IndexProblem without a server."""
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
