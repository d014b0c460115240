"""OpenAI's Python client at /v1/responses."""

from collections.abc import AsyncIterator

import openai
import pytest

from bus.runs.runs import Runs
from tests.clients.table import Row
from tests.polling import ended
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.response_kinds import CITED_TEXT, KINDS

ROWS = (Row(name="OpenAI for Python", over="/v1/responses", package="openai"),)


@pytest.fixture
async def client(edge: str, pipeline: Pipeline) -> AsyncIterator[openai.AsyncOpenAI]:
    pipeline.scripts |= KINDS
    async with openai.AsyncOpenAI(base_url=f"{edge}/v1", api_key="none", max_retries=0) as made:
        yield made


async def test_ask(client: openai.AsyncOpenAI) -> None:
    first = await client.responses.create(model="library", input="환불은 며칠", metadata={"mine": "1"})
    assert (first.status, first.output_text, first.model) == ("completed", "환불은 며칠 [1]", "library")
    assert first.metadata == {"mine": "1", "groundwire_outcome": "answered"}
    assert first.usage is not None
    second = await client.responses.create(model="library", input="또?", previous_response_id=first.id)
    assert second.previous_response_id == first.id
    assert (await client.responses.retrieve(second.id)).output_text == second.output_text
    await client.responses.delete(second.id)
    with pytest.raises(openai.NotFoundError):
        await client.responses.retrieve(second.id)


async def test_stream(client: openai.AsyncOpenAI) -> None:
    async with client.responses.stream(model="general", input="cite") as stream:
        events = [event async for event in stream]
        final = await stream.get_final_response()
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == final.output_text == CITED_TEXT
    assert len(deltas) > 3


async def test_cite(client: openai.AsyncOpenAI) -> None:
    answer = await client.responses.create(model="general", input="cite")
    part = answer.output[0].content[0]  # type: ignore[union-attr]
    cited = [(part.text[a.start_index : a.end_index], a.title) for a in part.annotations]  # type: ignore[union-attr]
    assert cited == [("[1]", "Handbook"), ("[2]", "fees 2026.md")]


async def test_cancel(client: openai.AsyncOpenAI, runs: Runs) -> None:
    stream = await client.responses.create(model="general", input="hang", stream=True)
    async for event in stream:
        if event.type == "response.created":
            left = event.response.id
        if event.type == "response.output_text.delta":
            break
    await stream.close()
    await ended(runs, left.removeprefix("resp_"))
    assert (await client.responses.retrieve(left)).status == "cancelled"
    going = await client.responses.create(model="general", input="hang", background=True)
    assert going.status == "in_progress"
    assert (await client.responses.cancel(going.id)).status == "cancelled"


async def test_resume(client: openai.AsyncOpenAI) -> None:
    stream = await client.responses.create(model="general", input="cite", stream=True, background=True)
    first = []
    async for event in stream:
        first.append(event)
        if len(first) == 6:
            break
    await stream.close()
    after = first[-1].sequence_number
    rest = [
        event
        async for event in await client.responses.retrieve(
            first[0].response.id,  # type: ignore[union-attr]
            stream=True,
            starting_after=after,
        )
    ]
    assert [event.sequence_number for event in (*first, *rest)] == list(range(len(first) + len(rest)))
    shown = "".join(event.delta for event in (*first, *rest) if event.type == "response.output_text.delta")
    assert shown == CITED_TEXT


async def test_error(client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="there is no profile 'gpt-9'") as missing:
        await client.responses.create(model="gpt-9", input="hello")
    assert missing.value.param == "model"
    with pytest.raises(openai.BadRequestError, match="no tool is ever called") as refused:
        await client.responses.create(
            model="general", input="hello", tools=[{"type": "function", "name": "f", "parameters": {}, "strict": None}]
        )
    assert refused.value.param == "tools"
    with pytest.raises(openai.InternalServerError, match="model cannot be reached"):
        await client.responses.create(model="general", input="fail")
    with pytest.raises(openai.APIError, match="model cannot be reached"):
        async for _ in await client.responses.create(model="general", input="fail", stream=True):
            pass
