"""/v1/ws: requests in, events of their runs out, one per text frame.

A request is the body of `POST /v1/runs`, or `{"type":"resume","run_id":…,"after":N}`, or `{"type":"cancel","run_id":…}`.
Runs go on in parallel, and each frame is an Envelope with its run and the number to resume after. The first frame of a question has
the id of its run, so that the client can cancel it before the first text.
"""

import asyncio
import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

import anyio
import msgspec
from aiohttp import WSCloseCode, WSMsgType, web
from msgspec import Meta

from bus.powers.events import EVENT_TYPES, Event
from bus.runs.router import Numbered
from bus.wire.errors import UNREADABLE
from bus.wire.messages import IdempotencyKey, QuestionAsked
from bus.wire.requests import parse_body
from bus.wire.subjects import check_id
from runtime.edge.door import CALLER, SUBPROTOCOL, Caller, check_scope
from runtime.edge.problems import EXPECTED, Problem, problem_of
from runtime.edge.relay import Client, Form, events_of, relay
from runtime.edge.routes import Reply, Route
from runtime.edge.state import EDGE, Edge

#: How many requests of one socket may be running or waiting.
MOST_AT_ONCE = 64


class Resume(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="resume", forbid_unknown_fields=True):
    """Send a run's events after number `after`."""

    run_id: str
    after: Annotated[int, Meta(ge=0, lt=1_000_000_000)] = 0


class Cancel(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="cancel", forbid_unknown_fields=True):
    """Cancel a run; every reader of its events sees the end."""

    run_id: str


class Envelope(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An event with its run, the number to resume after and the question's idempotency key.

    `id` is 0 for frames that are no events of the run: Accepted, and Error and Done of a refused request; `run_id` is then the
    request's, if any.
    """

    run_id: str
    id: int
    event: msgspec.Raw
    key: str | None = None


class Accepted(Event, frozen=True, kw_only=True, tag="accepted"):
    """The question has become a run."""


type SocketRequest = QuestionAsked | Resume | Cancel

REQUESTS: dict[str, type[SocketRequest]] = {
    str(each.__struct_config__.tag): each for each in (QuestionAsked, Resume, Cancel)
}


class _Tag(msgspec.Struct):
    type: str = "question_asked"


class _Keyed(msgspec.Struct):
    idempotency_key: IdempotencyKey | None = None


_encode = msgspec.json.Encoder().encode
_ACCEPTED = _encode(Accepted())


@Route(
    "GET",
    "/v1/ws",
    {
        101: Reply(
            "You send one request per text frame and receive one event per text frame.",
            events=(*EVENT_TYPES, Accepted, Envelope),
        )
    },
    "any",
    problems=(426,),
    receives=tuple(REQUESTS.values()),
)
async def websocket(request: web.Request) -> web.StreamResponse:
    """Ask questions over a WebSocket."""
    edge = request.app[EDGE]
    ws = web.WebSocketResponse(
        heartbeat=edge.timeouts.keepalive_s,
        max_msg_size=edge.settings.max_body_bytes,
        protocols=(SUBPROTOCOL,),
        compress=False,
    )
    if not ws.can_prepare(request).ok:
        raise Problem(426, "upgrade_required", "/v1/ws is a WebSocket; connect with ws://", {"Upgrade": "websocket"})
    await ws.prepare(request)
    edge.sockets.add(ws)
    with edge.metrics.streams.labels("websocket").track_inprogress():
        try:
            await Socket(edge, ws, request[CALLER]).serve()
        finally:
            edge.sockets.discard(ws)
    return ws


class EnvelopeForm(Form[Envelope]):
    """A run's events after number `after`. `accepted`: whether the client waits for the run's id."""

    def __init__(self, run_id: str, *, after: int = 0, key: str | None = None, accepted: bool = False) -> None:
        self._run_id = run_id
        self._after = after
        self._key = key
        self._accepted = accepted

    def begin(self) -> Iterator[Envelope]:
        if self._accepted:
            yield self._envelope((0, _ACCEPTED))

    def events(self, batch: Sequence[Numbered]) -> Iterator[Envelope]:
        return (self._envelope(event) for event in batch if event[0] > self._after or not event[0])

    def _envelope(self, event: Numbered) -> Envelope:
        return Envelope(run_id=self._run_id, id=event[0], event=msgspec.Raw(event[1]), key=self._key)


class Socket(Client[Envelope]):
    """One client's socket: a task per request, all ended when it closes."""

    resumes = True

    def __init__(self, edge: Edge, ws: web.WebSocketResponse, caller: Caller) -> None:
        self.edge = edge
        self.ws = ws
        self.caller = caller
        self._open = 0

    async def serve(self) -> None:
        async with anyio.create_task_group() as requests:
            async for message in self.ws:
                if message.type is not WSMsgType.TEXT:
                    await self._refuse(Problem(415, "not_json", "this frame is binary; send JSON as text"))
                elif self._open >= MOST_AT_ONCE:
                    detail = f"this socket has {MOST_AT_ONCE} open requests; wait until one is done"
                    await self._refuse(Problem(429, "too_many", detail))
                else:
                    self._open += 1
                    requests.start_soon(self._answer, message.data.encode())
            requests.cancel_scope.cancel()

    async def _answer(self, body: bytes) -> None:
        """Handle one request, from parsing to DONE; any error in it becomes an error event."""
        parsed: SocketRequest | None = None
        try:
            parsed = parse_request(body)
            caller = self._authorized(parsed)
            if isinstance(parsed, Cancel):
                await self.edge.check_theirs(caller, check_id(parsed.run_id))
                await self.edge.cancel(parsed.run_id)
                return
            with self.edge.door.hold(caller):
                if isinstance(parsed, Resume):
                    await self.edge.check_theirs(caller, check_id(parsed.run_id))
                    with await self.edge.runs.read(parsed.run_id) as reader:
                        await relay(self.edge, reader, EnvelopeForm(reader.run_id, after=parsed.after), self)
                else:
                    async with self.edge.submit(caller, parsed, "websocket") as reader:
                        form = EnvelopeForm(reader.run_id, key=parsed.idempotency_key, accepted=True)
                        await relay(self.edge, reader, form, self)
        except EXPECTED as error:
            await self._refuse(problem_of(error), parsed, body)
        except ConnectionResetError:
            pass  # the client has disconnected: the reading side notices too, and ends the socket
        finally:
            self._open -= 1

    def _authorized(self, parsed: SocketRequest) -> Caller:
        """The caller, if the key allows this request now: each frame is a request. Raises Problem 401, 403, 429, 503."""
        caller = self.edge.door.renewed(self.caller)
        if caller.name:
            check_scope(caller, "read" if isinstance(parsed, Resume) else "ask")
            self.edge.door.limits.spend(caller.key_id, caller.rate)
        return caller

    async def send(self, units: Iterable[Envelope]) -> None:
        for envelope in units:
            async with asyncio.timeout(self.edge.timeouts.stall_s):
                await self.ws.send_str(_encode(envelope).decode())
            self.edge.metrics.sent(1)

    async def alive(self) -> None:
        """The socket's own heartbeat is enough."""

    async def cut_off(self) -> None:
        await self.ws.close(code=WSCloseCode.GOING_AWAY, message=b"shutting down; reconnect and resume")

    async def drop(self) -> ConnectionResetError:
        self.edge.metrics.slow.inc()
        await self.ws.close(code=WSCloseCode.TRY_AGAIN_LATER, message=b"reading too slowly; reconnect and resume")
        return ConnectionResetError("the client read too slowly")

    async def _refuse(self, problem: Problem, parsed: SocketRequest | None = None, body: bytes = b"") -> None:
        """Send an error event and DONE, so that a client that reads up to DONE is never left waiting."""
        key = parsed.idempotency_key if isinstance(parsed, QuestionAsked) else _key_in(body)
        run_id = parsed.run_id if isinstance(parsed, Resume | Cancel) else ""
        with contextlib.suppress(ConnectionResetError):
            try:
                await self.send(
                    Envelope(run_id=run_id, id=0, event=msgspec.Raw(event), key=key) for event in events_of(problem)
                )
            except TimeoutError:
                await self.drop()


def _key_in(body: bytes) -> str | None:
    """The idempotency key of a request with another fault, by which its client knows which one is refused."""
    try:
        return msgspec.json.decode(body, type=_Keyed).idempotency_key
    except UNREADABLE:
        return None


def parse_request(body: bytes) -> SocketRequest:
    """The request in a frame. Raises Problem."""
    try:
        tag = msgspec.json.decode(body, type=_Tag).type
    except UNREADABLE:
        tag = "question_asked"  # parsing it as a question reports the fault
    if tag not in REQUESTS:
        detail = f"type: {tag[:40]!r} is not a kind of request; leave it out to ask, or use resume or cancel"
        raise Problem(422, "invalid", detail)
    return parse_body(body, REQUESTS[tag])
