"""OpenAI's client for Python at /v1/chat/completions."""

from collections.abc import AsyncIterator

import openai
import pytest

from bus.runs.runs import Runs
from tests.clients.chatting import Leaving
from tests.clients.table import CHAT_HAS_NO_WAY_BACK, Row
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.response_kinds import CITED_TEXT

ROWS = (
    Row(
        name="OpenAI for Python", over="/v1/chat/completions", package="openai", never={"resume": CHAT_HAS_NO_WAY_BACK}
    ),
)


@pytest.fixture
async def client(edge: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{edge}/v1", api_key="none", max_retries=0) as made:
        yield made


@pytest.fixture
def leaving(pipeline: Pipeline) -> Leaving:
    return Leaving(pipeline)


async def asked(client: openai.AsyncOpenAI, text: str) -> openai.types.chat.ChatCompletion:
    return await client.chat.completions.create(model="general", messages=[{"role": "user", "content": text}])


async def test_ask(client: openai.AsyncOpenAI, leaving: Leaving) -> None:
    answer = await asked(client, "cite")
    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == (CITED_TEXT, "stop")


async def test_stream(client: openai.AsyncOpenAI, leaving: Leaving) -> None:
    async with client.chat.completions.stream(
        model="general", messages=[{"role": "user", "content": "cite"}]
    ) as stream:
        deltas = [event.delta async for event in stream if event.type == "content.delta"]
        final = await stream.get_final_completion()
    assert "".join(deltas) == final.choices[0].message.content == CITED_TEXT


async def test_cite(client: openai.AsyncOpenAI, leaving: Leaving) -> None:
    message = (await asked(client, "cite")).choices[0].message
    assert message.annotations is not None
    cited = [each.url_citation for each in message.annotations]
    assert [(CITED_TEXT[c.start_index : c.end_index], c.title) for c in cited] == [
        ("[1]", "Handbook"),
        ("[2]", "fees 2026.md"),
    ]


async def test_cancel(client: openai.AsyncOpenAI, leaving: Leaving, runs: Runs) -> None:
    stream = await client.chat.completions.create(
        model="general", messages=[{"role": "user", "content": "leave"}], stream=True
    )
    async for chunk in stream:
        if chunk.choices[0].delta.content:
            break
    await stream.close()
    with pytest.raises(openai.APITimeoutError):
        await asked(client.with_options(timeout=0.5), "leave")
    assert await leaving.all_cancelled(runs)


async def test_error(client: openai.AsyncOpenAI, leaving: Leaving) -> None:
    with pytest.raises(openai.NotFoundError, match="there is no profile 'gpt-9'"):
        await client.chat.completions.create(model="gpt-9", messages=[{"role": "user", "content": "cite"}])
    with pytest.raises(openai.BadRequestError, match="n: there is one answer") as refused:
        await client.chat.completions.create(model="general", n=2, messages=[{"role": "user", "content": "cite"}])
    assert refused.value.param == "n"
    with pytest.raises(openai.InternalServerError, match="model cannot be reached"):
        await asked(client, "fail")
    with pytest.raises(openai.NotFoundError, match="/v1/moderations"):
        await client.moderations.create(input="x")
