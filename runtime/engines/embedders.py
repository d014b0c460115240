"""Make the embedder that the settings name.

`lsa` is stored with the index, `openai` is a server, and `mlx` is an engine: the inference process, which owns the device,
serves it to the search process, while `index build` runs its own.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Self

from bus.powers.embedding import ask_vectors
from bus.transport.connection import Client
from bus.wire.errors import Unavailable
from index.embedders.embedder import CallableEmbedder, Embedder, EmbedderSpec
from index.embedders.openai_embedder import OpenAIEmbedder
from index.embedders.reranker import Reranking, RerankServer
from index.plugins import installed
from runtime.engines.engine import EmbeddingEngine
from runtime.engines.os_thread import MlxThread
from runtime.settings import IndexSettings

Call = Callable[[Sequence[str], bool], Sequence[Sequence[float]]]


def make_embedding_engine(settings: IndexSettings) -> EmbeddingEngine:
    """The engine behind the embedder, not yet started. Raises Unavailable when something it needs is missing."""
    if not settings.embed_model:
        raise Unavailable(f"index.embedder is {settings.embedder} but index.embed_model is empty; name a model")
    engine: EmbeddingEngine = installed("embedders")[settings.embedder].load()(settings)
    return engine


def over_http(settings: IndexSettings) -> Embedder:
    """The `openai` embedder. Raises IndexProblem when the server does not answer."""
    return OpenAIEmbedder(
        settings.embed_base_url,
        settings.embed_model,
        api_key=settings.embed_api_key,
        instruction=settings.embed_instruction,
        threshold=settings.embed_threshold,
    )


def embedder_over(call: Call, settings: IndexSettings) -> Embedder:
    """An embedder around a function; one call finds the vectors' dimension."""
    dimension = len(call(["dimension"], False)[0])
    spec = EmbedderSpec(settings.embedder, settings.embed_model, dimension, settings.embed_threshold)
    return CallableEmbedder(spec, call)


def over_bus(client: Client, loop: asyncio.AbstractEventLoop) -> Call:
    """An embedder over the bus, served by the inference process; call it from threads other than the loop's."""

    def call(texts: Sequence[str], query: bool) -> Sequence[Sequence[float]]:
        asked = asyncio.run_coroutine_threadsafe(ask_vectors(client, texts, query=query), loop)
        return asked.result().vectors

    return call


class OwnEngine:
    """An embedding engine in this process, on its own event loop, for commands that do not use asyncio."""

    def __init__(self, settings: IndexSettings) -> None:
        self.settings = settings
        self._engine = make_embedding_engine(settings)
        self._loop = asyncio.new_event_loop()
        self._thread = MlxThread(target=self._loop.run_forever, name="embedding", daemon=True)

    def __enter__(self) -> Self:
        """Raises Unavailable."""
        self._thread.start()
        try:
            self._run(self._engine.start())
        except Unavailable:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self._run(self._engine.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def embedder(self) -> Embedder:
        return embedder_over(self._call, self.settings)

    def _call(self, texts: Sequence[str], query: bool) -> Sequence[Sequence[float]]:
        found: list[list[float]] = self._run(self._engine.embed(texts, query=query))
        return found

    def _run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()


def rerank_server(settings: IndexSettings) -> RerankServer | None:
    """None when there is none. Raises IndexProblem when its address is none."""
    if not settings.rerank_url:
        return None
    return RerankServer(
        settings.rerank_url,
        settings.rerank_model,
        api=settings.rerank_api,
        api_key=settings.rerank_api_key,
        timeout_s=settings.rerank_timeout_s,
    )


def reranking(settings: IndexSettings, tell: Callable[[str], None]) -> Reranking | None:
    """The reranker of a search; `tell` gets a line when the search has to go on without. Raises IndexProblem."""
    server = rerank_server(settings)
    return None if server is None else Reranking(server, tell)
