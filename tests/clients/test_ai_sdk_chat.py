"""The AI SDK at /v1/chat/completions and /v1/embeddings, by `openai-compatible` and `openai` (`.chat`)."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bus.runs.runs import Runs
from tests.clients.chatting import Leaving, embedding, told
from tests.clients.installed import node_in
from tests.clients.table import CHAT_HAS_NO_WAY_BACK, Row
from tests.runtime.edge.conftest import Bus, Pipeline
from tests.runtime.edge.response_kinds import CITED_TEXT

ROWS = (
    Row(
        name="AI SDK, OpenAI provider (`.chat`)",
        over="/v1/chat/completions",
        package="@ai-sdk/openai",
        pins="node/ai-sdk-chat",
        never={"resume": CHAT_HAS_NO_WAY_BACK},
    ),
)


@pytest.fixture(scope="module")
async def said(edge: str, bus: Bus, pipeline: Pipeline) -> AsyncIterator[tuple[dict[str, Any], Leaving]]:
    """The results of the client's script, by step, and the runs that it left."""
    leaving = Leaving(pipeline)
    async with embedding(bus):
        node, folder = node_in("ai-sdk-chat")
        yield await told(node, folder / "chat.mjs", f"{edge}/v1"), leaving


async def test_stream(said: tuple[dict[str, Any], Leaving]) -> None:
    assert "".join(said[0]["stream"]) == CITED_TEXT


async def test_cancel(said: tuple[dict[str, Any], Leaving], runs: Runs) -> None:
    """Its client leaves a stream of which it has read the beginning."""
    assert await said[1].all_cancelled(runs)


async def test_ask(said: tuple[dict[str, Any], Leaving]) -> None:
    asked = said[0]["ask"]
    assert (asked["first"], asked["second"], asked["finish"]) == (CITED_TEXT, "The documents do not say.", "stop")


async def test_cite(said: tuple[dict[str, Any], Leaving]) -> None:
    """`openai-compatible` reads no annotations: with it the text has the markers alone."""
    cited = said[0]["cite"]
    assert cited["whole"] == cited["streamed"]
    assert [(each["sourceType"], each["title"]) for each in cited["whole"]] == [
        ("url", "Handbook"),
        ("url", "fees 2026.md"),
    ]
    assert [each["title"] for each in cited["near"]] == ["환불 <규정>", "file.txt"]
    assert cited["compatible"] == []


async def test_embed(said: tuple[dict[str, Any], Leaving]) -> None:
    assert said[0]["embed"] == [[1.0, 0.0], [1.0, 0.0]]


async def test_error(said: tuple[dict[str, Any], Leaving]) -> None:
    unknown, failed, refused, cut = said[0]["error"]
    assert (unknown["status"], failed["status"], refused["status"]) == (404, 503, 400)
    assert "presence_penalty: what an answer repeats is not counted" in refused["message"]
    assert "model cannot be reached" in cut["message"]
