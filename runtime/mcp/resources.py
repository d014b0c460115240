"""Sources as resources: a page of them, one read, their addresses as a template, and the ids that fit what was typed."""

from itertools import takewhile

from msgspec import UNSET

from bus.powers.sources import LONGEST, NoSuchSource, NotServed
from runtime.mcp.calls import Call
from runtime.mcp.results import (
    Completed,
    Resource,
    ResourceRead,
    Resources,
    ResourceTemplate,
    ResourceTemplates,
    TextContents,
    Values,
)
from runtime.mcp.schemas import Complete, ListPage, McpResult, NoResource, ReadResource
from runtime.mcp.source_uris import TEMPLATE, source_in, source_uri
from runtime.mcp.sources import PAGE, list_of, text_of
from runtime.mcp.versions import INVALID_PARAMS, RESOURCE_NOT_FOUND, RpcError
from runtime.terminal import one_line

#: What the text of a document is, whatever its file is.
PLAIN = "text/plain"
#: The most of a document that is read at a time, in stretches of their own addresses.
MOST_STRETCHES = 10
_LONGEST_CURSOR = 4000

SOURCE = ResourceTemplate(
    uri_template=TEMPLATE,
    name="source",
    title="A document",
    description="The text of a document by its id; with `start` and `end`, the characters between them.",
    mime_type=PLAIN,
)


async def templates(_: Call) -> McpResult:
    return ResourceTemplates(resource_templates=(SOURCE,))


async def listed(call: Call) -> McpResult:
    """The cursor is the id that the page goes on behind. Raises RpcError, EXPECTED."""
    cursor = call.params(ListPage).cursor
    if len(cursor) > _LONGEST_CURSOR:
        raise RpcError(INVALID_PARAMS, "this cursor is none that was given; begin without one")
    found = await list_of(call, cursor)
    resources = (
        Resource(uri=source_uri(each.source_id), name=each.source_id, title=one_line(each.title), mime_type=PLAIN)
        for each in found.items
    )
    return Resources(resources=tuple(resources), next_cursor=found.next or UNSET)


async def read(call: Call) -> McpResult:
    """A document, or a stretch of it; a long one in several contents, each with its own address. Raises RpcError, EXPECTED."""
    uri = call.params(ReadResource).uri
    named = source_in(uri)
    if named is None:
        raise _no_resource(call, uri)
    source_id, first, last = named
    start, contents = first or 0, list[TextContents]()
    while len(contents) < MOST_STRETCHES:
        end = start + LONGEST if last is None else min(last, start + LONGEST)
        try:
            found = await text_of(call, source_id, start, end)
        except (NoSuchSource, NotServed):
            raise _no_resource(call, uri) from None
        whole = not contents and (found.end >= found.characters or found.end == last)
        place = uri if whole else source_uri(source_id, found.start, found.end)
        contents.append(TextContents(uri=place, mime_type=PLAIN, text=found.text))
        start = found.end
        if start >= found.characters or (last is not None and start >= last) or found.end == found.start:
            break
    return ResourceRead(contents=tuple(contents))


async def completed(call: Call, asked: Complete) -> McpResult:
    """The ids that begin as what was typed. Raises EXPECTED."""
    typed = asked.argument.value
    if asked.argument.name != "id" or len(typed) > _LONGEST_CURSOR:
        return Completed(completion=Values(values=(), has_more=False))
    found = await list_of(call, typed, PAGE + 1)
    ids = tuple(takewhile(lambda each: each.startswith(typed), (each.source_id for each in found.items)))
    return Completed(completion=Values(values=ids[:PAGE], has_more=len(ids) > PAGE))


def _no_resource(call: Call, uri: str) -> RpcError:
    code = INVALID_PARAMS if call.modern else RESOURCE_NOT_FOUND
    return RpcError(code, f"there is no resource {uri[:300]}", NoResource(uri=uri))
