"""/v1/check, the tool `check` and the command over a real index: verdicts, limits, and what a key's groups hide."""

import asyncio
import json
from typing import Any

import aiohttp
import pytest
from click.testing import CliRunner
from groundwire.client import Client, Context, ContextMetadata

from runtime.cli import groundwire
from runtime.edge.check import LONGEST_TEXT, MOST_SENTENCES
from runtime.mcp.server import HANDSHAKE
from tests.runtime.sources.conftest import World

TRUE, FALSE = "The first record tells of the lighthouse.", "The first record tells of no lighthouse."
SECRET = "The merger closes in Zanzibar in May."


async def post(http: aiohttp.ClientSession, body: dict[str, Any], headers: dict[str, str] | None = None) -> Any:
    async with http.post("/v1/check", json=body, headers=headers or {}) as response:
        return response.status, await response.json(content_type=None)


async def test_text_is_checked_in_order(http: aiohttp.ClientSession) -> None:
    text = f"# Records\n\nHello! {TRUE} [1] {FALSE}\n\nPenguins huddle together during blizzards.\n"
    status, report = await post(http, {"text": text})
    assert status == 200
    verdicts = [sentence["verdict"] for sentence in report["sentences"]]
    assert verdicts == ["no_claim", "no_claim", "verified", "contradicted", "not_covered"]
    assert report["counts"]["contradicted"] == 1
    true = report["sentences"][2]
    assert text[true["start"] : true["end"]] == TRUE
    assert true["spans"][0]["source_id"] == "../records/one"
    assert report["snapshot"]


async def test_contexts(http: aiohttp.ClientSession) -> None:
    context = {"content": "Pears cost 3 euros a kilo.", "metadata": {"source_id": "prices"}}
    text = "Pears cost 3 euros a kilo. Pears cost 5 euros a kilo."
    _, report = await post(http, {"text": text, "contexts": [context]})
    assert [sentence["verdict"] for sentence in report["sentences"]] == ["verified", "contradicted"]
    assert report["sentences"][1]["spans"][0]["against"] == "3"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "is missing"),
        ({"text": " "}, "it is empty; give a text"),
        ({"text": "x" * (LONGEST_TEXT + 1)}, ""),
        ({"text": "The cat sat. " * (MOST_SENTENCES + 1)}, "send at most"),
        ({"text": "---"}, "it cannot be read"),
    ],
)
async def test_limits(http: aiohttp.ClientSession, body: dict[str, Any], says: str) -> None:
    found, problem = await post(http, body)
    assert (found, problem["field"]) == (413 if "at most" in says else 422, "text")
    assert says in problem["detail"]


async def test_hidden_documents_verify_nothing(locked: aiohttp.ClientSession, world: World) -> None:
    reports = [await post(locked, {"text": SECRET}, world.bearer(name)) for name in ("ann", "bob")]
    assert [report["sentences"][0]["verdict"] for _, report in reports] == ["verified", "not_covered"]
    assert "board" not in json.dumps(reports[1][1])
    assert (await post(locked, {"text": SECRET}, world.bearer("asker")))[0] == 403


async def test_tool_checks_as_the_route(world: World) -> None:
    call = {"name": "check", "arguments": {"text": f"{SECRET} {FALSE}"}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    for name, verdict in (("ann", "verified"), ("bob", "not_covered")):
        headers = world.bearer(name) | {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": HANDSHAKE,
        }
        async with (
            aiohttp.ClientSession(world.locked) as http,
            http.post("/mcp", json=request, headers=headers) as response,
        ):
            text = await response.text()
        result = json.loads(text[text.index("{") : text.rindex("}") + 1])["result"]
        verdicts = [sentence["verdict"] for sentence in result["structuredContent"]["sentences"]]
        assert verdicts == [verdict, "contradicted"]
        assert f"contradicted: {FALSE}" in result["content"][0]["text"]


async def test_client_checks(world: World) -> None:
    async with Client(world.open, patience_s=5.0) as client:
        checked = await client.check(f"{TRUE} {FALSE}")
        contexts = [Context(content="No pears are sold.", metadata=ContextMetadata(source_id="shop"))]
        given = await client.check("No pears are sold.", contexts=contexts)
    assert [sentence.verdict for sentence in checked.sentences] == ["verified", "contradicted"]
    assert given.sentences[0].spans[0].source_id == "shop"


@pytest.mark.parametrize("over", ["server", "index"])
async def test_command_checks(world: World, over: str) -> None:
    place = ["--url", world.open] if over == "server" else ["--index", world.settings.index.dir]
    arguments = ["check", "-", "--json", *place]
    text = f"{TRUE}\n\n{FALSE}\n"
    result = await asyncio.to_thread(CliRunner().invoke, groundwire, arguments, text, standalone_mode=False)
    assert result.return_value == 3, result.output
    report = json.loads(result.stdout)
    assert [sentence["verdict"] for sentence in report["sentences"]] == ["verified", "contradicted"]
    assert report["sentences"][1]["start"] == len(TRUE) + 2
