"""POST /v1/search: the passages a question would be answered from, without an answer."""

import time
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from bus.messages import Passage
from bus.searching import Searcher
from prompts.vocabulary import Language
from runtime.edge import requests
from runtime.edge.answers import json_response
from runtime.edge.state import EDGE


class SearchAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`language` is the query's; left out, the index finds it from the words. `k`: hits after fusion of both searches."""

    query: Annotated[str, Meta(min_length=1, max_length=4000)]
    language: Language | None = None
    k: Annotated[int, Meta(ge=1, le=100)] = 10


class SearchAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Hits, best first; `snapshot` names the state of the index that gave them."""

    hits: tuple[Passage, ...]
    snapshot: str


_decoder = msgspec.json.Decoder(SearchAsked)


async def search(request: web.Request) -> web.Response:
    """POST /v1/search"""
    edge = request.app[EDGE]
    asked = requests.decode(await requests.json_body(request), _decoder, SearchAsked)
    requests.check_text("query", asked.query)
    searcher = Searcher(edge.runs.client, time.time() + edge.pace.search_s)
    found = await searcher(asked.query, language=asked.language or "", k=asked.k, bm25_k=asked.k, vector_k=asked.k)
    return json_response(SearchAnswer(hits=found.passages, snapshot=found.snapshot))


ROUTES = [web.post("/v1/search", search)]
