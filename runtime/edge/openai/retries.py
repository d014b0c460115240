"""A retry of an OpenAI client joins the run of its first request.

OpenAI's clients repeat a request after a timeout or a lost connection, and count the repetitions in a header. A run that ends
with its client therefore ends `rejoin_s` after a client that waited for the whole answer has left; no client repeats a stream
that has begun. Each edge process knows its own runs only; an `Idempotency-Key` is known to all of them, and for longer.
"""

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import msgspec
from aiohttp import web

from bus.runs.router import Reader
from bus.wire.messages import QuestionAsked
from runtime.edge.door import CALLER, Caller
from runtime.edge.state import EDGE, Edge

#: How often an OpenAI client has sent this request before.
RETRIES = "x-stainless-retry-count"


@dataclass(slots=True, eq=False)
class SharedRun:
    """A run and the number of requests of this process that follow it."""

    run_id: str
    followers: int = 0
    timer: asyncio.TimerHandle | None = None

    def follow(self) -> None:
        self.followers += 1
        if self.timer is not None:
            self.timer.cancel()


#: The newest run of each caller and content, by edge.
_SHARED: WeakKeyDictionary[Edge, dict[bytes, SharedRun]] = WeakKeyDictionary()


@contextlib.asynccontextmanager
async def submit_or_join(
    request: web.Request, question: QuestionAsked, transport: str, *, waits: bool
) -> AsyncIterator[Reader]:
    """Read the events of the question's run, or of the run that a retry repeats. `waits`: the client sees nothing before its end.

    Raises what `Edge.accept` raises.
    """
    edge = request.app[EDGE]
    shared = _SHARED.setdefault(edge, {})
    mark = _mark(request[CALLER], question)
    run, reader = shared.get(mark) if _is_retry(request) else None, None
    if run is not None:
        run.follow()
        left = True
        try:
            reader = await _joined(edge, run.run_id)
            left = False
        finally:
            if reader is None:
                await _leave(edge, shared, mark, run, question, left=left, waits=True)
    if reader is None:
        reader = await edge.accept(request[CALLER], question, transport)
        run = shared.get(mark)
        if run is None or run.run_id != reader.run_id:
            run = shared[mark] = SharedRun(reader.run_id)
        run.follow()
    assert run is not None
    left = False
    with reader:
        try:
            yield reader
        except (asyncio.CancelledError, ConnectionResetError):
            left = not reader.done
            raise
        except BaseException:
            if not reader.done and run.followers == 1:
                await edge.not_followed(question, run.run_id)
            raise
        finally:
            await _leave(edge, shared, mark, run, question, left=left, waits=waits)


async def _leave(
    edge: Edge,
    shared: dict[bytes, SharedRun],
    mark: bytes,
    run: SharedRun,
    question: QuestionAsked,
    *,
    left: bool,
    waits: bool,
) -> None:
    """Stop following a run, which is forgotten some time after its last follower. `left`: this client left before the end."""
    run.followers -= 1
    if run.followers:
        return
    at_once = left and (not waits or question.on_disconnect == "continue")

    def forget() -> None:
        run.timer = None
        if shared.get(mark) is run:
            del shared[mark]
        if left and not at_once:
            ending = asyncio.create_task(edge.client_left(question, run.run_id), name=f"end {run.run_id}")
            edge.ending.add(ending)
            ending.add_done_callback(edge.ending.discard)

    run.timer = asyncio.get_running_loop().call_later(edge.timeouts.rejoin_s, forget)
    if at_once:
        await edge.client_left(question, run.run_id)


async def _joined(edge: Edge, run_id: str) -> Reader | None:
    """A reader of the run if it has not failed. Raises Unavailable."""
    record = await edge.runs.record(run_id)
    return None if record is None or record.outcome in ("failed", "cancelled") else await edge.runs.read(run_id)


def _is_retry(request: web.Request) -> bool:
    times = request.headers.get(RETRIES, "")
    return times.isascii() and times.isdigit() and times.strip("0") != ""


def _mark(caller: Caller, question: QuestionAsked) -> bytes:
    """What a repeated request has in common with the first."""
    groups = None if caller.groups is None else sorted(caller.groups)
    return hashlib.blake2b(msgspec.json.encode((caller.name, groups, question)), digest_size=16).digest()
