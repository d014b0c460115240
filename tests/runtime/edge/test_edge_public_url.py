"""An edge behind a proxy: the addresses it gives to other protocols' clients begin where those reach it."""

import re
from collections.abc import AsyncIterator

import aiohttp
import pytest

from runtime.settings import EdgeSettings
from tests.runtime.edge.citing import cite
from tests.runtime.edge.conftest import Bus, Pipeline
from tests.runtime.served import edge_of

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
