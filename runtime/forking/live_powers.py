"""What a fork's powers use: the recorded replies and hits, an engine, and an index if there is one. What each gave is noted.

`live_for` makes a fork's own: an engine, and the index if the settings name one.
"""

import asyncio
import contextlib
import functools
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import msgspec

from actors.question.resolved import RULES
from bus.journal.records import AskRecord, SearchRecord, Stage
from bus.powers.asking import AskRequest
from bus.powers.searching import SearchReply, SearchRequest, answers, record_of, reply_of
from bus.wire.errors import Failure, Unavailable
from runtime.engines.rendering import Renderer, make_engine
from runtime.engines.scripted.engine import words
from runtime.processes.inference import Inference
from runtime.replay.recorded_powers import digests, failure_of
from runtime.replay.trace import Trace
from runtime.settings import IndexSettings, Settings

RECORDED, INDEX = "recorded", "the index of today"


class NotRecorded(LookupError):
    """A stage needs a reply or hits that the trace lacks, and the fork may take them from nowhere else.

    `needs`: `engine` or `index`.
    """

    def __init__(self, what: str, needs: str) -> None:
        super().__init__(what)
        self.needs = needs


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """A reply or hits that a stage of a fork got. `what`: the prompt, or the query. `by`: what gave it.

    `made_by`: the engine and model of a reply. `prompt_changed`: the recorded reply is one to an earlier version of the prompt.
    """

    stage: str
    what: str
    by: str
    made_by: str = ""
    prompt_changed: bool = False

    def __str__(self) -> str:
        made_by = f", {self.made_by}" if self.made_by and self.made_by != self.by else ""
        old = "; the prompt has changed since" if self.prompt_changed else ""
        return f"{self.stage}: {self.what}: {self.by}{made_by}{old}"


@dataclass(slots=True)
class Live:
    """What live powers use. `replies` and `hits` come from a trace and take precedence over engine and index.

    Without an engine, and without an index, there is nothing else. `has_model`: whether the engine has a model; None leaves it as
    recorded. `given`: every reply and search so far.
    """

    inference: Inference | None = None
    find: Callable[[SearchRequest], Awaitable[SearchReply]] | None = None
    has_model: bool | None = None
    replies: dict[tuple[str, str], "AskRecord | str"] = field(default_factory=dict)
    hits: list[SearchRecord] = field(default_factory=list)
    deadline_s: float = 120.0
    given: list[Given] = field(default_factory=list)

    async def answer(self, request: AskRequest) -> AsyncIterator[str | AskRecord]:
        """The recorded reply, or else the engine's. Raises Failure, NotRecorded."""
        keys = (*digests(request.prompt, bytes(request.variables)), "")
        kept = next((self.replies[request.prompt, key] for key in keys if (request.prompt, key) in self.replies), None)
        if isinstance(kept, str):
            self._note(request, RECORDED, kept)
            raise failure_of(kept)
        changed = kept is not None and has_changed(kept, request.profile)
        if kept is None or (changed and self.inference is not None):
            async for part in self._asked(request):
                yield part
            return
        self._note(request, RECORDED, engine_of(kept), prompt_changed=changed)
        if request.pieces:
            for piece in words(kept.said.removeprefix(request.already_shown)):
                yield piece
        yield kept

    async def _asked(self, request: AskRequest) -> AsyncIterator[str | AskRecord]:
        if self.inference is None:
            raise NotRecorded(f"{request.actor} asks {request.prompt} what the record has no reply to", "engine")
        try:
            async for part in self.inference.answer(request):
                if isinstance(part, AskRecord):
                    self._note(request, engine_of(part), engine_of(part))
                yield part
        except Failure as failure:
            self._note(request, f"failed: {failure}")
            raise

    def _note(self, request: AskRequest, by: str, made_by: str = "", *, prompt_changed: bool = False) -> None:
        self.given.append(
            Given(stage=request.actor, what=request.prompt, by=by, made_by=made_by, prompt_changed=prompt_changed)
        )

    async def search(self, request: SearchRequest) -> tuple[SearchReply, SearchRecord]:
        """The recorded hits, or else the index's. Raises Unavailable, NotRecorded."""
        kept = next((record for record in self.hits if answers(record, request)), None)
        by = INDEX if kept is None else RECORDED
        self.given.append(Given(stage="retrieve", what=f"search {request.query!r}", by=by))
        if kept is not None:
            return reply_of(kept), kept
        if self.find is None:
            raise NotRecorded(f"the record has no hits for {request.query!r}", "index")
        began = time.monotonic()
        reply = await self.find(request)
        return reply, record_of(request, msgspec.json.encode(reply), began)


def engine_of(ask: AskRecord) -> str:
    return ":".join(dict.fromkeys(filter(None, (ask.engine, ask.model)))) or "an engine"


def has_changed(ask: AskRecord, profile: str) -> bool:
    return bool(ask.version) and ask.version != version_of(ask.prompt, profile)


@functools.cache
def _renderer() -> Renderer:
    return Renderer()


def forget_prompts() -> None:
    """Read the prompts again: others take their place from now on."""
    _renderer.cache_clear()


def version_of(prompt: str, profile: str) -> str:
    """Today's version of the prompt under that profile; empty where there is no such prompt. Raises Poison."""
    try:
        return _renderer().library(profile).version(prompt)
    except KeyError:
        return ""


def replies_of(trace: Trace) -> dict[tuple[str, str], AskRecord | str]:
    """Every reply in a trace, by prompt and digest of its variables; of an ask that failed, the failure as a fallback names it.

    An ask that was cut off when another one of its stage failed has no digest.
    """
    found: dict[tuple[str, str], AskRecord | str] = {}
    for stage in (each.stage for each in trace.story.stages):
        for ask in stage.asks:
            found[ask.prompt, ask.variables] = _failure_in(stage, ask) or ask
    return found


def _failure_in(stage: Stage, ask: AskRecord) -> str:
    """`Class: message` of an ask that failed or was cut off; empty for one with a reply."""
    if ask.failure:
        return stage.fallback if ask.failure in stage.fallback else f"Unavailable: {ask.failure}"
    return "" if ask.variables else stage.fallback or "Unavailable: cut off"


@contextlib.asynccontextmanager
async def live_for(settings: Settings, engine: str, fill: str = "") -> AsyncIterator[Live]:
    """The live powers. `engine` is one of the settings' engines, or RECORDED; then `fill` answers what is not recorded, if named.

    Raises Unavailable.
    """
    name = fill if engine == RECORDED else engine
    chosen = msgspec.structs.replace(settings.inference, engine=name or settings.inference.engine)
    live = Live(has_model=None if engine == RECORDED else name != RULES)
    async with contextlib.AsyncExitStack() as closing:
        if settings.index.place:
            index = _Index(settings.index)
            closing.push_async_callback(asyncio.to_thread, index.close)
            live.find = index.find
        if name:
            made = make_engine(chosen)
            await made.start()
            closing.push_async_callback(made.close)
            live.inference = Inference(made, chosen)
        yield live


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
