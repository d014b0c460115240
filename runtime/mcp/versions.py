"""The versions of the protocol that are spoken, and what each request must say of its own.

Until 2025-11-25 a client and a server agree on a version once, in a handshake. Since 2026-07-28 each request says its version,
who asks and what they can, and over HTTP repeats in headers what those between may want to read. Both are spoken, each request
by its own.
"""

import base64
import binascii
from collections.abc import Mapping

import msgspec
from msgspec import UNSET

from runtime.mcp.schemas import CallTool, McpMessage, Object, Params, ReadResource, UnsupportedVersion

#: Without a handshake.
MODERN = "2026-07-28"
#: With a handshake, newest first.
HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
#: What an HTTP client speaks that does not say it.
UNSAID = "2025-03-26"

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
#: Of the versions with a handshake only.
RESOURCE_NOT_FOUND = -32002
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022

VERSION_HEADER, METHOD_HEADER, NAME_HEADER = "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"

_STATUSES = {METHOD_NOT_FOUND: 404, INTERNAL: 500}


class RpcError(Exception):
    """An error response. `status` is its HTTP status, if it has one of its own."""

    def __init__(self, code: int, message: str, data: Object | None = None, status: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data
        self.status = status

    def http_status(self, version: str) -> int:
        """A client with a handshake takes every response but 200 for a broken connection."""
        return self.status or (_STATUSES.get(self.code, 400) if version == MODERN else 200)


def params_of[T: Params](message: McpMessage, kind: type[T]) -> T:
    """Raises RpcError."""
    try:
        return msgspec.json.decode(b"{}" if message.params is UNSET else message.params, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise RpcError(INVALID_PARAMS, f"params: {error}") from None


def is_modern(message: McpMessage, header: str | None = None) -> bool:
    """Whether a request is of a version without a handshake, by what it says or by its method."""
    if header is not None and header not in HANDSHAKE:
        return True
    return message.method == "server/discover" or _said(message) is not UNSET


def check_modern(message: McpMessage, headers: Mapping[str, str] | None = None) -> None:
    """What a request without a handshake must say; over HTTP its `headers` too. Raises RpcError."""
    said = params_of(message, Params).meta
    for key, there in (("protocolVersion", said.version), ("clientCapabilities", said.capabilities)):
        if there is UNSET:
            name = f"io.modelcontextprotocol/{key}"
            raise RpcError(INVALID_PARAMS, f"params._meta has no {name}; send it with each request", status=400)
    assert isinstance(said.version, str)
    if headers is not None:
        _check_header(VERSION_HEADER, headers.get(VERSION_HEADER), said.version)
        _check_header(METHOD_HEADER, headers.get(METHOD_HEADER), str(message.method))
        if (named := _name_in(message)) is not None:
            _check_header(NAME_HEADER, _decoded(headers.get(NAME_HEADER)), named)
    if said.version != MODERN:
        raise unsupported(said.version)


def unsupported(version: str) -> RpcError:
    data = UnsupportedVersion(supported=(MODERN,), requested=version)
    return RpcError(UNSUPPORTED_VERSION, f"version {version[:40]} is not spoken here", data, status=400)


def agreed(wanted: str) -> str:
    """The version of a handshake: what the client wants, or the newest for it to take or leave."""
    return wanted if wanted in HANDSHAKE else HANDSHAKE[0]


def at_least(version: str, since: str) -> bool:
    """Versions are dates, and are in order as their names are."""
    return version >= since


def _said(message: McpMessage) -> object:
    try:
        return params_of(message, Params).meta.version
    except RpcError:
        return UNSET


def _name_in(message: McpMessage) -> str | None:
    if message.method == "tools/call":
        return params_of(message, CallTool).name
    if message.method == "resources/read":
        return params_of(message, ReadResource).uri
    if message.method == "prompts/get":
        return params_of(message, _Named).name
    return None


class _Named(Params, frozen=True, kw_only=True):
    name: str


def _check_header(name: str, header: str | None, said: str) -> None:
    if header is None:
        raise RpcError(HEADER_MISMATCH, f"the header {name} is missing; send it with each request", status=400)
    if header != said:
        raise RpcError(HEADER_MISMATCH, f"the header {name} says something else than the message", status=400)


def _decoded(value: str | None) -> str | None:
    """A header's value, which may be base64 of UTF-8; as it stands if it only looks so."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return value
