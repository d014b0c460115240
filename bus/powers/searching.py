"""The power `search` over the bus, both ends: request and reply on `gw.search`, retried until a process answers."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated

import msgspec
import nats.errors
from msgspec import Meta
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.journal.records import SearchRecord
from bus.transport.envelope import read, set_aside
from bus.transport.replying import reply_with
from bus.wire.errors import UNREADABLE, Poison, Unavailable
from bus.wire.parts import Collection, Passage
from bus.wire.subjects import SEARCH
from index.filters import Filter

#: How long a search is repeated that a process answers with a problem, in seconds.
PROBLEM_S = 0.5
#: How long one try waits for a reply before another process is asked as well; the next waits twice as long, at most so long.
TRY_S, LONGEST_TRY_S = 3.0, 24.0

#: More candidates than anyone reads; without a limit one search could hold a thread for minutes.
LARGEST_K = 1000
#: The default number of candidates of each side.
USUAL_DEPTH = 10
#: The default numbers of passages and of candidates of each side, today and in traces of earlier versions.
_USUAL, _EARLIER = (13, USUAL_DEPTH, USUAL_DEPTH), ((10, 5, 5), (10, 10, 10))
type Candidates = Annotated[int, Meta(ge=0, le=LARGEST_K)]


class SearchRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`k` is the number of hits after fusion; `bm25_k` and `vector_k` are the candidates that each search contributes, at most
    LARGEST_K.

    Both look only at documents that pass `filter`. `rerank`: by the reranker, if there is one. `topic`: words of the
    conversation, which count less than the query's. `as_list`: rank from a fixed number of
    candidates, so that a longer list begins with the shorter one. `groups`: see `bus.journal.access`. The executor sets `groups`
    and `run`.

    All searches of a run find what one snapshot holds: the one named, else the one that the run's first search was answered from,
    while that is open; a reply names its own.
    """

    query: str
    language: str
    k: Candidates
    bm25_k: Candidates = USUAL_DEPTH
    vector_k: Candidates = USUAL_DEPTH
    filter: Filter | None = None
    rerank: bool = True
    topic: str = ""
    groups: tuple[str, ...] | None = None
    snapshot: str = ""
    run: str = ""
    as_list: bool = False


class SearchReply(msgspec.Struct, frozen=True, kw_only=True):
    """Hits from one snapshot, best first; or the reason why there are none. `none_passes`: no document passes the filter."""

    passages: tuple[Passage, ...] = ()
    snapshot: str = ""
    collection: Collection = Collection()
    problem: str = ""
    none_passes: bool = False


log = logging.getLogger("groundwire.bus")

_encoder = msgspec.json.Encoder()
_requests = msgspec.json.Decoder(SearchRequest)
_replies = msgspec.json.Decoder(SearchReply)

#: What answers a search: the reply and its record. Raises Unavailable.
type Find = Callable[[SearchRequest], Awaitable[tuple[SearchReply, SearchRecord]]]


def record_of(request: SearchRequest, hits: bytes, began: float) -> SearchRecord:
    """The trace's record of a search; `began` is on the monotonic clock."""
    took_s = round(time.monotonic() - began, 6)
    asked = {name: value for name, value in msgspec.structs.asdict(request).items() if name not in ("run", "as_list")}
    return SearchRecord(hits=msgspec.Raw(hits), took_s=took_s, **asked)


def answers(record: SearchRecord, request: SearchRequest) -> bool:
    """Whether this record answers that search, for whomever and in whichever snapshot.

    Old records hold the earlier default numbers, which answer for today's.
    """
    unlike = {"groups", "snapshot", "run", "as_list"}
    if _sizes(request) == _USUAL and _sizes(record) in _EARLIER:
        unlike |= {"k", "bm25_k", "vector_k"}
    names = (field.name for field in msgspec.structs.fields(request) if field.name not in unlike)
    return all(getattr(record, name) == getattr(request, name) for name in names)


def _sizes(search: SearchRequest | SearchRecord) -> tuple[int, int, int]:
    return search.k, search.bm25_k, search.vector_k


def reply_of(record: SearchRecord) -> SearchReply:
    return _replies.decode(record.hits)


def found_in(record: SearchRecord) -> tuple[str, tuple[Passage, ...]]:
    """The snapshot that a recorded search was made in, and the passages it found; nothing where that cannot be read."""
    try:
        reply = reply_of(record)
    except UNREADABLE:
        return "", ()
    return reply.snapshot, reply.passages


@dataclass(slots=True)
class Finder:
    """The body of `search` for one delivery of a run, for a client of these `groups`. `records` are the replies it got;
    `began`, when the stage began, is on the monotonic clock.
    """

    find: Find
    groups: tuple[str, ...] | None = None
    began: float = field(default_factory=time.monotonic)
    run: str = ""
    records: list[SearchRecord] = field(default_factory=list)

    async def __call__(self, request: SearchRequest) -> SearchReply:
        began_s = round(time.monotonic() - self.began, 6)
        reply, record = await self.find(msgspec.structs.replace(request, groups=self.groups, run=self.run))
        self.records.append(msgspec.structs.replace(record, began_s=record.began_s or began_s))
        return reply


class SearchClient(msgspec.Struct, frozen=True):
    """Searches over the bus until the deadline, in epoch seconds."""

    client: Client
    deadline: float

    async def __call__(self, request: SearchRequest) -> tuple[SearchReply, SearchRecord]:
        """Raises Unavailable."""
        raw = _encoder.encode(request)
        began = time.monotonic()
        tries: set[asyncio.Task[Msg]] = set()  # an earlier one may still be answered, by a process that is slow
        problem, until, try_s = "", self.deadline, TRY_S
        silence: Exception = nats.errors.TimeoutError()
        try:
            while True:
                asked = self.client.request(SEARCH, raw, timeout=max(0.05, self.deadline - time.time()))
                tries.add(asyncio.create_task(asked))
                wait_s = max(0.05, min(try_s, until - time.time()))
                done, tries = await asyncio.wait(tries, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
                if not done:
                    try_s = min(2 * try_s, LONGEST_TRY_S)
                for each in done:
                    try:
                        reply = read(_replies, each.result().data, "its reply")
                    except (nats.errors.Error, TimeoutError, Poison) as error:
                        silence = error
                        if isinstance(error, Poison):
                            set_aside("reply", SEARCH, error)
                        continue
                    if not reply.problem:
                        return reply, record_of(request, each.result().data, began)
                    # Another process may have what this one lacks, or this one soon.
                    problem, until = reply.problem, min(until, time.time() + PROBLEM_S)
                if time.time() >= until:
                    raise Unavailable(
                        problem or f"no search process answers ({silence}); start one with `groundwire up`"
                    )
                if done:
                    await asyncio.sleep(0.1)
        finally:
            for each in tries:
                each.cancel()
            await asyncio.gather(*tries, return_exceptions=True)


async def serve_search(
    client: Client, find: Callable[[SearchRequest], Awaitable[SearchReply]]
) -> Callable[[], Awaitable[None]]:
    """Answer searches with `find`, several at a time. Returns a function that stops it."""

    async def answer(msg: Msg) -> bytes:
        return _encoder.encode(await find(read(_requests, msg.data, "this search")))

    return await reply_with(
        client,
        SEARCH,
        answer,
        lambda problem: _encoder.encode(SearchReply(problem=problem)),
        what="search",
    )
