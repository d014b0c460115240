"""The search process: serves one index from worker threads, and swaps to a newer snapshot without dropping a query."""

import asyncio
import logging
import queue
import threading
from collections.abc import Mapping
from pathlib import Path

import anyio

from bus.connection import Client, connect, keep_trying
from bus.errors import Unavailable
from bus.health import answer_health
from bus.searching import SearchReply, SearchRequest, serve_search
from bus.served_index import answer_served_index
from index.embedder import Embedder
from index.errors import IndexProblem
from index.languages import FALLBACK
from index.reranker import Reranking
from index.searcher import Searcher
from runtime.engines.embedders import embedder_over, over_bus, over_http
from runtime.engines.rerankers import reranking
from runtime.processes.hits import collection_of, passage_of
from runtime.processes.served import Served
from runtime.settings import Settings

log = logging.getLogger(__name__)

#: How often a newer snapshot is looked for: a look reads one line.
RELOAD_S = 0.2


class Threads:
    """The threads that call the index; each detaches from the JVM before it ends, which an ordinary pool's threads do not."""

    def __init__(self, searcher: Searcher, count: int) -> None:
        self._searcher = searcher
        self._work: queue.SimpleQueue[tuple[SearchRequest, asyncio.Future[SearchReply]] | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._run, name=f"search-{n}", daemon=True) for n in range(count)]
        for thread in self._threads:
            thread.start()

    async def find(self, request: SearchRequest) -> SearchReply:
        """The hits from the current snapshot. Raises Unavailable."""
        future: asyncio.Future[SearchReply] = asyncio.get_running_loop().create_future()
        self._work.put((request, future))
        return await future

    def close(self) -> None:
        for _ in self._threads:
            self._work.put(None)
        for thread in self._threads:
            thread.join(timeout=2)

    def _run(self) -> None:
        while (item := self._work.get()) is not None:
            request, future = item
            try:
                reply, failure = self._search(request), None
            except IndexProblem as problem:
                reply, failure = None, Unavailable(str(problem))
            future.get_loop().call_soon_threadsafe(_settle, future, reply, failure)
        self._searcher.detach()

    def _search(self, request: SearchRequest) -> SearchReply:
        hits = self._searcher.search(
            request.query,
            language=request.language or None,
            k=request.k,
            bm25_k=request.bm25_k,
            vector_k=request.vector_k,
            filter=request.filter,
            rerank=request.rerank,
        )
        return SearchReply(
            passages=tuple(map(passage_of, hits)),
            snapshot=self._searcher.snapshot,
            collection=collection_of(self._searcher, f"{request.query} {request.topic}".strip(), request.language),
            none_passes=not hits and request.filter is not None and not self._searcher.passing(request.filter),
        )


def _settle(future: "asyncio.Future[SearchReply]", reply: SearchReply | None, failure: Unavailable | None) -> None:
    if future.done():
        return
    if reply is not None:
        future.set_result(reply)
    elif failure is not None:
        future.set_exception(failure)


def _open(settings: Settings, client: Client, loop: asyncio.AbstractEventLoop, reranker: Reranking | None) -> Searcher:
    """Open the index with the embedder that the settings name. Raises IndexProblem, Unavailable."""
    embedder: Embedder | None = None
    if settings.index.embedder == "openai":
        embedder = over_http(settings.index)
    elif settings.index.embedder == "mlx":
        embedder = embedder_over(over_bus(client, loop), settings.index)
    return Searcher.open(Path(settings.index.dir), embedder=embedder, reranker=reranker)


def health(state: Mapping[str, object], reranker: Reranking | None) -> Mapping[str, object]:
    """The state, with what is to be said of the reranker."""
    if reranker is None or not reranker.state:
        return state
    return {**state, "detail": f"{state['detail']}; {reranker.state}"}


async def serve(settings: Settings, stop: asyncio.Event) -> None:
    """Open the index and answer searches until `stop` is set. Raises IndexProblem when there is no index to serve."""
    client = await connect(settings.bus.url, name="groundwire-search")
    keep_trying(client)
    state: dict[str, object] = {"ready": False, "detail": "opening the index"}
    loop = asyncio.get_running_loop()
    reranker = await loop.run_in_executor(None, reranking, settings.index, log.warning)
    await answer_health(client, "search", lambda: health(state, reranker))
    searcher = await loop.run_in_executor(None, _open, settings, client, loop, reranker)
    threads = Threads(searcher, settings.index.threads)
    await threads.find(SearchRequest(query="warm up", language=FALLBACK, k=1, rerank=False))
    close = await serve_search(client, threads.find)
    served = Served(Path(settings.index.dir), searcher.snapshot)
    await answer_served_index(client, lambda: asyncio.to_thread(served.say))
    state |= {"ready": True, "detail": searcher.snapshot}
    while not stop.is_set():
        with anyio.move_on_after(RELOAD_S):
            await stop.wait()
        if not stop.is_set() and await loop.run_in_executor(None, searcher.maybe_reload):
            state["detail"] = searcher.snapshot
            served.take_up(searcher.snapshot)
    await close()
    threads.close()
    searcher.close()
    await client.close()
