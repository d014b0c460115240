"""What of a document's text the caller may read, for the tool and the resources alike."""

from bus.powers.sources import LONGEST, ListAsked, SourceList, SourceText, TextAsked, ask_sources
from runtime.edge.door import check_scope
from runtime.mcp.calls import Call

#: How many sources a page of their list names.
PAGE = 100


async def text_of(call: Call, source_id: str, start: int = 0, end: int | None = None) -> SourceText:
    """A stretch of a document's text, at most LONGEST characters. Raises Problem 403, NoSuchSource, NotServed, Unavailable."""
    check_scope(call.peer.caller, "search")
    edge = await call.peer.edge()
    asked = TextAsked(source_id=source_id, start=start, end=start + LONGEST if end is None else end, groups=call.groups)
    return await ask_sources(edge.runs.client, asked, SourceText, timeout_s=edge.timeouts.search_s)


async def list_of(call: Call, after: str, most: int = PAGE) -> SourceList:
    """The documents whose ids follow `after`. Raises Problem 403, Unavailable."""
    check_scope(call.peer.caller, "search")
    edge = await call.peer.edge()
    asked = ListAsked(after=after, most=most, groups=call.groups)
    return await ask_sources(edge.runs.client, asked, SourceList, timeout_s=edge.timeouts.search_s)
