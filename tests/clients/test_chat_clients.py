"""Clients of /v1/chat/completions; each runs a script, and the tests read its results."""

from typing import Any

import pytest

from bus.runs.runs import Runs
from tests.clients.chatting import Leaving, told
from tests.clients.installed import node_in
from tests.clients.table import CHAT_HAS_NO_WAY_BACK, Row
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.response_kinds import CITED_TEXT

ROWS = tuple(
    Row(
        name=name,
        over="/v1/chat/completions",
        package=package,
        pins=f"node/{key}",
        keys=(key,),
        never={"resume": CHAT_HAS_NO_WAY_BACK},
    )
    for key, name, package in (
        ("ai-sdk-chat", "AI SDK, OpenAI provider (`.chat`)", "@ai-sdk/openai"),
        ("openai-node", "OpenAI for Node", "openai"),
    )
)
EVERY = ("ai-sdk-chat", "openai-node")
type Said = tuple[str, dict[str, Any], Leaving]


def over(*clients: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("said", clients, indirect=True)


@pytest.fixture(scope="module")
async def said(request: pytest.FixtureRequest, edge: str, pipeline: Pipeline) -> Said:
    """The client, the results of its script by step, and the runs that it left."""
    client: str = request.param
    program, folder = node_in(client)
    leaving = Leaving(pipeline)
    return client, await told(program, folder / "chat.mjs", f"{edge}/v1"), leaving


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
    if said[0] == "ai-sdk-chat":
        assert (asked["second"], asked["finish"]) == ("The documents do not say.", "stop")
    else:
        assert "general" in asked["models"]


@over("openai-node")
async def test_cite(said: Said) -> None:
    for annotations in said[1]["cite"]:
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
