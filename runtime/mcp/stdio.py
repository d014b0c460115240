"""The protocol over two byte streams, a message a line: how a program on the same machine speaks to `groundwire mcp`."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCRequest, JSONRPCResponse, jsonrpc_message_adapter

from runtime.mcp.server import HANDSHAKE, SERVER
from runtime.mcp.tools import Peer

log = logging.getLogger("groundwire.mcp")

#: The longest line, in bytes: more than any question with its history.
LONGEST_LINE = 4 * 1024 * 1024
#: Requests of a client that may only look which versions this server speaks.
_GREETINGS = frozenset(("server/discover", "initialize", "ping"))


async def serve(
    peer: Peer, lines: AsyncIterator[bytes], write: Callable[[bytes], Awaitable[None]], prepare: Callable[[], object]
) -> None:
    """Serve one client until it closes its end; requests that have no answer by then are cancelled.

    `write` raises OSError when the client has closed its end. `prepare` is called with each message that is no greeting.
    """
    to_server, received = anyio.create_memory_object_stream[SessionMessage | Exception]()
    to_client, answers = anyio.create_memory_object_stream[SessionMessage]()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read, lines, to_server, to_client.clone(), prepare)
            tasks.start_soon(_write, answers, write)
            await serve_dual_era_loop(SERVER, received, to_client, lifespan_state=peer)
    except* OSError as error:
        log.info("the client has closed its end (%s)", error.exceptions[0])


async def _read(
    lines: AsyncIterator[bytes],
    to_server: MemoryObjectSendStream[SessionMessage | Exception],
    to_client: MemoryObjectSendStream[SessionMessage],
    prepare: Callable[[], object],
) -> None:
    async with to_server, to_client:
        async for line in lines:
            if not line.strip():
                continue
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                error = ErrorData(code=PARSE_ERROR, message="this line is no message of the protocol")
                await to_client.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=error)))
                continue
            if isinstance(message, JSONRPCRequest) and message.method == "initialize":
                message = message.model_copy(update={"params": (message.params or {}) | {"protocolVersion": HANDSHAKE}})
            if not isinstance(message, JSONRPCResponse | JSONRPCError) and message.method not in _GREETINGS:
                prepare()
            await to_server.send(SessionMessage(message))


async def _write(answers: MemoryObjectReceiveStream[SessionMessage], write: Callable[[bytes], Awaitable[None]]) -> None:
    async with answers:
        async for each in answers:
            await write(each.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
