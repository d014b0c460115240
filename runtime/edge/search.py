"""/v1/search: the passages that a question would be answered from, without answering it."""

import time
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from bus.journal.access import Groups
from bus.powers.searching import SearchClient, SearchRequest
from bus.powers.served_index import Held, ServedIndex, held_for, served_index
from bus.wire.parts import Passage
from bus.wire.requests import check_text
from index.filters import Filter, words_of
from index.masking import masked
from prompts.vocabulary import Language
from runtime.edge.door import CALLER
from runtime.edge.routes import Reply, Route, json_response
from runtime.edge.state import EDGE, Edge


class SearchAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A search. `language` is the query's, detected if omitted; `k` is the number of hits after fusing both searches."""

    query: Annotated[str, Meta(min_length=1, max_length=4000)]
    language: Language | None = None
    k: Annotated[int, Meta(ge=1, le=100)] = 10
    filter: Filter | None = None


class SearchAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Hits, best first; `snapshot` names the index snapshot they come from. `detail`: why there can be none."""

    hits: tuple[Passage, ...]
    snapshot: str
    detail: str = ""


@Route("POST", "/v1/search", {200: Reply("The hits, best first.", SearchAnswer)}, "search")
async def search(request: web.Request, body: SearchAsked) -> web.Response:
    """Search for passages."""
    return json_response(await searched(request.app[EDGE], request[CALLER].groups, body))


async def searched(edge: Edge, groups: Groups, body: SearchAsked) -> SearchAnswer:
    """What those of `groups` find. Raises Problem, Unavailable."""
    check_text("query", body.query)
    client = SearchClient(edge.runs.client, time.time() + edge.timeouts.search_s)
    reply, _ = await client(
        SearchRequest(
            query=body.query, language=body.language or "", k=body.k, filter=body.filter, groups=groups, as_list=True
        )
    )
    detail = f"no document passes the filter ({words_of(body.filter)})" if body.filter and reply.none_passes else ""
    return SearchAnswer(hits=reply.passages, snapshot=reply.snapshot, detail=detail)


@Route("GET", "/v1/index", {200: Reply("The index.", ServedIndex)}, "admin")
async def index(request: web.Request) -> web.Response:
    """Say which index is served, since when, and which files could not be read."""
    edge = request.app[EDGE]
    return json_response(await served_index(edge.runs.client, timeout_s=edge.timeouts.search_s))


@Route("GET", "/v1/examples", {200: Reply("What can be asked.", Held)}, "ask")
async def examples(request: web.Request) -> web.Response:
    """Say what the caller's questions are answered from, with questions that the documents ask themselves."""
    edge = request.app[EDGE]
    examples = await held_for(edge.runs.client, request[CALLER].groups, timeout_s=edge.timeouts.search_s)
    return json_response(masked(examples))
