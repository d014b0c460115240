"""The embedder and the reranker that the settings name, each behind a server; `pieces` are built in."""

from collections.abc import Callable

from index.embedders.embedder import Embedder, OpenAIEmbedder
from index.embedders.reranker import Reranking, RerankServer
from runtime.settings import IndexSettings


def made_embedder(settings: IndexSettings) -> Embedder | None:
    """None for `pieces`. Raises IndexProblem when the server does not answer."""
    if settings.embedder == "pieces":
        return None
    return OpenAIEmbedder(
        settings.embed_base_url,
        settings.embed_model,
        api_key=settings.embed_api_key,
        instruction=settings.embed_instruction,
        threshold=settings.embed_threshold,
    )


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
