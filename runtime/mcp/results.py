"""The results of the protocol's methods, in its own field names."""

from typing import ClassVar, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from runtime.mcp.schemas import Implementation, McpResult, Object


class Cacheable(McpResult, frozen=True, kw_only=True):
    """A result that a client may keep for a time; by `scope` for everybody, or for the same caller only."""

    ttl: ClassVar[int] = 60_000
    scope: ClassVar[Literal["public", "private"]] = "private"
    ttl_ms: int | UnsetType = UNSET
    cache_scope: Literal["public", "private"] | UnsetType = UNSET


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
