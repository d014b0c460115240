"""OpenAI's client for Node at /v1/responses."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest

from tests.clients.installed import node_in, output_of
from tests.polling import until
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.response_kinds import CITED_TEXT, KINDS

type Client = Callable[[str], Awaitable[Any]]


@pytest.fixture
def client(edge: str, pipeline: Pipeline) -> Client:
    """What the client's script says."""
    pipeline.scripts |= KINDS
    node, folder = node_in("openai-node")

    async def run(what: str) -> Any:
        return json.loads(await output_of(node, folder / "responses.mjs", f"{edge}/v1", what))

    return run


async def test_ask(client: Client) -> None:
    assert await client("ask") == {
        "first": CITED_TEXT,
        "second": "The documents do not say.",
        "items": ["refuse"],
        "gone": 404,
    }


async def test_stream(client: Client) -> None:
    said = await client("stream")
    assert "".join(said["deltas"]) == said["final"] == CITED_TEXT


async def test_cite(client: Client) -> None:
    cited = await client("cite")
    assert [each["title"] for each in cited] == ["Handbook", "fees 2026.md"]
    assert cited[0]["url"] == "https://example.org/handbook#loans"


async def test_cancel(client: Client, http: aiohttp.ClientSession) -> None:
    said = await client("cancel")
    assert said["cancelled"] == "cancelled"

    async def cancelled() -> bool:
        async with http.get(f"/v1/responses/{said['left']}") as response:
            return bool((await response.json())["status"] == "cancelled")

    await until(cancelled)


async def test_resume(client: Client) -> None:
    said = await client("resume")
    assert said["numbers"] == list(range(len(said["numbers"])))
    assert said["text"] == CITED_TEXT


async def test_error(client: Client) -> None:
    missing, refused, failed, streamed = await client("error")
    assert (missing["status"], missing["param"]) == (404, "model")
    assert (refused["status"], refused["param"]) == (400, "conversation")
    assert failed["status"] == 503
    assert "model cannot be reached" in failed["message"]
    assert "model cannot be reached" in streamed["message"]
