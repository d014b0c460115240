"""The protocol's messages and objects that we read or write, in its own field names.

Newer versions only add fields, and every version lets an object have more of them than it knows; so one Struct serves all, and
`runtime.mcp.server` fills what only the newest knows.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

#: Each event of a stream says it again.
type Id = int | Annotated[str, Meta(max_length=256)]


class Object(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Base of all objects."""


# ---------------------------------------------------------------- JSON-RPC


class McpMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A client's message: a request has a method and an id, a notification no id, a response no method."""

    jsonrpc: Literal["2.0"]
    method: str | UnsetType = UNSET
    id: Id | UnsetType = UNSET
    params: Raw | UnsetType = UNSET


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    code: int
    message: str
    data: Object | UnsetType = UNSET


class McpResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A result or an error; without an id when the request's could not be read."""

    jsonrpc: Literal["2.0"]
    id: Id | UnsetType = UNSET
    result: "McpResult | UnsetType" = UNSET
    error: ErrorBody | UnsetType = UNSET


class McpNotification(msgspec.Struct, frozen=True, kw_only=True):
    jsonrpc: Literal["2.0"]
    method: str
    params: Object


# ---------------------------------------------------------------- requests


class RequestMeta(
    Object,
    frozen=True,
    kw_only=True,
    rename={
        "progress_token": "progressToken",
        "version": "io.modelcontextprotocol/protocolVersion",
        "capabilities": "io.modelcontextprotocol/clientCapabilities",
        "log_level": "io.modelcontextprotocol/logLevel",
    },
):
    """What a request says of itself; the newest version carries in it what the older ones agreed on once."""

    progress_token: Id | UnsetType = UNSET
    version: str | UnsetType = UNSET
    capabilities: dict[str, Raw] | UnsetType = UNSET
    log_level: str | UnsetType = UNSET


class Params(Object, frozen=True, kw_only=True):
    meta: RequestMeta = msgspec.field(name="_meta", default=RequestMeta())


class Initialize(Params, frozen=True, kw_only=True):
    protocol_version: str


class Cancelled(Params, frozen=True, kw_only=True):
    request_id: Id | UnsetType = UNSET
    reason: str = ""


class SetLevel(Params, frozen=True, kw_only=True):
    level: str


class CallTool(Params, frozen=True, kw_only=True):
    name: str
    arguments: Raw = Raw(b"{}")


class ListPage(Params, frozen=True, kw_only=True):
    cursor: str = ""


class ReadResource(Params, frozen=True, kw_only=True):
    uri: str


class GetPrompt(Params, frozen=True, kw_only=True):
    name: str
    arguments: dict[str, str] = {}


class CompletionRef(Object, frozen=True, kw_only=True):
    type: Literal["ref/prompt", "ref/resource"]
    name: str = ""
    uri: str = ""


class CompletionArgument(Object, frozen=True, kw_only=True):
    name: str
    value: str


class Complete(Params, frozen=True, kw_only=True):
    ref: CompletionRef
    argument: CompletionArgument


# ---------------------------------------------------------------- the base of results


class Implementation(Object, frozen=True, kw_only=True):
    name: str
    title: str
    version: str


class ResultMeta(
    Object,
    frozen=True,
    kw_only=True,
    rename={"server": "io.modelcontextprotocol/serverInfo", "subscription": "io.modelcontextprotocol/subscriptionId"},
):
    server: Implementation | UnsetType = UNSET
    subscription: Id | UnsetType = UNSET


class McpResult(Object, frozen=True, kw_only=True):
    """`result_type` and `meta` are for the newest version."""

    result_type: str | UnsetType = UNSET
    meta: ResultMeta | UnsetType = msgspec.field(name="_meta", default=UNSET)


class Nothing(Object, frozen=True, kw_only=True):
    """An empty object."""


# ---------------------------------------------------------------- notifications


class ProgressMeta(Object, frozen=True, kw_only=True, rename={"event": "groundwire/event"}):
    """What happened, for programs: an event of the run."""

    event: msgspec.Struct


class Progress(Object, frozen=True, kw_only=True):
    """`message` is for people."""

    progress_token: Id
    progress: int
    message: str
    meta: ProgressMeta = msgspec.field(name="_meta")


class LogMessage(Object, frozen=True, kw_only=True):
    level: str
    logger: str
    data: msgspec.Struct


class Acknowledged(Object, frozen=True, kw_only=True):
    """Which notifications a subscription will get."""

    meta: ResultMeta = msgspec.field(name="_meta")
    notifications: Nothing


# ---------------------------------------------------------------- what is said of errors


class UnsupportedVersion(Object, frozen=True, kw_only=True):
    supported: tuple[str, ...]
    requested: str


class NoResource(Object, frozen=True, kw_only=True):
    uri: str


class ProblemData(Object, frozen=True, kw_only=True):
    """The code that the rest of our HTTP gives for the same problem."""

    code: str
