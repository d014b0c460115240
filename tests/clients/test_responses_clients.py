"""Clients of /v1/responses; each runs a script, and the tests read its results."""

import json
from typing import Any

import aiohttp
import pytest

from bus.wire.messages import QuestionAsked
from bus.wire.subjects import key_of
from tests.clients.installed import HERE, node_in, output_of, python_of
from tests.clients.table import NO_CALL_TO_RESUME, Column, Row
from tests.polling import until
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.response_kinds import CITED_TEXT, KINDS

NO_RESUME: dict[Column, str] = {"resume": NO_CALL_TO_RESUME}


def row(key: str, name: str, package: str, pins: str, never: dict[Column, str] = NO_RESUME) -> Row:
    return Row(name=name, over="/v1/responses", package=package, pins=pins, keys=(key,), never=never)


ROWS = (
    row("ai-sdk-chat", "AI SDK, OpenAI provider", "@ai-sdk/openai", "node/ai-sdk-chat"),
    row("langchain", "LangChain (`use_responses_api`)", "langchain-openai", "python/langchain.txt"),
    row("openai-agents", "OpenAI Agents SDK", "openai-agents", "python/openai-agents.txt"),
    row("openai-node", "OpenAI for Node", "openai", "node/openai-node", {}),
)
SCRIPTS = {"langchain": "langchain_responses.py", "openai-agents": "openai_agents.py"}
EVERY = ("ai-sdk-chat", "langchain", "openai-agents", "openai-node")
type Said = tuple[str, dict[str, Any]]


def over(*clients: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("said", clients, indirect=True)


@pytest.fixture(scope="module")
async def said(request: pytest.FixtureRequest, edge: str, pipeline: Pipeline) -> Said:
    """The client, and the results of its script by step."""
    client: str = request.param
    pipeline.scripts |= KINDS
    if client in SCRIPTS:
        program, script = python_of(client), HERE / "python" / SCRIPTS[client]
    else:
        program, folder = node_in(client)
        script = folder / "responses.mjs"
    return client, json.loads(await output_of(program, script, f"{edge}/v1"))


@over("ai-sdk-chat", "langchain", "openai-agents")
async def test_ask(said: Said, pipeline: Pipeline) -> None:
    client, told = said[0], said[1]["ask"]
    assert told["first"] == CITED_TEXT
    refused = {"ai-sdk-chat": "third", "langchain": "second"}
    assert (told["chained"][1] if client == "openai-agents" else told[refused[client]]) == "The documents do not say."
    match client:
        case "ai-sdk-chat":
            assert told["second"].startswith("Nothing is sure:\n\n**1. [환불")
            continued = [told["id"]]
        case "langchain":
            assert told["metadata"] == {"groundwire_outcome": "refused", "groundwire_reason": "no_evidence"}
            continued = [told["third"]]
        case _:
            continued = [told["again"], told["chained"][0]]
    for response_id in continued:
        run_id = response_id.removeprefix("resp_")
        asked = (await pipeline.bus.journal.latest([key_of(QuestionAsked, run_id).subject]))[0].message
        assert isinstance(asked, QuestionAsked)
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
    answers = {"openai-agents": [cited], "openai-node": [cited]}.get(said[0], cited)
    for each in answers:
        assert [one if isinstance(one, str) else one["title"] for one in each] == ["Handbook", "fees 2026.md"]
        if said[0] in ("langchain", "openai-node"):
            assert each[0]["url"] == "https://example.org/handbook#loans"


@over(*EVERY)
async def test_cancel(said: Said, http: aiohttp.ClientSession) -> None:
    told = said[1]["cancel"]
    left = told["left"] if isinstance(told, dict) else told
    if said[0] == "openai-node":
        assert told["cancelled"] == "cancelled"

    async def cancelled() -> bool:
        async with http.get(f"/v1/responses/{left.replace('msg_', 'resp_')}") as response:
            return bool((await response.json())["status"] == "cancelled")

    await until(cancelled)


@over("openai-node")
async def test_resume(said: Said) -> None:
    told = said[1]["resume"]
    assert told["numbers"] == list(range(len(told["numbers"])))
    assert told["text"] == CITED_TEXT


@over("langchain", "openai-agents")
async def test_error(said: Said) -> None:
    errors = said[1]["error"]
    for message in [errors] if isinstance(errors, str) else errors:
        assert "model cannot be reached" in message


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
