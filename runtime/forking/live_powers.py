"""What a fork's powers use: an engine, recorded replies where wanted, and an index if there is one."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import msgspec

from bus.journal.records import AskRecord, SearchRecord, Stage
from bus.powers.asking import AskRequest
from bus.powers.searching import SearchReply, SearchRequest, answers, record_of, reply_of
from bus.wire.errors import Unavailable
from runtime.processes.inference import Inference
from runtime.replay.recorded_powers import digests, words
from runtime.replay.trace import Trace

type FindLive = Callable[[SearchRequest], Awaitable[SearchReply]]


@dataclass(slots=True)
class Live:
    """What live powers use. `replies` and `hits` come from a trace and take precedence over engine and index.

    `has_model`: whether the engine has a model; None leaves it as recorded.
    """

    inference: Inference
    find: FindLive | None = None
    has_model: bool | None = None
    replies: dict[tuple[str, str], AskRecord] = field(default_factory=dict)
    hits: list[SearchRecord] = field(default_factory=list)
    deadline_s: float = 120.0

    async def answer(self, request: AskRequest) -> AsyncIterator[str | AskRecord]:
        """The recorded reply, or else the engine's. Raises Failure."""
        keys = digests(request.prompt, bytes(request.variables))
        kept = next((self.replies[request.prompt, key] for key in keys if (request.prompt, key) in self.replies), None)
        if kept is None:
            async for part in self.inference.answer(request):
                yield part
            return
        if request.pieces:
            for piece in words(kept.said.removeprefix(request.already_shown)):
                yield piece
        yield kept

    async def search(self, request: SearchRequest) -> tuple[SearchReply, SearchRecord]:
        """The recorded hits, or else the index's. Raises Unavailable."""
        if kept := next((record for record in self.hits if answers(record, request)), None):
            return reply_of(kept), kept
        if self.find is None:
            raise Unavailable(f"the trace has no hits for {request.query!r}; name the index with --index")
        began = time.monotonic()
        reply = await self.find(request)
        return reply, record_of(request, msgspec.json.encode(reply), began)


def replies_of(trace: Trace) -> dict[tuple[str, str], AskRecord]:
    """Every reply in a trace, by prompt and digest of its variables."""
    return {(a.prompt, a.variables): a for stage in _stages(trace) for a in stage.asks if a.variables and not a.failure}


def hits_of(trace: Trace) -> list[SearchRecord]:
    return [search for stage in _stages(trace) for search in stage.searches]


def _stages(trace: Trace) -> list[Stage]:
    return [stage for record in trace.records if (stage := record.stage) is not None]
