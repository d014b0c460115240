"""One request over HTTP, answered by the SDK: as JSON, or as a stream of server-sent events.

Nothing is kept between requests. The id of each event of a stream names the run and its last event, so any edge process can resume
the stream.
"""

import base64
import contextlib
import secrets
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Any, Literal

import anyio
import msgspec
from aiohttp import hdrs, web
from mcp.server.connection import Connection
from mcp.server.runner import modern_error_data, serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    InboundModernRoute,
    classify_inbound_request,
    find_duplicated_routing_header,
    unsupported_protocol_version_rejection,
)
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp.shared.transport_context import TransportContext
from mcp_types import HEADER_MISMATCH, INTERNAL_ERROR, INVALID_PARAMS, PROTOCOL_VERSION_META_KEY
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from bus.runs.router import Reader
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import BadId, check_id
from runtime.edge.cited import base_of
from runtime.edge.door import CALLER
from runtime.edge.problems import Problem
from runtime.edge.routes import json_response
from runtime.edge.sse import COMMENT, HEADERS, disconnect, write
from runtime.edge.state import EDGE, Edge
from runtime.mcp.server import HANDSHAKE, MODERN, SERVER
from runtime.mcp.tools import Peer

#: In characters. Each event of a stream repeats the ids.
LONGEST_ID = 256
type Id = int | Annotated[str, Meta(max_length=LONGEST_ID)]

VERSION_HEADER, SESSION_HEADER = "MCP-Protocol-Version", "Mcp-Session-Id"


class McpMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A client's message: a request has a method and an id, a notification no id, a response no method."""

    jsonrpc: Literal["2.0"]
    method: str | UnsetType = UNSET
    id: Id | UnsetType = UNSET
    params: dict[str, Any] = {}


class McpError(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    code: int
    message: str
    data: Any = UNSET


class McpResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A result or an error; without an id if the request's id could not be read."""

    jsonrpc: Literal["2.0"]
    id: Id | UnsetType = UNSET
    result: dict[str, Any] | UnsetType = UNSET
    error: McpError | UnsetType = UNSET


class McpNotification(msgspec.Struct, frozen=True, kw_only=True):
    jsonrpc: Literal["2.0"]
    method: str
    params: dict[str, Any]


_STATUSES = {**ERROR_CODE_HTTP_STATUS, INTERNAL_ERROR: 500}


class Cursor(msgspec.Struct, frozen=True, array_like=True):
    """The id of an event: the request's stream can be resumed after event `after` of its run."""

    run_id: str
    after: int
    request_id: Id
    token: Id | None = None

    def encoded(self) -> bytes:
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).rstrip(b"=")

    @classmethod
    def of(cls, text: str) -> "Cursor":
        """Raises Problem 400."""
        try:
            cursor = msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=cls)
            check_id(cursor.run_id)
        except (ValueError, BadId, RecursionError):
            raise Problem(
                400, "bad_event_id", "this event id was not sent by this service; send the last `id:`"
            ) from None
        return cursor


class Exchange(Peer):
    """A request and its response, which becomes a stream with the first notification if the client accepts one.

    For the SDK it is the dispatch context of the request.
    """

    can_send_request = False
    message_metadata = None

    def __init__(self, request: web.Request, cursor: Cursor) -> None:
        super().__init__(request[CALLER], base_of(request))
        self.request = request
        self.request_id = cursor.request_id
        self.transport = TransportContext(kind="streamable-http", can_send_request=False, headers=request.headers)
        self.cancel_requested = anyio.Event()
        self.after = cursor.after
        self.resumed: Reader | None = None
        self._cursor = cursor
        self._response: web.StreamResponse | None = None
        self._accepts = "text/event-stream" in request.headers.get(hdrs.ACCEPT, "")

    @classmethod
    async def answer(cls, request: web.Request, message: McpMessage, run_key: str | None) -> web.StreamResponse:
        """Answer a request. `run_key`: of its run, if the client has a session. Raises ConnectionError when the client has left."""
        assert isinstance(message.method, str)
        assert message.id is not UNSET
        token = progress_token_from_params(message.params)
        exchange = cls(request, Cursor("", 0, message.id, token))
        if isinstance(token, str) and len(token) > LONGEST_ID:
            return await exchange.fail(
                INVALID_PARAMS, f"the progressToken has over {LONGEST_ID} characters", None, False
            )
        connection, headers = Connection.from_envelope(HANDSHAKE, None, None), dict[str, str]()
        match _envelope(request, message):
            case InboundLadderRejection() as wrong:
                return await exchange.fail(wrong.code, wrong.message, wrong.data, modern=True)
            case InboundModernRoute() as route:
                connection = Connection.from_envelope(MODERN, route.client_info, route.client_capabilities)
            case None if message.method == "initialize":
                message.params["protocolVersion"] = HANDSHAKE  # the client takes this version or leaves
                headers[SESSION_HEADER] = secrets.token_hex(16)
            case None:
                exchange.run_key, exchange.may_leave = run_key, run_key is not None
        return await exchange.respond(message.method, message.params, connection, headers)

    @classmethod
    async def resume(cls, request: web.Request, last_event_id: str) -> web.StreamResponse:
        """Send the rest of a stream, as the same call of `ask` over a run that exists. Raises EXPECTED, ConnectionError."""
        cursor = Cursor.of(last_event_id)
        edge, exchange = request.app[EDGE], cls(request, cursor)
        await edge.check_theirs(exchange.caller, cursor.run_id)
        meta = {} if cursor.token is None else {"progressToken": cursor.token}
        params = {"name": "ask", "arguments": {"question": "?"}, "_meta": meta}
        with await edge.runs.read(cursor.run_id) as exchange.resumed:
            exchange.may_leave = True
            return await exchange.respond("tools/call", params, Connection.from_envelope(HANDSHAKE, None, None), {})

    # ------------------------------------------------------------ the caller of a tool

    async def edge(self) -> Edge:
        return self.request.app[EDGE]

    def run(self, edge: Edge, question: QuestionAsked) -> AbstractAsyncContextManager[Reader]:
        return contextlib.nullcontext(self.resumed) if self.resumed else super().run(edge, question)

    async def begin(self, run_id: str) -> None:
        """Open the stream and send a first id, after which the client can resume."""
        self._cursor = replace(self._cursor, run_id=run_id)
        if self._accepts:
            await self._open()
            if self.may_leave:
                await self._write(b"id: %s\ndata:\n\n" % self._cursor.encoded())

    async def alive(self) -> None:
        if self._accepts:
            await self._open()
            await self._write(COMMENT)

    # ------------------------------------------------------------ the SDK's dispatch context

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        if self._accepts:
            await self._open()
            number = int((params or {}).get("progress", 0))
            self._cursor = replace(self._cursor, after=max(number, self._cursor.after))
            message = McpNotification(jsonrpc="2.0", method=method, params=dict(params or {}))
            await self._event(message, resumable=self.may_leave and bool(self._cursor.run_id))

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Nothing: the tools report progress by notifications with an event."""

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    # ------------------------------------------------------------ the response

    async def respond(
        self, method: str, params: Mapping[str, Any], connection: Connection, headers: dict[str, str]
    ) -> web.StreamResponse:
        """Raises ConnectionError when the client has left."""
        try:
            result = await serve_one(SERVER, self, method, params, connection=connection, lifespan_state=self)
        except ConnectionError:
            raise
        except Exception as error:
            problem = modern_error_data(error)
            return await self.fail(problem.code, problem.message, problem.data, connection.protocol_version == MODERN)
        return await self._end(McpResponse(jsonrpc="2.0", id=self.request_id, result=result), 200, headers)

    async def fail(self, code: int, message: str, data: Any, modern: bool) -> web.StreamResponse:
        """Clients with a handshake take an HTTP error for a broken connection, so they get only those of the other routes."""
        if self._response is not None and self.may_leave and (await self.edge()).closing:
            await self._response.write_eof()  # the client resumes the stream at another process
            return self._response
        status = code if 400 <= code < 600 else _STATUSES.get(code, 400) if modern else 200
        error = McpError(code=code, message=message, data=UNSET if data is None else data)
        return await self._end(McpResponse(jsonrpc="2.0", id=self.request_id, error=error), status)

    async def _end(
        self, response: McpResponse, status: int, headers: dict[str, str] | None = None
    ) -> web.StreamResponse:
        if self._response is None:
            return json_response(response, status=status, headers=headers)
        await self._event(response, resumable=False)
        await self._response.write_eof()
        return self._response

    async def _open(self) -> web.StreamResponse:
        if self._response is None:
            self._response = web.StreamResponse(headers=HEADERS)
            await self._response.prepare(self.request)
        return self._response

    async def _event(self, message: msgspec.Struct, *, resumable: bool) -> None:
        number = b"id: %s\n" % self._cursor.encoded() if resumable else b""
        await self._write(b"%sevent: message\ndata: %s\n\n" % (number, msgspec.json.encode(message)))

    async def _write(self, data: bytes) -> None:
        edge = await self.edge()
        try:
            await write(self.request, await self._open(), data, edge)
        except TimeoutError:
            raise disconnect(self.request, edge) from None


def _envelope(request: web.Request, message: McpMessage) -> InboundModernRoute | InboundLadderRejection | None:
    """The envelope of a request of the newest version, or the reason for its rejection; None for the version with a handshake."""
    version = request.headers.get(VERSION_HEADER, HANDSHAKE)
    if PROTOCOL_VERSION_META_KEY not in (message.params.get("_meta") or {}) and message.method != "server/discover":
        if version == HANDSHAKE:
            return None
        if version != MODERN:
            return unsupported_protocol_version_rejection(version, (MODERN, HANDSHAKE))
    if name := find_duplicated_routing_header(request.headers.items()):
        return InboundLadderRejection(HEADER_MISMATCH, f"the header {name} was sent more than once")
    headers = {name.lower(): value for name, value in request.headers.items()}
    return classify_inbound_request({"method": message.method, "params": message.params}, headers=headers)
