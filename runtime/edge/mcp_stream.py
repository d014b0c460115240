"""A response of /mcp, which may become a stream: server-sent events whose ids say where to go on in the run's own events."""

import base64

import msgspec
from aiohttp import hdrs, web
from msgspec.structs import replace

from bus.wire.subjects import BadId, check_id
from runtime.edge.problems import Problem
from runtime.edge.responses import json_response
from runtime.edge.sse import COMMENT, HEADERS, disconnect, write
from runtime.edge.state import Edge
from runtime.mcp.schemas import Id, McpNotification, McpResponse, Object
from runtime.mcp.versions import UNSAID, VERSION_HEADER, at_least

#: The first version whose clients may be sent an event without data, only for its id.
PRIMED_SINCE = "2025-11-25"

_encode = msgspec.json.Encoder().encode


class Place(msgspec.Struct, frozen=True, array_like=True):
    """Where a stream can be taken up again: the id of its events, encoded."""

    run_id: str
    after: int
    request_id: Id
    token: Id | None = None

    def encoded(self) -> bytes:
        return base64.urlsafe_b64encode(_encode(self)).rstrip(b"=")

    @classmethod
    def of(cls, text: str) -> "Place":
        """Raises Problem 400."""
        try:
            place = msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=cls)
            check_id(place.run_id)
        except (ValueError, BadId, RecursionError):
            raise Problem(400, "bad_event_id", "this is no id of an event that was sent from here") from None
        return place


class Sse:
    """A response that becomes a stream with the first that is to be told before it, if the client takes one."""

    def __init__(self, request: web.Request, edge: Edge, request_id: Id) -> None:
        self.request = request
        self.edge = edge
        self.resumable = False
        self._place = Place("", 0, request_id)
        self._response: web.StreamResponse | None = None
        self._takes = "text/event-stream" in request.headers.get(hdrs.ACCEPT, "")

    def resume_with(self, token: Id | None) -> None:
        """A client that loses the stream may take it up again."""
        self.resumable, self._place = True, replace(self._place, token=token)

    async def begin(self, run_id: str) -> None:
        """Open the stream, and let the client know at once where to go on."""
        self._place = replace(self._place, run_id=run_id)
        if self._takes:
            await self._open()
            if self.resumable and at_least(self.request.headers.get(VERSION_HEADER, UNSAID), PRIMED_SINCE):
                await self._write(b"id: %s\ndata:\n\n" % self._place.encoded())

    async def notify(self, method: str, params: Object, number: int = 0) -> None:
        if self._takes:
            await self._open()
            self._place = replace(self._place, after=max(number, self._place.after))
            await self._event(McpNotification(jsonrpc="2.0", method=method, params=params))

    async def alive(self) -> None:
        if self._takes:
            await self._open()
            await self._write(COMMENT)

    async def end(
        self, response: McpResponse, status: int, headers: dict[str, str] | None = None
    ) -> web.StreamResponse:
        if self._response is None:
            return json_response(response, status=status, headers=headers)
        self.resumable = False  # there is nothing after it to take up
        await self._event(response)
        await self._response.write_eof()
        return self._response

    async def _open(self) -> None:
        if self._response is None:
            self._response = web.StreamResponse(headers=HEADERS)
            await self._response.prepare(self.request)

    async def _event(self, message: msgspec.Struct) -> None:
        number = b"id: %s\n" % self._place.encoded() if self.resumable and self._place.run_id else b""
        await self._write(b"%sevent: message\ndata: %s\n\n" % (number, _encode(message)))

    async def _write(self, data: bytes) -> None:
        assert self._response is not None
        try:
            await write(self.request, self._response, data, self.edge)
        except TimeoutError:
            raise disconnect(self.request, self.edge) from None
