"""Actors called in this process with live powers: an engine, recorded replies where those are wanted, an index if there is one."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import msgspec

from bus.actor import Actor, fall_back
from bus.asking import Asker, AskRequest, digest
from bus.errors import Failure, NoReply, Unavailable
from bus.events import StageEvent
from bus.journal import AskRecord, Record, SearchRecord, Stage
from bus.messages import Message
from bus.powers import Variables
from bus.searching import Searcher, SearchReply, SearchRequest
from runtime.processes.inference import Inference
from runtime.replay.recorded_powers import Screen, words
from runtime.replay.trace import Trace

type Find = Callable[[SearchRequest], Awaitable[SearchReply]]


@dataclass(slots=True)
class Live:
    """What live powers draw on. `replies` and `hits` come from a trace and go before engine and index."""

    inference: Inference
    find: Find | None = None
    replies: dict[tuple[str, str], AskRecord] = field(default_factory=dict)
    hits: list[SearchRecord] = field(default_factory=list)
    deadline_s: float = 120.0


def replies_of(trace: Trace) -> dict[tuple[str, str], AskRecord]:
    """Every reply of a trace, by prompt and digest of its variables."""
    return {(a.prompt, a.variables): a for stage in _stages(trace) for a in stage.asks if a.variables and not a.failure}


def hits_of(trace: Trace) -> list[SearchRecord]:
    """What every search of a trace found."""
    return [search for stage in _stages(trace) for search in stage.searches]


def _stages(trace: Trace) -> list[Stage]:
    return [stage for record in trace.records if (stage := record.stage) is not None]


async def done(actor: Actor, given: object, source: Record, screen: Screen, live: Live) -> tuple[object, Stage]:
    """What an actor makes of a message, its fallback after as many tries as it declares. Raises Poison."""
    began, lane = time.monotonic(), source.key.lane
    deadline = time.time() + live.deadline_s
    fallback = ""
    await screen.aside(StageEvent(stage=actor.name, lane=lane, status="start"))
    for attempt in range(actor.retries + 1):
        ask = LiveAsker(live, actor, source, deadline)
        search = LiveSearcher(live)
        bodies = {"ask": ask, "search": search, "emit": screen}
        if attempt:
            await screen.progress()
        try:
            result = await actor.handle(given, **{power: bodies[power] for power in actor.powers})
            break
        except Failure as failure:
            if attempt == actor.retries or time.time() >= deadline:
                result = fall_back(actor, given, failure)
                fallback = f"{type(failure).__name__}: {failure}"
                break
    await screen.aside(StageEvent(stage=actor.name, lane=lane, status="end"))
    stage = Stage(
        actor=actor.name,
        took_s=round(time.monotonic() - began, 6),
        fallback=fallback,
        asks=tuple(ask.records),
        searches=tuple(search.records),
        first_shown_at=screen.first_shown_at,
    )
    return result, stage


class LiveAsker(Asker):
    """`ask` straight to an engine."""

    def __init__(self, live: Live, actor: Actor, source: Record, deadline: float) -> None:
        self.actor, self.allowed, self.run_id, self.deadline = actor.name, actor.prompts, source.key.run_id, deadline
        self.priority, self.profile, self.records = "judge", profile_of(source.message), []
        self._live = live

    async def _exchange(
        self, variables: Variables, *, pieces: bool, already_shown: str, place: int
    ) -> AsyncIterator[str]:
        raw = msgspec.json.encode(variables)
        name, key = variables.name, digest(raw)
        if (kept := self._live.replies.get((name, key))) is not None:
            self.records[place] = kept
            if pieces:
                for piece in words(kept.said.removeprefix(already_shown)):
                    yield piece
            return
        request = AskRequest(
            prompt=name,
            variables=msgspec.Raw(raw),
            run_id=self.run_id,
            actor=self.actor,
            priority=self.priority,
            deadline=self.deadline,
            pieces=pieces,
            already_shown=already_shown,
            profile=self.profile,
        )
        began, shown = time.monotonic(), already_shown
        try:
            async for part in self._live.inference.answer(request):
                if isinstance(part, AskRecord):
                    took_s = round(time.monotonic() - began, 6)
                    self.records[place] = msgspec.structs.replace(
                        part, variables=key, already_shown=already_shown, took_s=took_s
                    )
                    if pieces and len(part.text) > len(shown):
                        yield part.text[len(shown) :]
                    return
                if pieces:
                    shown += part
                    yield part
        except Failure as failure:
            self.records[place] = AskRecord(prompt=name, variables=key, text="", failure=str(failure))
            raise
        raise NoReply(f"{name}: the engine ended without a reply")


class LiveSearcher(Searcher):
    """`search` straight in an index."""

    def __init__(self, live: Live) -> None:
        self.records = []
        self._live = live

    async def __call__(self, query: str, *, language: str, k: int, bm25_k: int = 5, vector_k: int = 5) -> SearchReply:
        for kept in self._live.hits:
            if kept.answers(query, language=language, k=k, bm25_k=bm25_k, vector_k=vector_k):
                self.records.append(kept)
                return msgspec.json.decode(kept.hits, type=SearchReply)
        if self._live.find is None:
            raise Unavailable(f"the trace holds no hits for {query!r}; name the index with --index")
        began = time.monotonic()
        request = SearchRequest(query=query, language=language, k=k, bm25_k=bm25_k, vector_k=vector_k)
        found = await self._live.find(request)
        took_s = round(time.monotonic() - began, 6)
        raw = msgspec.Raw(msgspec.json.encode(found))
        self.records.append(
            SearchRecord(query=query, hits=raw, language=language, k=k, bm25_k=bm25_k, vector_k=vector_k, took_s=took_s)
        )
        return found


def profile_of(message: Message) -> str:
    """The name of the profile that a message is under, empty when it tells none."""
    question = getattr(message, "question", None)
    return str(getattr(question, "profile", getattr(message, "profile", "")))
