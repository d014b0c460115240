"""Health, metrics, search, the two API documents, protocols as plug-ins, and an edge behind a proxy."""

import importlib
import json
import pkgutil
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, cast

import aiohttp
import pytest
from aiohttp import web

import runtime.edge.app
from bus.powers.searching import SearchReply
from bus.powers.served_index import ServedIndex, SkippedFile, answer_served_index
from bus.runs.runs import Runs
from bus.transport.connection import connect
from bus.transport.health import answer_health
from bus.wire.errors import Unavailable
from bus.wire.messages import CATALOGUE
from index.plugins import installed
from runtime import edge, mcp
from runtime.edge.app import make_app
from runtime.edge.asyncapi import asyncapi_document
from runtime.edge.openapi import openapi_document
from runtime.edge.routes import Reply, Route
from runtime.edge.state import Edge
from runtime.settings import EdgeSettings
from tests.bus.wires import search_process
from tests.message_samples import passage
from tests.polling import until
from tests.runtime.edge.citing import cite
from tests.runtime.edge.conftest import Bus, Pipeline
from tests.runtime.served import ROUTES, declared_routes, edge_of


async def test_readyz_names_missing_parts(http: aiohttp.ClientSession, bus: Bus) -> None:
    async with http.get("/readyz") as response:
        found = await response.json()
        assert response.status == 503
        assert response.headers["Retry-After"] == "2"
    assert found["checks"]["nats"]["ready"]
    assert found["checks"]["streams"]["ready"]
    assert found["checks"]["search"] == {"ready": False, "detail": "no search process answers", "problem": ""}
    for role in ("search", "inference", "actors"):
        await answer_health(bus.client, role, lambda: {"ready": True, "detail": "here"})
    await bus.client.flush()

    async def ready() -> bool:
        async with http.get("/readyz") as response:
            found = await response.json()
            assert (response.status == 200) == found["ready"]
            return response.status == 200

    await until(ready, within_s=30.0, what="an edge whose own question was answered")


async def test_search_returns_the_hits_unchanged(http: aiohttp.ClientSession, bus: Bus) -> None:
    hit = passage("refunds", "환불은 7일 이내", title="환불 규정", language="ko", snapshot="s1")
    reply, body = SearchReply(passages=(hit,), snapshot="s1"), {"query": "환불", "k": 3}
    async with search_process(bus.client, reply) as asked, http.post("/v1/search", json=body) as response:
        found = await response.json()
    assert (asked[0].query, asked[0].language, asked[0].k) == ("환불", "", 3)
    assert found["snapshot"] == "s1"
    assert found["hits"][0] == {
        "source_id": "refunds",
        "title": "환불 규정",
        "url": "https://example.org/refunds",
        "score": 0.75,
        "score_type": "fused",
        "text": "환불은 7일 이내",
        "char_start": 100,
        "char_end": 109,
        "language": "ko",
        "snapshot": "s1",
        "page": 2,
        "headings": [],
        "blocks": [],
        "intros": [],
        "about": {},
        "coverage": None,
        "cosine": None,
        "rerank_score": None,
    }


async def test_search_without_a_search_process_is_503(http: aiohttp.ClientSession) -> None:
    async with http.post("/v1/search", json={"query": "환불"}) as response:
        problem = await response.json(content_type="application/problem+json")
        assert (response.status, response.headers["Retry-After"]) == (503, "2")
        assert "no search process answers" in problem["detail"]


async def test_served_index_lists_unread_files(http: aiohttp.ClientSession, bus: Bus) -> None:
    async with http.get("/v1/index") as response:
        problem = await response.json(content_type="application/problem+json")
        assert response.status == 503
        assert "no search process answers" in problem["detail"]

    async def served() -> ServedIndex:
        return ServedIndex(
            snapshot="s000001-5e4006ae",
            served_since="2026-11-22T04:00:00.000+00:00",
            created="2026-11-22T03:59:58+00:00",
            documents=3,
            passages=12,
            languages={"ko": 12},
            formats={"Markdown": 3},
            embedder="pieces 1",
            read_at="2026-11-22T03:59:58+00:00",
            skipped=(SkippedFile(name="scan.pdf", reason="no text in it", failed=True),),
            skipped_count=1,
            failed_count=1,
        )

    searching = await connect(bus.settings, name="index")
    await answer_served_index(searching, served)
    await searching.flush()
    async with http.get("/v1/index") as response:
        found = await response.json()
    await searching.close()
    assert (response.status, found["snapshot"], found["formats"]) == (200, "s000001-5e4006ae", {"Markdown": 3})
    assert found["skipped"] == [{"name": "scan.pdf", "reason": "no text in it", "failed": True}]


async def test_metrics_count_questions_and_requests(http: aiohttp.ClientSession) -> None:
    async with http.post("/v1/runs", json={"question": "환불은 며칠"}) as response:
        await response.read()
    async with http.get("/metrics") as response:
        text = await response.text()
    assert 'groundwire_edge_questions_total{profile="general",transport="sse"}' in text
    assert 'groundwire_edge_requests_total{method="POST",route="/v1/runs",status="200"}' in text
    assert "groundwire_edge_first_event_seconds_bucket" in text


@pytest.mark.parametrize("path", ["/openapi.json", "/asyncapi.json"])
async def test_the_documents_are_served(http: aiohttp.ClientSession, path: str) -> None:
    async with http.get(path) as response:
        assert (response.status, response.content_type) == (200, "application/json")
        document = await response.json()
    for ref in _refs(document):
        found: Any = document
        for step in ref.removeprefix("#/").split("/"):
            found = found[step]


def _refs(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "$ref":
                yield inner
            else:
                yield from _refs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _refs(inner)


def test_router_has_exactly_the_declared_routes() -> None:
    router = make_app(Edge(EdgeSettings(), cast("Runs", None))).router
    served = {(each.method, each.resource.canonical) for each in router.routes() if each.resource}
    assert {route for route in served if route[0] != "HEAD"} == {(each.method, each.path) for each in ROUTES}


def test_every_module_with_routes_is_served() -> None:
    folders = {"runtime.edge.": edge.__path__, "runtime.mcp.": mcp.__path__}
    names = [each.name for prefix, path in folders.items() for each in pkgutil.walk_packages(path, prefix)]
    modules = [importlib.import_module(name) for name in names]
    declared = {each.path for module in modules for each in vars(module).values() if isinstance(each, Route)}
    assert declared == {each.path for each in ROUTES}


def test_every_documented_struct_belongs_to_a_route() -> None:
    document = openapi_document(ROUTES)
    assert set(document["paths"]) == {each.path for each in ROUTES}
    reached, waiting = set(), list(_refs(document["paths"]))
    while waiting:
        if (ref := waiting.pop()) not in reached:
            reached.add(ref)
            waiting += _refs(document["components"]["schemas"][ref.rpartition("/")[2]])
    assert reached == {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}


def test_route_without_a_summary_is_refused() -> None:
    async def silent(request: web.Request) -> web.Response:
        return web.Response()

    with pytest.raises(ValueError, match="give its handler a docstring"):
        Route("GET", "/silent", {204: Reply("Nothing.")})(silent)


def test_every_message_is_in_the_bus_document() -> None:
    document = asyncapi_document()
    assert {message.__name__ for message in CATALOGUE} <= set(document["components"]["messages"])
    assert document["channels"]["question_asked"]["address"] == "gw.question_asked.{run_id}"
    assert document["channels"]["passages_judged"]["address"] == "gw.passages_judged.{run_id}.{lane}"
    json.dumps(document)


async def test_installed_protocol_is_served(
    bus: Bus, pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = tmp_path / "plain-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: plain\nVersion: 1.0\n")
    entry_points = "[groundwire.protocols]\nplain = tests.examples.plain_protocol:routes\n"
    (metadata / "entry_points.txt").write_text(entry_points)
    monkeypatch.syspath_prepend(tmp_path)
    installed.cache_clear()
    async with edge_of(bus.settings, tmp_path) as address, aiohttp.ClientSession(address) as http:
        async with http.post("/plain", json={"question": "How long?"}) as response:
            events = (await response.text()).removesuffix("\n\n").split("\n\n")
        assert "".join(json.loads(event.removeprefix("data: ")) for event in events) == "How long? [1]"
        async with http.get("/openapi.json") as described:
            assert "/plain" in (await described.json())["paths"]
    installed.cache_clear()


def test_missing_metadata_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime.edge.app, "installed", lambda group: {})
    with pytest.raises(Unavailable, match="no protocol is installed; run `uv sync"):
        declared_routes()


PUBLIC = "https://docs.example.org"
ASK = {"name": "ask", "arguments": {"question": "cite when?"}}


@pytest.fixture(scope="module")
async def proxied(bus: Bus, pipeline: Pipeline, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    settings = EdgeSettings(port=0, canary_s=0, public_url=PUBLIC)
    async with edge_of(bus.settings, tmp_path_factory.mktemp("state"), edge=settings) as url:
        yield url


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"model": "general", "messages": [{"role": "user", "content": "cite when?"}]}),
        ("/v1/responses", {"model": "general", "input": "cite when?"}),
        ("/api/chat", {"id": "c", "messages": [{"role": "user", "parts": [{"type": "text", "text": "cite when?"}]}]}),
        ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ASK}),
    ],
)
async def test_sources_open_at_the_public_address(
    proxied: str, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch, path: str, body: dict[str, object]
) -> None:
    monkeypatch.setitem(pipeline.scripts, "cite", cite)
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    async with aiohttp.ClientSession(proxied) as http, http.post(path, json=body, headers=headers) as response:
        told = await response.text()
    assert response.status == 200, told
    found = set(re.findall(r'"([^" ]*)/sources/shop/opening\.md', told))
    assert found == {PUBLIC}
