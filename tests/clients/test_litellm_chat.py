"""litellm at /v1/chat/completions and /v1/embeddings."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bus.runs.runs import Runs
from tests.clients.chatting import Leaving, embedding, told
from tests.clients.installed import HERE, python_of
from tests.clients.table import CHAT_HAS_NO_WAY_BACK, Row
from tests.runtime.edge.conftest import Bus, Pipeline
from tests.runtime.edge.response_kinds import CITED_TEXT

ROWS = (
    Row(
        name="litellm",
        over="/v1/chat/completions",
        package="litellm",
        pins="python/litellm.txt",
        never={"resume": CHAT_HAS_NO_WAY_BACK},
    ),
)


@pytest.fixture(scope="module")
async def said(edge: str, bus: Bus, pipeline: Pipeline) -> AsyncIterator[tuple[dict[str, Any], Leaving]]:
    """The results of the client's script, by step, and the runs that it left."""
    leaving = Leaving(pipeline)
    async with embedding(bus):
        yield (
            await told(
                python_of("litellm"),
                HERE / "python" / "litellm_chat.py",
                f"{edge}/v1",
                LITELLM_LOCAL_MODEL_COST_MAP="True",
            ),
            leaving,
        )


async def test_stream(said: tuple[dict[str, Any], Leaving]) -> None:
    assert "".join(said[0]["stream"]) == CITED_TEXT


async def test_cancel(said: tuple[dict[str, Any], Leaving], runs: Runs) -> None:
    """Its client leaves a stream of which it has read the beginning."""
    assert await said[1].all_cancelled(runs)


async def test_ask(said: tuple[dict[str, Any], Leaving]) -> None:
    assert said[0]["ask"]["first"] == CITED_TEXT


async def test_cite(said: tuple[dict[str, Any], Leaving]) -> None:
    for annotations in said[0]["cite"]:
        cited = [each["url_citation"] for each in annotations]
        assert [(CITED_TEXT[c["start_index"] : c["end_index"]], c["title"]) for c in cited] == [
            ("[1]", "Handbook"),
            ("[2]", "fees 2026.md"),
        ]
        assert cited[0]["url"] == "https://example.org/handbook#loans"
        assert "/sources/fees%202026.md?start=0&end=8" in cited[1]["url"]


async def test_embed(said: tuple[dict[str, Any], Leaving]) -> None:
    assert said[0]["embed"] == [[1.0, 0.0], [1.0, 0.0]]


async def test_error(said: tuple[dict[str, Any], Leaving]) -> None:
    unknown, refused, failed, cut = said[0]["error"]
    assert "there is no profile 'gpt-9'" in unknown
    assert "n: there is one answer" in refused
    assert "model cannot be reached" in failed
    assert "model cannot be reached" in cut
