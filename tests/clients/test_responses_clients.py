"""Clients of /v1/responses; each runs a script, and the tests read its results."""

import json
from typing import Any

import pytest

from bus.runs.runs import Runs
from tests.clients.installed import node_in, output_of
from tests.clients.table import NO_CALL_TO_RESUME, Column, Row
from tests.polling import ended
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.response_kinds import CITED_TEXT, KINDS

ROWS = tuple(
    Row(name=name, over="/v1/responses", package=package, pins=f"node/{key}", keys=(key,), never=never)
    for key, name, package, never in (
        ("ai-sdk-chat", "AI SDK, OpenAI provider", "@ai-sdk/openai", {"resume": NO_CALL_TO_RESUME}),
        ("openai-node", "OpenAI for Node", "openai", dict[Column, str]()),
    )
)
EVERY = ("ai-sdk-chat", "openai-node")
type Said = tuple[str, dict[str, Any]]


def over(*clients: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("said", clients, indirect=True)


@pytest.fixture(scope="module")
async def said(request: pytest.FixtureRequest, edge: str, pipeline: Pipeline) -> Said:
    """The client, and the results of its script by step."""
    client: str = request.param
    pipeline.scripts |= KINDS
    program, folder = node_in(client)
    return client, json.loads(await output_of(program, folder / "responses.mjs", f"{edge}/v1"))


@over("ai-sdk-chat")
async def test_ask(said: Said, pipeline: Pipeline) -> None:
    told = said[1]["ask"]
    assert (told["first"], told["third"]) == (CITED_TEXT, "The documents do not say.")
    assert told["second"].startswith("Nothing is sure:\n\n**1. [환불")
    asked = await pipeline.asked(told["id"])
    assert [turn.content for turn in asked.conversation_history] == ["cite", CITED_TEXT]


@over("openai-node")
async def test_ask_and_delete(said: Said) -> None:
    assert said[1]["ask"] == {"first": CITED_TEXT, "second": "The documents do not say.", "gone": 404}


@over(*EVERY)
async def test_stream(said: Said) -> None:
    told = said[1]["stream"]
    deltas = told if isinstance(told, list) else told["deltas"]
    assert "".join(deltas) == CITED_TEXT
    assert len(deltas) > 3
    if isinstance(told, dict):
        assert told["finish"] == "stop" if "finish" in told else told["final"] == CITED_TEXT


@over(*EVERY)
async def test_cite(said: Said) -> None:
    cited = said[1]["cite"]
    for each in [cited] if said[0] == "openai-node" else cited:
        assert [one["title"] for one in each] == ["Handbook", "fees 2026.md"]
        if said[0] == "openai-node":
            assert each[0]["url"] == "https://example.org/handbook#loans"


@over(*EVERY)
async def test_cancel(said: Said, runs: Runs) -> None:
    told = said[1]["cancel"]
    left = told["left"] if isinstance(told, dict) else told
    if said[0] == "openai-node":
        assert told["cancelled"] == "cancelled"
    assert (await ended(runs, left.partition("_")[2])).outcome == "cancelled"


@over("openai-node")
async def test_resume(said: Said) -> None:
    told = said[1]["resume"]
    assert told["numbers"] == list(range(len(told["numbers"])))
    assert told["text"] == CITED_TEXT


@over("ai-sdk-chat")
async def test_error_in_the_ai_sdk(said: Said) -> None:
    told = said[1]["error"]
    assert told["missing"]["status"] == 404
    assert "there is no profile 'gpt-9'" in told["missing"]["message"]
    assert told["failed"]["status"] == 503
    assert "model cannot be reached" in told["streamed"]
    assert told["withdrawn"] == {"text": "It is withdrawn.", "finish": "content-filter"}


@over("openai-node")
async def test_error_for_node(said: Said) -> None:
    missing, refused, failed, streamed = said[1]["error"]
    assert (missing["status"], missing["param"]) == (404, "model")
    assert (refused["status"], refused["param"]) == (400, "conversation")
    assert failed["status"] == 503
    assert "model cannot be reached" in failed["message"]
    assert "model cannot be reached" in streamed["message"]
