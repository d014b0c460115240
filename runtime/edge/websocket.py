"""/v1/ws: requests in, the same event objects out, one a text frame.

A request is the body of `POST /v1/runs`, or `{"type":"resume","run_id":…,"after":N}`, or `{"type":"cancel","run_id":…}`.
By default runs are answered one after the other, in the order asked, and a frame is an event and nothing else. With `?envelope=1`
they run side by side and a frame is `{"run_id","id","key","event"}`: `id` is what to resume after, `key` the idempotency key.
"""

import asyncio
import logging
from urllib.parse import urlsplit

import msgspec
from aiohttp import WSCloseCode, WSMsgType, web

from bus.errors import Unavailable
from bus.events import Done, Error
from bus.messages import QuestionAsked
from bus.router import Reader, TooSlow
from bus.runs import EventsGone, KeyReused, NoSuchRun
from bus.subjects import BadId
from runtime.edge import requests
from runtime.edge.problems import Problem, problem_of
from runtime.edge.sse import next_batch
from runtime.edge.state import EDGE, Edge

log = logging.getLogger("groundwire.edge")

#: Requests of one socket that run, or wait for their turn.
MOST_AT_ONCE = 64


class Resume(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="resume", forbid_unknown_fields=True):
    run_id: str
    after: int = 0


class Cancel(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="cancel", forbid_unknown_fields=True):
    run_id: str


class Envelope(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What `?envelope=1` puts around an event. `id` 0 and an empty `run_id`: a request that became no run."""

    run_id: str
    id: int
    event: msgspec.Raw
    key: str | None = None


class _Kind(msgspec.Struct):
    type: str = "question_asked"


_kinds = msgspec.json.Decoder(_Kind)
_resumes = msgspec.json.Decoder(Resume)
_cancels = msgspec.json.Decoder(Cancel)
_encode = msgspec.json.Encoder().encode


async def websocket(request: web.Request) -> web.StreamResponse:
    """GET /v1/ws"""
    edge = request.app[EDGE]
    _check_origin(request)
    ws = web.WebSocketResponse(heartbeat=edge.pace.comment_s, max_msg_size=edge.settings.max_body_bytes)
    if not ws.can_prepare(request).ok:
        raise Problem(426, "upgrade_required", "/v1/ws is a WebSocket; connect with ws://", {"Upgrade": "websocket"})
    await ws.prepare(request)
    socket = Socket(edge, ws, enveloped=request.query.get("envelope") == "1")
    edge.sockets.add(ws)
    with edge.metrics.streams.labels("websocket").track_inprogress():
        try:
            await socket.serve()
        finally:
            edge.sockets.discard(ws)
            await socket.close()
    return ws


def _check_origin(request: web.Request) -> None:
    """Browsers let any page open a socket to anywhere, so whose page it is must be looked at here. Raises Problem 403."""
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc != request.host:
        raise Problem(
            403, "foreign_origin", f"pages of {origin[:100]} may not use this socket; serve them from {request.host}"
        )


class Socket:
    """One client's socket: a task a request, all ended when it closes."""

    def __init__(self, edge: Edge, ws: web.WebSocketResponse, *, enveloped: bool) -> None:
        self.edge = edge
        self.ws = ws
        self.enveloped = enveloped
        self._turn = asyncio.Semaphore(MOST_AT_ONCE if enveloped else 1)
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Take requests until the client closes."""
        async for message in self.ws:
            if message.type is not WSMsgType.TEXT:
                await self._refuse(Problem(415, "not_json", "this frame is binary; send JSON as text"))
            elif len(self._tasks) >= MOST_AT_ONCE:
                await self._refuse(Problem(429, "too_many", f"{MOST_AT_ONCE} requests are open here; wait for a DONE"))
            else:
                self._spawn(message.data.encode())

    def _spawn(self, body: bytes) -> None:
        task = asyncio.create_task(self._answer(body))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _answer(self, body: bytes) -> None:
        """One request, from the decoding to DONE; whatever is wrong with it becomes an error event."""
        try:
            kind = _kind_of(body)
            if kind == "cancel":  # does not wait its turn: it may be meant for the run that has it
                asked = requests.decode(body, _cancels, Cancel)
                await self.edge.runs.cancel(requests.checked_id(asked.run_id))
                return
            async with self._turn:
                if kind == "resume":
                    await self._resume(requests.decode(body, _resumes, Resume))
                else:
                    await self._ask(requests.question_of(body))
        except Problem as problem:
            await self._refuse(problem)
        except (BadId, NoSuchRun, EventsGone, KeyReused, Unavailable) as error:
            await self._refuse(problem_of(error))

    async def _ask(self, question: QuestionAsked) -> None:
        await self.edge.check_profile(question)
        submitted, reader = await self.edge.runs.ask(question)
        self.edge.metrics.asked.labels(question.profile, "websocket").inc()
        with reader:
            try:
                await self._send(reader, after=0, key=question.idempotency_key)
            finally:
                if not reader.done:
                    self.edge.left(question, submitted.run_id)

    async def _resume(self, asked: Resume) -> None:
        with await self.edge.runs.read(requests.checked_id(asked.run_id)) as reader:
            await self._send(reader, after=asked.after, key=None)

    async def _send(self, reader: Reader, *, after: int, key: str | None) -> None:
        try:
            while (batch := await next_batch(reader, self.edge.pace.comment_s)) != []:
                for number, event in batch or ():
                    if number > after:
                        await self._frame(event, reader.run_id, number, key)
        except (TooSlow, TimeoutError):
            self.edge.metrics.slow.inc()
            await self.ws.close(code=WSCloseCode.TRY_AGAIN_LATER, message=b"reads too slowly; resume")
        except Unavailable:
            await self.ws.close(code=WSCloseCode.GOING_AWAY, message=b"closing; resume elsewhere")
        except ConnectionResetError:
            return  # the reading side learns of it as well, and ends the socket

    async def _frame(self, event: bytes, run_id: str, number: int, key: str | None) -> None:
        """Raises TimeoutError when the client takes nothing for too long."""
        text = (
            _encode(Envelope(run_id=run_id, id=number, event=msgspec.Raw(event), key=key)) if self.enveloped else event
        )
        async with asyncio.timeout(self.edge.pace.stall_s):
            await self.ws.send_str(text.decode())
        self.edge.metrics.events.inc()
        self.edge.metrics.writes.inc()

    async def _refuse(self, problem: Problem) -> None:
        """An error event and DONE: a client that reads up to DONE is never left waiting."""
        for event in (Error(code=problem.code, content=problem.detail), Done()):
            await self._frame(_encode(event), "", 0, None)


def _kind_of(body: bytes) -> str:
    """Which request this is. Raises Problem."""
    try:
        kind = _kinds.decode(body).type
    except msgspec.DecodeError:
        return "question_asked"  # reading it as a question says what is wrong
    if kind not in ("question_asked", "resume", "cancel"):
        raise Problem(
            422, "invalid", f"type: {kind[:40]!r} is no request; leave it out to ask, or use resume or cancel"
        )
    return kind


ROUTES = [web.get("/v1/ws", websocket, allow_head=False)]
