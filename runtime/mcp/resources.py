"""Sources as resources: a page of them, one read, their addresses as a template, and the ids that fit what was typed."""

from runtime.mcp.calls import Call
from runtime.mcp.schemas import (
    Complete,
    Completed,
    McpResult,
    NoResource,
    ReadResource,
    Resources,
    ResourceTemplate,
    ResourceTemplates,
    Values,
)
from runtime.mcp.source_uris import TEMPLATE
from runtime.mcp.versions import INVALID_PARAMS, RESOURCE_NOT_FOUND, RpcError

SOURCE = ResourceTemplate(
    uri_template=TEMPLATE,
    name="source",
    title="A document",
    description="The text of a document by its id; with `start` and `end`, the characters between them.",
    mime_type="text/plain",
)


async def templates(_: Call) -> McpResult:
    return ResourceTemplates(resource_templates=(SOURCE,))


async def listed(call: Call) -> McpResult:
    return Resources(resources=())


async def read(call: Call) -> McpResult:
    """Raises RpcError."""
    uri = call.params(ReadResource).uri
    raise no_resource(call, uri)


def no_resource(call: Call, uri: str) -> RpcError:
    code = INVALID_PARAMS if call.modern else RESOURCE_NOT_FOUND
    return RpcError(code, f"there is no resource {uri[:300]}", NoResource(uri=uri))


async def completed(call: Call, asked: Complete) -> McpResult:
    return Completed(completion=Values(values=(), total=0, has_more=False))
