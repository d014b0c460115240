"""The protocol's messages, as JSON-RPC has them; the SDK checks what each method takes and gives, hence Any."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

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
