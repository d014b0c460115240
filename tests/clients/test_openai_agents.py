"""OpenAI's Agents SDK, which speaks to /v1/responses."""

import json
from typing import Any

import aiohttp
import pytest

from bus.wire.messages import QuestionAsked
from bus.wire.subjects import key_of
from tests.clients.installed import HERE, output_of, python_of
from tests.clients.table import NO_CALL_TO_RESUME, Row
from tests.polling import until
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.response_kinds import CITED_TEXT, KINDS

ROWS = (
    Row(
        name="OpenAI Agents SDK",
        over="/v1/responses",
        package="openai-agents",
        pins="python/openai-agents.txt",
        never={"resume": NO_CALL_TO_RESUME},
    ),
)


@pytest.fixture(scope="module")
async def told(edge: str, pipeline: Pipeline) -> dict[str, Any]:
    """The results of the client's script, by step."""
    pipeline.scripts |= KINDS
    script = HERE / "python" / "openai_agents.py"
    said: dict[str, Any] = json.loads(await output_of(python_of("openai-agents"), script, f"{edge}/v1"))
    return said


async def test_ask(told: dict[str, Any], pipeline: Pipeline) -> None:
    said = told["ask"]
    assert (said["first"], said["chained"][1]) == (CITED_TEXT, "The documents do not say.")
    for response_id in (said["again"], said["chained"][0]):
        run_id = response_id.removeprefix("resp_")
        asked = (await pipeline.bus.journal.latest([key_of(QuestionAsked, run_id).subject]))[0].message
        assert isinstance(asked, QuestionAsked)
        assert [turn.content for turn in asked.conversation_history] == ["cite", CITED_TEXT]


async def test_stream(told: dict[str, Any]) -> None:
    said = told["stream"]
    assert "".join(said["deltas"]) == said["final"] == CITED_TEXT


async def test_cite(told: dict[str, Any]) -> None:
    assert told["cite"] == ["Handbook", "fees 2026.md"]


async def test_cancel(told: dict[str, Any], http: aiohttp.ClientSession) -> None:
    left = told["cancel"]

    async def cancelled() -> bool:
        async with http.get(f"/v1/responses/{left}") as response:
            return bool((await response.json())["status"] == "cancelled")

    await until(cancelled)


async def test_error(told: dict[str, Any]) -> None:
    assert "model cannot be reached" in told["error"]
