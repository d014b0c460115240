"""Clients of /v1/chat/completions; each runs a script, and the tests read its results."""

from pathlib import Path
from typing import Any

import pytest

from bus.runs.runs import Runs
from tests.clients.chatting import Leaving, told
from tests.clients.installed import HERE, node_in, python_of
from tests.clients.table import CHAT_HAS_NO_WAY_BACK, Column, Row
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.response_kinds import CITED_TEXT


def row(key: str, name: str, package: str, pins: str, never: dict[Column, str] | None = None) -> Row:
    reasons: dict[Column, str] = {"resume": CHAT_HAS_NO_WAY_BACK, **(never or {})}
    return Row(name=name, over="/v1/chat/completions", package=package, pins=pins, keys=(key,), never=reasons)


DROPPED = "It drops the annotations of a chat; it keeps those of `/v1/responses`."
ROWS = (
    row("ai-sdk-chat", "AI SDK, OpenAI provider (`.chat`)", "@ai-sdk/openai", "node/ai-sdk-chat"),
    row("langchain", "LangChain", "langchain-openai", "python/langchain.txt", {"cite": DROPPED}),
    row("litellm", "litellm", "litellm", "python/litellm.txt"),
    row("llamaindex", "LlamaIndex", "llama-index-llms-openai-like", "python/llamaindex.txt"),
    row("llm", "llm", "llm", "python/llm.txt"),
    row("openai-node", "OpenAI for Node", "openai", "node/openai-node"),
)
PYTHON = ("langchain", "litellm", "llamaindex", "llm")
EVERY = (*PYTHON, "ai-sdk-chat", "openai-node")
type Said = tuple[str, dict[str, Any], Leaving]


def over(*clients: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("said", clients, indirect=True)


@pytest.fixture(scope="module")
async def said(
    request: pytest.FixtureRequest, edge: str, pipeline: Pipeline, tmp_path_factory: pytest.TempPathFactory
) -> Said:
    """The client, the results of its script by step, and the runs that it left."""
    client: str = request.param
    if client in PYTHON:
        program, script = python_of(client), HERE / "python" / f"{client}_chat.py"
    else:
        program, folder = node_in(client)
        script = Path(folder) / "chat.mjs"
    leaving = Leaving(pipeline)
    env = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LLM_USER_PATH": str(tmp_path_factory.mktemp("llm"))}
    return client, await told(program, script, f"{edge}/v1", **env), leaving


@over(*EVERY)
async def test_stream(said: Said) -> None:
    streamed = said[1]["stream"]
    if isinstance(streamed, dict):  # OpenAI's client has the whole text too
        assert streamed["final"] == CITED_TEXT
        streamed = streamed["deltas"]
    assert "".join(streamed) == CITED_TEXT


@over(*EVERY)
async def test_cancel(said: Said, runs: Runs) -> None:
    """Its client leaves a stream of which it has read the beginning."""
    assert await said[2].all_cancelled(runs)


@over(*EVERY)
async def test_ask(said: Said) -> None:
    asked = said[1]["ask"]
    assert asked["first"] == CITED_TEXT
    if said[0] in ("ai-sdk-chat", "langchain", "llm"):
        assert asked["second"] == "The documents do not say."
    match said[0]:
        case "ai-sdk-chat":
            assert asked["finish"] == "stop"
        case "llm":
            assert asked["command"].strip() == CITED_TEXT
        case "openai-node":
            assert "general" in asked["models"]


@over("litellm", "llamaindex", "llm", "openai-node")
async def test_cite(said: Said) -> None:
    answers = said[1]["cite"]
    for annotations in [answers] if said[0] in ("llamaindex", "llm") else answers:
        cited = [each["url_citation"] for each in annotations]
        assert [(CITED_TEXT[c["start_index"] : c["end_index"]], c["title"]) for c in cited] == [
            ("[1]", "Handbook"),
            ("[2]", "fees 2026.md"),
        ]
        assert cited[0]["url"] == "https://example.org/handbook#loans"
        assert "/sources/fees%202026.md?start=0&end=8" in cited[1]["url"]


@over("ai-sdk-chat")
async def test_cite_as_sources(said: Said) -> None:
    """`openai-compatible` reads no annotations: with it the text has the markers alone."""
    cited = said[1]["cite"]
    assert cited["whole"] == cited["streamed"]
    assert [(each["sourceType"], each["title"]) for each in cited["whole"]] == [
        ("url", "Handbook"),
        ("url", "fees 2026.md"),
    ]
    assert [each["title"] for each in cited["near"]] == ["환불 <규정>", "file.txt"]
    assert cited["compatible"] == []


@over("langchain")
async def test_the_text_has_the_markers(said: Said) -> None:
    """It leaves the annotations of a chat out of its messages."""
    assert "annotations" not in said[1]["cite"]["kwargs"]
    assert "[환불" in said[1]["cite"]["near"]


@over(*PYTHON)
async def test_error(said: Said) -> None:
    unknown, refused, failed, cut = said[1]["error"]
    assert "there is no profile 'gpt-9'" in unknown
    assert ("logit_bias: no token" if said[0] == "llm" else "n: there is one answer") in refused
    assert "model cannot be reached" in failed
    assert "model cannot be reached" in cut


@over("ai-sdk-chat")
async def test_error_in_the_ai_sdk(said: Said) -> None:
    unknown, failed, refused, cut = said[1]["error"]
    assert (unknown["status"], failed["status"], refused["status"]) == (404, 503, 400)
    assert "presence_penalty: what an answer repeats is not counted" in refused["message"]
    assert "model cannot be reached" in cut["message"]


@over("openai-node")
async def test_error_for_node(said: Said) -> None:
    unknown, refused, failed, cut, image = said[1]["error"]
    assert (unknown["status"], unknown["param"], refused["status"], refused["param"]) == (404, "model", 400, "n")
    assert failed["status"] == 503
    assert "model cannot be reached" in cut["message"]
    assert (image["status"], "/v1/images/generations" in image["message"]) == (404, True)
