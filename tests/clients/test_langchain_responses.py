"""LangChain with `use_responses_api=True`."""

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
        name="LangChain (`use_responses_api`)",
        over="/v1/responses",
        package="langchain-openai",
        pins="python/langchain.txt",
        never={"resume": NO_CALL_TO_RESUME},
    ),
)


@pytest.fixture(scope="module")
async def told(edge: str, pipeline: Pipeline) -> dict[str, Any]:
    """The results of the client's script, by step."""
    pipeline.scripts |= KINDS
    script = HERE / "python" / "langchain_responses.py"
    said: dict[str, Any] = json.loads(await output_of(python_of("langchain"), script, f"{edge}/v1"))
    return said


async def test_ask(told: dict[str, Any], pipeline: Pipeline) -> None:
    said = told["ask"]
    assert (said["first"], said["second"]) == (CITED_TEXT, "The documents do not say.")
    assert said["metadata"] == {"groundwire_outcome": "refused", "groundwire_reason": "no_evidence"}
    run_id = said["third"].removeprefix("resp_")
    asked = (await pipeline.bus.journal.latest([key_of(QuestionAsked, run_id).subject]))[0].message
    assert isinstance(asked, QuestionAsked)
    assert [turn.content for turn in asked.conversation_history] == ["cite", CITED_TEXT]


async def test_stream(told: dict[str, Any]) -> None:
    pieces = told["stream"]
    assert "".join(pieces) == CITED_TEXT
    assert len(pieces) > 3


async def test_cite(told: dict[str, Any]) -> None:
    for cited in told["cite"]:
        assert [each["title"] for each in cited] == ["Handbook", "fees 2026.md"]
        assert cited[0]["url"] == "https://example.org/handbook#loans"


async def test_cancel(told: dict[str, Any], http: aiohttp.ClientSession) -> None:
    left = told["cancel"]

    async def cancelled() -> bool:
        async with http.get(f"/v1/responses/{left}") as response:
            return bool((await response.json())["status"] == "cancelled")

    await until(cancelled)


async def test_error(told: dict[str, Any]) -> None:
    whole, streamed = told["error"]
    assert "model cannot be reached" in whole
    assert "model cannot be reached" in streamed
