"""A client's own retry joins the run that is under way, in place of asking the same again.

OpenAI's clients repeat a request by themselves after a timeout or a lost connection, and count the times in a header; others repeat
it and do not say so. Two requests that merely ask the same are two questions. So a request joins a run of the same caller
and the same content when it says that it is a retry, or when whoever asked has left and nobody follows the run any more; and
only a run that is under way, or has ended with something to show.

Whoever waits for an answer in one piece and leaves may be about to ask again, so a run that is to end with its client ends
`rejoin_s` later. Who leaves a stream does not come back: no client repeats by itself what has begun. What is known here is
this process's own; an `Idempotency-Key` joins across processes, and for longer.
"""

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field

import msgspec
from aiohttp import web

from bus.runs.router import Reader
from bus.wire.messages import QuestionAsked
from runtime.edge.door import CALLER, Caller
from runtime.edge.state import EDGE, Edge

#: How often OpenAI's clients have sent this request before.
RETRIES = "x-stainless-retry-count"


@dataclass(slots=True, eq=False)
class SharedRun:
    """A run that requests of this process follow. `left`: the last of them went before its end."""

    mark: bytes
    run_id: str
    followers: int = 0
    left: bool = False
    timer: asyncio.TimerHandle | None = None


@dataclass(slots=True)
class Rejoining:
    """The runs that a retry may join, by caller and content."""

    runs: dict[bytes, SharedRun] = field(default_factory=dict)
    ending: set[asyncio.Task[None]] = field(default_factory=set)

    def follow(self, mark: bytes, run_id: str) -> SharedRun:
        """Count one more who follows the run."""
        run = self.runs.get(mark)
        if run is None or run.run_id != run_id:
            run = self.runs[mark] = SharedRun(mark, run_id)
        if run.timer is not None:
            run.timer.cancel()
        run.followers, run.left, run.timer = run.followers + 1, False, None
        return run

    def forget(self, run: SharedRun) -> None:
        if self.runs.get(run.mark) is run:
            del self.runs[run.mark]

    async def abandoned(self, edge: Edge, run: SharedRun, question: QuestionAsked, *, waits: bool) -> None:
        """The last who followed the run has gone before its end."""
        run.left = True
        if question.on_disconnect == "continue":
            await edge.client_left(question, run.run_id)
            self.later(run, edge.run_deadline_s)
        elif waits:
            self.later(run, edge.timeouts.rejoin_s, lambda: edge.client_left(question, run.run_id))
        else:
            self.forget(run)
            await edge.client_left(question, run.run_id)

    def later(
        self, run: SharedRun, after_s: float, then: Callable[[], Coroutine[None, None, None]] | None = None
    ) -> None:
        """Forget the run after a while unless somebody follows it again."""

        def over() -> None:
            self.forget(run)
            if then is not None:
                task = asyncio.create_task(then(), name=f"end {run.run_id}")
                self.ending.add(task)
                task.add_done_callback(self.ending.discard)

        run.timer = asyncio.get_running_loop().call_later(after_s, over)


REJOINING = web.AppKey("rejoining", Rejoining)


@contextlib.asynccontextmanager
async def ask_or_join(
    request: web.Request, question: QuestionAsked, transport: str, *, waits: bool
) -> AsyncIterator[Reader]:
    """Read the events of the question's run, a new one or one under way. `waits`: the client sees nothing before its end.

    Raises what `Edge.asked` raises.
    """
    edge, rejoining = request.app[EDGE], request.app[REJOINING]
    mark = _mark(request[CALLER], question)
    reader = await _joined(request, mark, question) or await edge.asked(request[CALLER], question, transport)
    run = rejoining.follow(mark, reader.run_id)
    with reader:
        try:
            yield reader
        except (asyncio.CancelledError, ConnectionResetError):
            run.followers -= 1
            if not run.followers:
                if reader.done:
                    rejoining.later(run, edge.timeouts.rejoin_s)
                else:
                    await rejoining.abandoned(edge, run, question, waits=waits)
            raise
        except BaseException:
            run.followers -= 1
            rejoining.forget(run)
            if not run.followers and not reader.done:
                await edge.not_followed(question, run.run_id)
            raise
    run.followers -= 1
    if not run.followers:
        rejoining.later(run, edge.timeouts.rejoin_s)


async def _joined(request: web.Request, mark: bytes, question: QuestionAsked) -> Reader | None:
    """A reader of the run that the request may join, if there is one. Raises Unavailable."""
    edge, rejoining = request.app[EDGE], request.app[REJOINING]
    known = rejoining.runs.get(mark)
    if known is None or not (known.left or _is_retry(request)):
        return None
    run = rejoining.follow(mark, known.run_id)  # so that it is not ended meanwhile
    try:
        if await _shows(edge, run.run_id):
            return await edge.runs.read(run.run_id)
    except BaseException:
        if run.followers == 1:
            await rejoining.abandoned(edge, run, question, waits=True)
        raise
    finally:
        run.followers -= 1
    rejoining.forget(run)
    return None


async def _shows(edge: Edge, run_id: str) -> bool:
    """Whether the run is under way, or has ended with something to show; a failure is asked again."""
    record = await edge.runs.record(run_id)
    return record is not None and record.outcome not in ("failed", "cancelled")


def _is_retry(request: web.Request) -> bool:
    times = request.headers.get(RETRIES, "")
    return times.isascii() and times.isdigit() and times.strip("0") != ""


def _mark(caller: Caller, question: QuestionAsked) -> bytes:
    """What a repeated request has in common with the first."""
    groups = None if caller.groups is None else sorted(caller.groups)
    return hashlib.blake2b(msgspec.json.encode((caller.name, groups, question)), digest_size=16).digest()
