"""The AI SDK with its OpenAI provider, which uses /v1/responses by default."""

import json
from typing import Any

import aiohttp
import pytest

from bus.wire.messages import QuestionAsked
from bus.wire.subjects import key_of
from tests.clients.installed import node_in, output_of
from tests.clients.table import NO_CALL_TO_RESUME, Row
from tests.polling import until
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.response_kinds import CITED_TEXT, KINDS

ROWS = (
    Row(
        name="AI SDK, OpenAI provider",
        over="/v1/responses",
        package="@ai-sdk/openai",
        pins="node/ai-sdk-chat",
        never={"resume": NO_CALL_TO_RESUME},
    ),
)


@pytest.fixture(scope="module")
async def told(edge: str, pipeline: Pipeline) -> dict[str, Any]:
    """The results of the client's script, by step."""
    pipeline.scripts |= KINDS
    node, folder = node_in("ai-sdk-chat")
    said: dict[str, Any] = json.loads(await output_of(node, folder / "responses.mjs", f"{edge}/v1"))
    return said


async def test_ask(told: dict[str, Any], pipeline: Pipeline) -> None:
    said = told["ask"]
    assert (said["first"], said["third"]) == (CITED_TEXT, "The documents do not say.")
    assert said["second"].startswith("Nothing is sure:\n\n**1. [환불")
    run_id = said["id"].removeprefix("resp_")
    asked = (await pipeline.bus.journal.latest([key_of(QuestionAsked, run_id).subject]))[0].message
    assert isinstance(asked, QuestionAsked)
    assert [turn.content for turn in asked.conversation_history] == ["cite", CITED_TEXT]


async def test_stream(told: dict[str, Any]) -> None:
    said = told["stream"]
    assert ("".join(said["deltas"]), said["finish"]) == (CITED_TEXT, "stop")
    assert len(said["deltas"]) > 3


async def test_cite(told: dict[str, Any]) -> None:
    whole, streamed = told["cite"]
    assert [each["title"] for each in whole] == ["Handbook", "fees 2026.md"]
    assert streamed == whole


async def test_cancel(told: dict[str, Any], http: aiohttp.ClientSession) -> None:
    left = told["cancel"]["left"].replace("msg_", "resp_")

    async def cancelled() -> bool:
        async with http.get(f"/v1/responses/{left}") as response:
            return bool((await response.json())["status"] == "cancelled")

    await until(cancelled)


async def test_error(told: dict[str, Any]) -> None:
    said = told["error"]
    assert said["missing"]["status"] == 404
    assert "there is no profile 'gpt-9'" in said["missing"]["message"]
    assert said["failed"]["status"] == 503
    assert "model cannot be reached" in said["streamed"]
    assert said["withdrawn"] == {"text": "It is withdrawn.", "finish": "content-filter"}
