"""The protocol's messages and objects that we read or write, in its own field names.

Newer versions only add fields, and every version lets an object have more of them than it knows; so one Struct serves all, and
`runtime.mcp.server` fills what only the newest knows.
"""

from typing import ClassVar, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

type Id = int | str


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


# ---------------------------------------------------------------- results


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


class Cacheable(McpResult, frozen=True, kw_only=True):
    """A result that a client may keep for a time; by `scope` for everybody, or for the same caller only."""

    ttl: ClassVar[int] = 60_000
    scope: ClassVar[Literal["public", "private"]] = "private"
    ttl_ms: int | UnsetType = UNSET
    cache_scope: Literal["public", "private"] | UnsetType = UNSET


class Nothing(Object, frozen=True, kw_only=True):
    """An empty object, which is how a capability is declared."""


class Capabilities(Object, frozen=True, kw_only=True):
    tools: Nothing = msgspec.field(default_factory=Nothing)
    resources: Nothing = msgspec.field(default_factory=Nothing)
    prompts: Nothing = msgspec.field(default_factory=Nothing)
    completions: Nothing = msgspec.field(default_factory=Nothing)
    logging: Nothing = msgspec.field(default_factory=Nothing)


class Initialized(McpResult, frozen=True, kw_only=True):
    protocol_version: str
    capabilities: Raw
    server_info: Implementation
    instructions: str


class Discovered(Cacheable, frozen=True, kw_only=True):
    scope: ClassVar[Literal["public", "private"]] = "public"
    supported_versions: tuple[str, ...]
    capabilities: Raw
    instructions: str


class ToolAnnotations(Object, frozen=True, kw_only=True):
    title: str
    read_only_hint: bool
    destructive_hint: bool | UnsetType = UNSET
    idempotent_hint: bool | UnsetType = UNSET
    open_world_hint: bool


class Tool(Object, frozen=True, kw_only=True):
    name: str
    title: str
    description: str
    input_schema: Raw
    output_schema: Raw
    annotations: ToolAnnotations


class Tools(Cacheable, frozen=True, kw_only=True):
    tools: tuple[Tool, ...]


class Text(Object, frozen=True, kw_only=True, tag="text"):
    text: str


class ResourceLink(Object, frozen=True, kw_only=True, tag="resource_link"):
    uri: str
    name: str
    title: str = ""
    mime_type: str = ""


class ToolCalled(McpResult, frozen=True, kw_only=True):
    content: tuple[Text | ResourceLink, ...]
    structured_content: msgspec.Struct | UnsetType = UNSET
    is_error: bool = False


class Resource(Object, frozen=True, kw_only=True):
    uri: str
    name: str
    title: str = ""
    description: str = ""
    mime_type: str = ""


class Resources(Cacheable, frozen=True, kw_only=True):
    resources: tuple[Resource, ...]
    next_cursor: str | UnsetType = UNSET


class ResourceTemplate(Object, frozen=True, kw_only=True):
    uri_template: str
    name: str
    title: str
    description: str
    mime_type: str


class ResourceTemplates(Cacheable, frozen=True, kw_only=True):
    scope: ClassVar[Literal["public", "private"]] = "public"
    resource_templates: tuple[ResourceTemplate, ...]


class TextContents(Object, frozen=True, kw_only=True):
    uri: str
    mime_type: str
    text: str


class ResourceRead(Cacheable, frozen=True, kw_only=True):
    contents: tuple[TextContents, ...]


class PromptArgument(Object, frozen=True, kw_only=True):
    name: str
    title: str
    description: str
    required: bool = False


class Prompt(Object, frozen=True, kw_only=True):
    name: str
    title: str
    description: str
    arguments: tuple[PromptArgument, ...]


class Prompts(Cacheable, frozen=True, kw_only=True):
    scope: ClassVar[Literal["public", "private"]] = "public"
    prompts: tuple[Prompt, ...]


class PromptMessage(Object, frozen=True, kw_only=True):
    role: Literal["user", "assistant"]
    content: Text


class PromptGot(McpResult, frozen=True, kw_only=True):
    description: str
    messages: tuple[PromptMessage, ...]


class Values(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    values: tuple[str, ...]
    has_more: bool


class Completed(McpResult, frozen=True, kw_only=True):
    completion: Values


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
