"""The search process: serves one index from worker threads, and swaps to a newer snapshot without dropping a query.

An index that breaks, or goes away, does not end it (`kept_index`).
"""

import asyncio
import logging
import queue
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import AsyncExitStack

import anyio

from bus.journal.access import Groups
from bus.powers.searching import SearchReply, SearchRequest, serve_search
from bus.powers.served_index import Held, answer_served_index
from bus.powers.sources import answer_sources
from bus.transport.connection import connect, keep_trying
from bus.transport.health import answer_health
from bus.transport.users import SEARCHING
from bus.wire.errors import Failure, Unavailable
from index.build.opening import Index
from index.embedders.reranker import Reranking
from index.errors import IndexProblem
from index.java import jvm
from index.languages import FALLBACK
from index.search.searcher import Searcher
from runtime.bucket.follow import BucketSnapshots
from runtime.engines.embedders import made_embedder, reranking
from runtime.index_of import index_of
from runtime.processes.kept_index import KeptIndex
from runtime.processes.served import HeldFor, Served, collection_of, passage_of
from runtime.processes.source_files import Sources
from runtime.settings import Settings

log = logging.getLogger(__name__)

#: So many earlier snapshots stay open for runs that began in them.
EARLIER = 2
#: Of so many runs the snapshot of their first search is remembered.
MOST_PINS = 4096
#: How often a newer snapshot is looked for, which reads one line, and an index tried again that cannot be opened, in seconds.
LOOK_S = 1.0


class Pins:
    """In which snapshot the first search of each of the last runs was answered here; for any number of threads."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._lock = threading.Lock()

    def of(self, run: str, current: str) -> str:
        """The run's; `current` from now on, if this is its first search. A search of no run has none."""
        if not run:
            return current
        with self._lock:
            name = self._names.setdefault(run, current)
            if len(self._names) > MOST_PINS:
                del self._names[next(iter(self._names))]
            return name


class Threads:
    """The threads that call the index; each detaches from the JVM before it ends, which an ordinary pool's threads do not."""

    def __init__(
        self, searcher: Callable[[], Searcher], count: int, *, on_broken: Callable[[], None] = lambda: None
    ) -> None:
        """`searcher` gives the one to search with, or raises IndexProblem; `on_broken` is called when a search breaks."""
        self._searcher = searcher
        self._pins = Pins()
        self._on_broken = on_broken
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._run, name=f"search-{n}", daemon=True) for n in range(count)]
        for thread in self._threads:
            thread.start()

    async def find(self, request: SearchRequest) -> SearchReply:
        """The hits from the current snapshot. Raises Unavailable."""
        return await self.run(lambda searcher: self._search(searcher, self._pins, request))

    async def run[T](self, work: Callable[[Searcher], T]) -> T:
        """What this returns, called in one of the threads. Raises Unavailable, or the Failure that it raises."""
        done: Future[T] = Future()
        self._work.put(lambda: self._do(done, work))
        return await asyncio.wrap_future(done)

    def _do[T](self, done: Future[T], work: Callable[[Searcher], T]) -> None:
        if not done.set_running_or_notify_cancel():
            return  # no caller waits any more
        try:
            done.set_result(work(self._searcher()))
        except Failure as failure:
            done.set_exception(failure)
        except IndexProblem as problem:
            done.set_exception(Unavailable(str(problem)))
            self._on_broken()
        except Exception as broken:
            # The outermost handler of this thread: damaged files break a search in any way, and the next may go well.
            log.exception("a search broke")
            done.set_exception(Unavailable(f"the index could not be searched ({type(broken).__name__})"))
            self._on_broken()

    def close(self) -> None:
        for _ in self._threads:
            self._work.put(None)
        for thread in self._threads:
            thread.join(timeout=2)

    def _run(self) -> None:
        while (do := self._work.get()) is not None:
            do()
        jvm.detach()

    @staticmethod
    def _search(newest: Searcher, pins: Pins, request: SearchRequest) -> SearchReply:
        name = request.snapshot or pins.of(request.run, newest.snapshot)
        with newest.pinned(name, request.groups) as searcher:
            return Threads._reply(searcher, request)

    @staticmethod
    def _reply(searcher: Searcher, request: SearchRequest) -> SearchReply:
        hits = searcher.search(
            request.query,
            topic=request.topic,
            language=request.language or None,
            k=request.k,
            bm25_k=request.bm25_k,
            vector_k=request.vector_k,
            filter=request.filter,
            rerank=request.rerank,
            groups=request.groups,
            as_list=request.as_list,
        )
        return SearchReply(
            passages=tuple(map(passage_of, hits)),
            snapshot=searcher.snapshot,
            collection=collection_of(
                searcher, f"{request.query} {request.topic}".strip(), request.language, request.groups
            ),
            none_passes=not hits
            and request.filter is not None
            and not searcher.passing(request.filter, request.groups),
        )


def _opening(index: Index, settings: Settings, reranker: Reranking | None) -> Callable[[str], Searcher]:
    """What opens a snapshot with the embedder that the settings name. Raises IndexProblem."""
    embedder = made_embedder(settings.index)
    return lambda name: Searcher.open(index, name, embedder=embedder, reranker=reranker, earlier=EARLIER)


def _index(settings: Settings) -> Index:
    """Where the snapshots are that are searched. Raises Unavailable."""
    try:
        return BucketSnapshots(settings) if settings.index.bucket else index_of(settings.index)
    except IndexProblem as problem:
        raise Unavailable(str(problem)) from None


def health(state: Mapping[str, object], reranker: Reranking | None) -> Mapping[str, object]:
    if reranker is None or not reranker.state:
        return state
    return {**state, "detail": f"{state['detail']}; {reranker.state}"}


async def serve(settings: Settings, stop: asyncio.Event) -> None:
    """Answer searches from the index until `stop` is set; without one, each is refused with the reason. Raises Unavailable."""
    index = await asyncio.to_thread(_index, settings)
    async with AsyncExitStack() as closing:
        client = await connect(settings.bus, name="groundwire-search", user=SEARCHING.name)
        closing.push_async_callback(client.close)
        keep_trying(client)
        state: dict[str, object] = {"ready": False, "detail": "opening the index"}
        loop = asyncio.get_running_loop()
        reranker = await loop.run_in_executor(None, reranking, settings.index, log.warning)
        await answer_health(client, "search", lambda: health(state, reranker))
        opening = await loop.run_in_executor(None, _opening, index, settings, reranker)
        kept = KeptIndex(index, opening, settings.bus.deadline_s)
        closing.callback(kept.close)
        threads = Threads(kept.searcher, settings.index.threads, on_broken=kept.suspect)
        closing.callback(threads.close)
        await loop.run_in_executor(None, kept.look)
        if kept.snapshot:
            await threads.find(SearchRequest(query="warm up", language=FALLBACK, k=1, rerank=False))
        originals = settings.index.originals
        closing.push_async_callback(await answer_sources(client, Sources(threads.run, originals=originals).find))
        closing.push_async_callback(await serve_search(client, threads.find))
        served, held_by = Served(kept.searcher, index.skipped, kept.snapshot), HeldFor(kept.searcher)

        async def found_for(groups: Groups) -> Held:
            try:
                return await asyncio.to_thread(held_by, groups)
            except IndexProblem as problem:
                raise Unavailable(str(problem)) from None

        await answer_served_index(client, lambda: asyncio.to_thread(served.say), found_for)
        fetching = asyncio.create_task(index.follow(stop)) if isinstance(index, BucketSnapshots) else None
        while not stop.is_set():
            state |= state_of(kept)
            with anyio.move_on_after(LOOK_S):
                await stop.wait()
            if not stop.is_set() and await loop.run_in_executor(None, kept.look):
                served.take_up(kept.snapshot)
        if fetching is not None:
            await fetching


def state_of(kept: KeptIndex) -> dict[str, object]:
    """The health check's answer: ready with any snapshot, with the reason if it is not the current one."""
    if kept.snapshot:
        return {"ready": True, "detail": "; ".join(filter(None, (kept.snapshot, kept.problem))), "problem": ""}
    return {"ready": False, "detail": kept.problem, "problem": kept.problem}
