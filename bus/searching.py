"""The power `search` over the bus, both ends: request and reply on `gw.search`, asked again when nobody answers."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.errors import Unavailable
from bus.journal import SearchRecord
from bus.messages import Passage
from bus.subjects import SEARCH


class SearchRequest(msgspec.Struct, frozen=True, kw_only=True):
    query: str
    language: str
    k: int
    bm25_k: int = 5
    vector_k: int = 5


class SearchReply(msgspec.Struct, frozen=True, kw_only=True):
    """Hits, best first, of one snapshot; or why there are none to be had."""

    passages: tuple[Passage, ...] = ()
    snapshot: str = ""
    problem: str = ""


_encoder = msgspec.json.Encoder()
_requests = msgspec.json.Decoder(SearchRequest)
_replies = msgspec.json.Decoder(SearchReply)


@dataclass(slots=True)
class Searcher:
    """The body of `search` for one delivery. `records` is what it was told."""

    client: Client
    deadline: float
    records: list[SearchRecord] = field(default_factory=list)

    async def __call__(self, query: str, *, language: str, k: int, bm25_k: int = 5, vector_k: int = 5) -> SearchReply:
        request = _encoder.encode(SearchRequest(query=query, language=language, k=k, bm25_k=bm25_k, vector_k=vector_k))
        began = time.monotonic()
        while True:
            try:
                msg = await self.client.request(
                    SEARCH, request, timeout=max(0.05, min(3.0, self.deadline - time.time()))
                )
            except (nats.errors.Error, TimeoutError) as error:
                if time.time() >= self.deadline:
                    raise Unavailable(f"no search process answers ({error}); start one with `groundwire up`") from None
                await asyncio.sleep(0.1)
                continue
            found = _replies.decode(msg.data)
            if found.problem:
                raise Unavailable(found.problem)
            self.records.append(
                SearchRecord(
                    query=query,
                    hits=msgspec.Raw(msg.data),
                    language=language,
                    k=k,
                    bm25_k=bm25_k,
                    vector_k=vector_k,
                    took_s=round(time.monotonic() - began, 6),
                )
            )
            return found


async def serve_search(
    client: Client, find: Callable[[SearchRequest], Awaitable[SearchReply]], *, queue: str = "search"
) -> Callable[[], Awaitable[None]]:
    """Answer searches with `find`, several at a time. Returns what stops it."""
    tasks: set[asyncio.Task[None]] = set()

    async def answer(msg: Msg) -> None:
        try:
            reply = await find(_requests.decode(msg.data))
        except Unavailable as failure:
            reply = SearchReply(problem=str(failure))
        except msgspec.DecodeError as error:
            reply = SearchReply(problem=f"this search cannot be read: {error}")
        await client.publish(msg.reply, _encoder.encode(reply))

    async def take(msg: Msg) -> None:
        task = asyncio.create_task(answer(msg))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    subscription = await client.subscribe(SEARCH, queue=queue, cb=take, pending_msgs_limit=-1)

    async def close() -> None:
        await subscription.unsubscribe()
        await asyncio.gather(*tasks, return_exceptions=True)

    return close
