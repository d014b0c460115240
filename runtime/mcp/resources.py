"""The documents as resources: a page of their list, the text of one, and the template of their addresses."""

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from bus.powers.sources import LONGEST, NoSuchSource, NotServed
from runtime.mcp.peer import Context
from runtime.mcp.sources import PLAIN, TEMPLATE, list_of, source_in, source_uri, text_of
from runtime.terminal import one_line

#: The most stretches of a document that are read at a time, each under its own address.
MOST_STRETCHES = 10
_LONGEST_CURSOR = 4000
#: What clients with a handshake expect for a missing resource.
_RESOURCE_NOT_FOUND = -32002

SOURCE = ResourceTemplate(
    uri_template=TEMPLATE,
    name="source",
    title="A document",
    description="The text of a document by its id; with `start` and `end`, the characters between them.",
    mime_type=PLAIN,
)


async def templates(_: Context, __: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
    return ListResourceTemplatesResult(resource_templates=[SOURCE])


async def listed(context: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
    """A page of documents; the cursor is the last id of the page before. Raises MCPError, EXPECTED."""
    cursor = (params and params.cursor) or ""
    if len(cursor) > _LONGEST_CURSOR:
        raise MCPError(INVALID_PARAMS, "this cursor was not given by this server; begin without a cursor")
    page = await list_of(context.lifespan_context, cursor)
    resources = [
        Resource(uri=source_uri(each.source_id), name=each.source_id, title=one_line(each.title), mime_type=PLAIN)
        for each in page.items
    ]
    return ListResourcesResult(resources=resources, next_cursor=page.next or None)


async def read(context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
    """A document or a stretch of it; a long one in several contents, each with its own address. Raises MCPError, EXPECTED."""
    uri = str(params.uri)
    named = source_in(uri)
    if named is None:
        raise _no_resource(context, uri)
    source_id, first, last = named
    start, contents = first or 0, list[TextResourceContents]()
    while len(contents) < MOST_STRETCHES:
        end = start + LONGEST if last is None else min(last, start + LONGEST)
        try:
            part = await text_of(context.lifespan_context, source_id, start, end)
        except (NoSuchSource, NotServed):
            raise _no_resource(context, uri) from None
        whole = not contents and (part.end >= part.characters or part.end == last)
        address = uri if whole else source_uri(source_id, part.start, part.end)
        contents.append(TextResourceContents(uri=address, mime_type=PLAIN, text=part.text))
        start = part.end
        if start >= part.characters or (last is not None and start >= last) or part.end == part.start:
            break
    return ReadResourceResult(contents=list(contents))


def _no_resource(context: Context, uri: str) -> MCPError:
    code = _RESOURCE_NOT_FOUND if context.protocol_version == "2025-11-25" else INVALID_PARAMS
    return MCPError(code, f"there is no resource {uri[:300]}", {"uri": uri})
