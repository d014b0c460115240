"""OpenAI's client for Node at /v1/responses."""

import json
from typing import Any

import aiohttp
import pytest

from tests.clients.installed import node_in, output_of
from tests.clients.table import Row
from tests.polling import until
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.response_kinds import CITED_TEXT, KINDS

ROWS = (Row(name="OpenAI for Node", over="/v1/responses", package="openai", pins="node/openai-node"),)


@pytest.fixture(scope="module")
async def told(edge: str, pipeline: Pipeline) -> dict[str, Any]:
    """The results of the client's script, by step."""
    pipeline.scripts |= KINDS
    node, folder = node_in("openai-node")
    said: dict[str, Any] = json.loads(await output_of(node, folder / "responses.mjs", f"{edge}/v1"))
    return said


async def test_ask(told: dict[str, Any]) -> None:
    assert told["ask"] == {
        "first": CITED_TEXT,
        "second": "The documents do not say.",
        "items": ["refuse"],
        "gone": 404,
    }


async def test_stream(told: dict[str, Any]) -> None:
    said = told["stream"]
    assert "".join(said["deltas"]) == said["final"] == CITED_TEXT


async def test_cite(told: dict[str, Any]) -> None:
    cited = told["cite"]
    assert [each["title"] for each in cited] == ["Handbook", "fees 2026.md"]
    assert cited[0]["url"] == "https://example.org/handbook#loans"


async def test_cancel(told: dict[str, Any], http: aiohttp.ClientSession) -> None:
    said = told["cancel"]
    assert said["cancelled"] == "cancelled"

    async def cancelled() -> bool:
        async with http.get(f"/v1/responses/{said['left']}") as response:
            return bool((await response.json())["status"] == "cancelled")

    await until(cancelled)


async def test_resume(told: dict[str, Any]) -> None:
    said = told["resume"]
    assert said["numbers"] == list(range(len(said["numbers"])))
    assert said["text"] == CITED_TEXT


async def test_error(told: dict[str, Any]) -> None:
    missing, refused, failed, streamed = told["error"]
    assert (missing["status"], missing["param"]) == (404, "model")
    assert (refused["status"], refused["param"]) == (400, "conversation")
    assert failed["status"] == 503
    assert "model cannot be reached" in failed["message"]
    assert "model cannot be reached" in streamed["message"]
