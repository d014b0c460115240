"""The protocol over two byte streams, a message a line: how a program on the same machine speaks to `groundwire mcp`.

Requests are answered as they are done, not in order. What can be said without the index is answered at once, in order; so a
client is greeted while the stack still starts.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

import msgspec
from msgspec import UNSET

from runtime.mcp.calls import LEVELS, Call, Peer
from runtime.mcp.schemas import (
    Cancelled,
    ErrorBody,
    Id,
    Initialize,
    McpMessage,
    McpNotification,
    McpResponse,
    Object,
    SetLevel,
)
from runtime.mcp.server import answer, failed
from runtime.mcp.versions import (
    HANDSHAKE,
    INVALID_REQUEST,
    MODERN,
    PARSE_ERROR,
    RpcError,
    agreed,
    check_modern,
    is_modern,
    params_of,
)

log = logging.getLogger("groundwire.mcp")

#: The longest line that is taken, in bytes: more than any question with its history.
LONGEST_LINE = 4 * 1024 * 1024
#: What a client says before it is clear that it stays.
_GREETINGS = frozenset(("server/discover", "initialize", "ping"))
#: Requests whose answer needs the index, or takes a while.
_SLOW = frozenset(("tools/call", "resources/list", "resources/read", "completion/complete", "subscriptions/listen"))

_message = msgspec.json.Decoder(McpMessage)
_encode = msgspec.json.Encoder().encode

type Write = Callable[[bytes], Awaitable[None]]


class Stdio:
    """One client. `write` sends bytes; it raises OSError when the client has closed its end.

    `prepare` is called once it is clear that the client stays: some start a server only to ask which versions it speaks.
    """

    def __init__(self, peer: Peer, write: Write, prepare: Callable[[], object] = lambda: None) -> None:
        self.peer = peer
        self.version = HANDSHAKE[0]
        self.log_level = ""
        self._write = write
        self._prepare: Callable[[], object] | None = prepare
        self._writing = asyncio.Lock()
        self._tasks: dict[Id, asyncio.Task[None]] = {}

    async def serve(self, lines: AsyncIterator[bytes]) -> None:
        """Until the client closes its end; what is not answered by then is cancelled."""
        try:
            async for line in lines:
                if line.strip():
                    await self._take(line)
        except OSError as error:
            log.info("the client has closed its end (%s)", error)
        finally:
            waiting = tuple(self._tasks.values())
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    async def send(self, message: msgspec.Struct) -> None:
        """Raises OSError. A line that has begun is written whole, whatever becomes of its request."""
        await asyncio.shield(self._send(_encode(message) + b"\n"))

    async def _send(self, line: bytes) -> None:
        async with self._writing:
            await self._write(line)

    async def _take(self, line: bytes) -> None:
        try:
            message = _message.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
            code = INVALID_REQUEST if isinstance(error, msgspec.ValidationError) else PARSE_ERROR
            what = f"this is no message of the protocol: {error}"
            await self.send(McpResponse(jsonrpc="2.0", error=ErrorBody(code=code, message=what)))
            return
        if message.method is UNSET:
            return  # we ask a client nothing
        if self._prepare is not None and message.method not in _GREETINGS:
            self._prepare()
            self._prepare = None
        if message.id is UNSET:
            self._noted(message)
            return
        call = Call(message, self.version, self.peer, _Notes(self), log_level=self.log_level)
        try:
            if message.id in self._tasks:
                raise RpcError(INVALID_REQUEST, "a request with this id is being answered; give each its own")
            if is_modern(message):
                call.version = MODERN
                check_modern(message)
        except RpcError as error:
            await self.send(failed(call, error))
            return
        if message.method in _SLOW:
            self._tasks[message.id] = asyncio.create_task(self._answer(call))
            self._tasks[message.id].add_done_callback(partial(self._answered, message.id))
            return
        await self._answer(call)
        self._agree(call)

    async def _answer(self, call: Call) -> None:
        response, _ = await answer(call)
        await self.send(response)

    def _answered(self, request_id: Id, task: asyncio.Task[None]) -> None:
        del self._tasks[request_id]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.info("the client has closed its end (%s)", error)

    def _agree(self, call: Call) -> None:
        """Keep what a connection agrees on once, in the versions that do."""
        if call.modern:
            return
        try:
            if call.message.method == "initialize":
                self.version = agreed(call.params(Initialize).protocol_version)
            elif call.message.method == "logging/setLevel" and (level := call.params(SetLevel).level) in LEVELS:
                self.log_level = level
        except RpcError:
            pass  # its answer said so

    def _noted(self, message: McpMessage) -> None:
        if message.method != "notifications/cancelled":
            return
        try:
            cancelled = params_of(message, Cancelled).request_id
        except RpcError:
            return  # the protocol wants a malformed cancellation to be passed over
        if cancelled is not UNSET and cancelled in self._tasks:
            self._tasks[cancelled].cancel()


class _Notes:
    """Notifications about one request, between all others."""

    def __init__(self, stdio: Stdio) -> None:
        self._stdio = stdio

    async def begin(self, run_id: str) -> None:
        pass

    async def notify(self, method: str, params: Object, number: int = 0) -> None:
        await self._stdio.send(McpNotification(jsonrpc="2.0", method=method, params=params))

    async def alive(self) -> None:
        pass
