"""The --embed-url and --embed-model options, shared by every command that opens an index."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
import msgspec

from bus.wire.errors import Unavailable
from index.errors import IndexProblem
from runtime.commands.options import read_settings

if TYPE_CHECKING:
    from index.embedders.embedder import Embedder


def embedder_options[**P, R](command: Callable[P, R]) -> Callable[P, R]:
    """Adds --embed-url and --embed-model."""
    url = click.option(
        "--embed-url", help="Base URL (…/v1) of an embeddings server.  [default: the setting index.embedder]"
    )
    model = click.option(
        "--embed-model", default="", help="Embedding model: its name on the server, a folder or a hub id."
    )
    return url(model(command))


@contextmanager
def embedder(url: str | None, model: str) -> "Iterator[Embedder | None]":
    """The embedder that the options or else the settings name; None for LSA. Raises IndexProblem when it is not available."""
    settings = read_settings().index
    if url:
        settings = msgspec.structs.replace(settings, embedder="openai", embed_base_url=url)
    if model:
        settings = msgspec.structs.replace(settings, embed_model=model)
    if settings.embedder == "lsa":
        yield None
        return
    from runtime.engines.embedders import OwnEngine, over_http  # they know the bus

    if settings.embedder == "openai":
        yield over_http(settings)
    else:
        try:
            with OwnEngine(settings) as engine:
                yield engine.embedder()
        except Unavailable as failure:
            raise IndexProblem(str(failure)) from None
