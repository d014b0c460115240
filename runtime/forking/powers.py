"""A fork's live powers: an engine of its own, and the index if the settings name one."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import msgspec

from actors.question.resolved import RULES
from bus.powers.searching import SearchReply, SearchRequest
from bus.wire.errors import Unavailable
from runtime.engines.routing import make_engine
from runtime.forking.live_powers import RECORDED, Live
from runtime.processes.inference import Inference
from runtime.settings import IndexSettings, Settings


@contextlib.asynccontextmanager
async def live_for(settings: Settings, engine: str, fill: str = "") -> AsyncIterator[Live]:
    """The live powers. `engine` is one of the settings' engines, or RECORDED; then `fill` answers what is not recorded, if named.

    Raises Unavailable.
    """
    name = fill if engine == RECORDED else engine
    chosen = msgspec.structs.replace(settings.inference, engine=name or settings.inference.engine)
    made = make_engine(chosen) if name else None
    if made is not None:
        await made.start()
    index = _Index(settings.index) if settings.index.place else None
    try:
        has_model = None if engine == RECORDED else name != RULES
        yield Live(Inference(made, chosen) if made else None, index.find if index else None, has_model)
    finally:
        if made is not None:
            await made.close()
        if index is not None:
            await asyncio.to_thread(index.close)


@contextlib.asynccontextmanager
async def live_for_runs(settings: Settings, engine: str, fill: str = "") -> AsyncIterator[Callable[[bool], Live]]:
    """Live powers for whole runs: rules for a run by rules alone (True), for others `engine` and `fill` as in `live_for`.

    Raises Unavailable.
    """
    async with contextlib.AsyncExitStack() as stack:
        rules = await stack.enter_async_context(live_for(settings, RECORDED, RULES))
        other = Live(find=rules.find)
        if engine != RECORDED or fill:
            other = await stack.enter_async_context(live_for(settings, engine, fill))
        yield lambda by_rules: rules if by_rules else other


class _Index:
    """An index opened by the first search, since most forks begin after retrieval."""

    def __init__(self, settings: IndexSettings) -> None:
        self._settings = settings
        self._opening: asyncio.Task[None] | None = None
        self._closing = contextlib.ExitStack()

    async def find(self, request: SearchRequest) -> SearchReply:
        """Raises Unavailable."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        await asyncio.shield(self._opening)
        return await self._threads.find(request)

    async def _open(self) -> None:
        from index.errors import IndexProblem
        from index.search.searcher import Searcher
        from runtime.index_of import index_of
        from runtime.processes.search import Threads

        try:
            searcher = await asyncio.to_thread(lambda: Searcher.open(index_of(self._settings)))
        except IndexProblem as problem:
            raise Unavailable(str(problem)) from None
        self._closing.callback(searcher.close)
        self._threads = Threads(lambda: searcher, 2)
        self._closing.callback(self._threads.close)

    def close(self) -> None:
        self._closing.close()
