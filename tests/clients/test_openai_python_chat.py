"""OpenAI's client for Python at /v1/chat/completions: chats, citations in OpenAI's form, models, and what is not served."""

import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import openai
import pytest

from bus.runs.runs import Runs
from runtime.edge.cited import markdown
from tests.clients.chatting import Leaving
from tests.clients.table import CHAT_HAS_NO_WAY_BACK, Row
from tests.runtime.edge.citing import CITED, FAILS, SHOWN, WITHDRAWN, cite
from tests.runtime.edge.conftest import NEAR, Pipeline

ROWS = (
    Row(
        name="OpenAI for Python", over="/v1/chat/completions", package="openai", never={"resume": CHAT_HAS_NO_WAY_BACK}
    ),
)


@pytest.fixture
async def client(edge: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{edge}/v1", api_key="none", max_retries=0) as made:
        yield made


@pytest.fixture(autouse=True)
def citing(pipeline: Pipeline) -> None:
    pipeline.scripts["places"] = cite


async def chat(client: openai.AsyncOpenAI, question: str, *, stream: bool) -> tuple[str, list[Any], dict[str, Any]]:
    """The content, the annotations and the fields that are ours."""
    asked: Any = {"model": "general", "messages": [{"role": "user", "content": question}], "stream": stream}
    answer: Any = await client.chat.completions.create(**asked)
    if not stream:
        message = answer.choices[0].message
        return message.content, message.annotations, answer.model_extra
    chunks = [chunk async for chunk in answer]
    assert all("annotations" not in (chunk.choices[0].delta.model_extra or {}) for chunk in chunks[:-1])
    found = (chunks[-1].choices[0].delta.model_extra or {}).get("annotations", [])
    citation = openai.types.chat.chat_completion_message.Annotation
    return (
        "".join(chunk.choices[0].delta.content or "" for chunk in chunks),
        [citation.model_validate(each) for each in found],
        chunks[-1].model_extra,
    )


@pytest.mark.parametrize("stream", [False, True])
async def test_cite(edge: str, client: openai.AsyncOpenAI, stream: bool) -> None:
    content, annotations, extra = await chat(client, "places", stream=stream)
    assert content == SHOWN
    found = [(each.url_citation, each.type) for each in annotations]
    assert [(SHOWN[c.start_index : c.end_index], c.title, c.url, kind) for c, kind in found] == [
        ("[1]", "환불 규정", "https://example.org/refunds#terms", "url_citation"),
        ("[2, 3]", "shop/opening.md", f"{edge}/sources/shop/opening.md?start=5&end=20", "url_citation"),
        ("[2, 3]", "환불 규정", "https://example.org/refunds", "url_citation"),
        ("[1]", "환불 규정", "https://example.org/refunds#terms", "url_citation"),
    ]
    assert [each["url"] for each in extra["references"]] == [CITED[0].url, f"{edge}{CITED[1].url}"]


@pytest.mark.parametrize("stream", [False, True])
async def test_closest_passages_are_cited_in_their_quotes(edge: str, client: openai.AsyncOpenAI, stream: bool) -> None:
    content, annotations, _ = await chat(client, "near enough?", stream=stream)
    assert content.endswith(markdown(NEAR))
    found = [each.url_citation for each in annotations]
    assert [(c.title, c.url) for c in found] == [
        (NEAR[0].title, NEAR[0].url),
        ("file.txt", f"{edge}/sources/file.txt?start=0&end=23"),
    ]
    quoted = [content[c.start_index : c.end_index] for c in found]
    assert "".join(f"\n\n{each}" for each in quoted) == markdown(NEAR)
    assert [each[:4] for each in quoted] == ["**1.", "**2."]


# ---------------------------------------------------------------- models, and unknown routes


async def test_a_model_by_name(client: openai.AsyncOpenAI) -> None:
    found = await client.models.retrieve("library")
    assert (found.id, found.object, found.owned_by) == ("library", "model", "groundwire")
    with pytest.raises(openai.NotFoundError) as raised:
        await client.models.retrieve("gpt-9")
    error: Any = raised.value.body
    assert error.pop("message").startswith("model: there is no profile 'gpt-9'; one of general, library")
    assert error == {"type": "invalid_request_error", "code": "model_not_found", "param": "model"}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/v1/images/generations", 404),
        ("POST", "/v1/audio/speech", 404),
        ("POST", "/v1/moderations", 404),
        ("GET", "/v1/files", 404),
        ("GET", "/v1/chat/completions/chatcmpl-1/messages", 404),
        ("DELETE", "/v1/models/library", 405),
        ("POST", "/v1/embeddings", 404),
    ],
)
async def test_unknown_route_has_openai_form(http: aiohttp.ClientSession, method: str, path: str, status: int) -> None:
    async with http.request(method, path) as response:
        assert (response.status, response.content_type) == (status, "application/json")
        error = (await response.json())["error"]
    assert error["type"] == "invalid_request_error"
    assert path in error["message"]


@pytest.mark.parametrize("path", ["/v1/runs/a/b", "/v1/index/x", "/v1/search/x", "/v2/chat/completions", "/v1", "/x"])
async def test_unknown_route_elsewhere_is_a_problem(http: aiohttp.ClientSession, path: str) -> None:
    async with http.get(path) as response:
        assert (response.status, response.content_type) == (404, "application/problem+json")


ASKED = [{"role": "user", "content": "환불은 며칠"}]


async def test_ask(client: openai.AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(model="library", messages=ASKED)  # type: ignore[arg-type]
    assert answer.object == "chat.completion"
    assert answer.model == "library"
    assert answer.choices[0].message.content == "환불은 며칠 [1]"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer.model_extra is not None
    assert answer.model_extra["references"][0]["source_id"] == "refunds"


async def test_stream(client: openai.AsyncOpenAI) -> None:
    """Through the client's own reading of a stream, which checks every chunk."""
    async with client.chat.completions.stream(
        model="general",
        messages=ASKED,  # type: ignore[arg-type]
        stream_options={"include_usage": True},
    ) as stream:
        chunks = [event.chunk async for event in stream if event.type == "chunk"]
        final = await stream.get_final_completion()
    assert len({chunk.id for chunk in chunks}) == 1
    assert chunks[0].choices[0].delta.role == "assistant"
    pieces = [chunk.choices[0].delta.content or "" for chunk in chunks[:-1]]
    assert "".join(pieces) == final.choices[0].message.content == "환불은 며칠 [1]"
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert (chunks[-2].model_extra or {})["references"][0]["source_id"] == "refunds"
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None


async def test_cancel(client: openai.AsyncOpenAI, pipeline: Pipeline, runs: Runs) -> None:
    leaving, leave = Leaving(pipeline), [{"role": "user", "content": "leave"}]
    stream = await client.chat.completions.create(model="general", messages=leave, stream=True)  # type: ignore[call-overload]
    async for chunk in stream:
        if chunk.choices[0].delta.content:
            break
    await stream.close()
    with pytest.raises(openai.APITimeoutError):
        await client.with_options(timeout=0.5).chat.completions.create(model="general", messages=leave)  # type: ignore[arg-type]
    assert await leaving.all_cancelled(runs)


async def test_the_conversation_becomes_history(client: openai.AsyncOpenAI, pipeline: Pipeline) -> None:
    answer = await client.chat.completions.create(
        model="tutor",
        messages=[
            {"role": "system", "content": "You are a pirate."},
            {"role": "user", "content": "When are the exams?"},
            {"role": "assistant", "content": "In June [1]."},
            {"role": "user", "content": [{"type": "text", "text": "And the retakes?"}]},
        ],
        max_tokens=5,
        extra_body={"style": "synthesis", "language": "en", "voice": "helpful"},
    )
    asked = await pipeline.asked(answer.id)
    assert asked.question == "And the retakes?"
    assert [(turn.role, turn.content) for turn in asked.conversation_history] == [
        ("user", "When are the exams?"),
        ("assistant", "In June [1]."),
    ]
    assert (asked.profile, asked.style, asked.language, asked.voice) == ("tutor", "synthesis", "en", "helpful")
    assert (asked.deadline_s, asked.on_disconnect) == (None, "cancel")


async def test_models_are_the_profiles(client: openai.AsyncOpenAI) -> None:
    assert {model.id async for model in client.models.list()} >= {"general", "library", "myopia", "support", "tutor"}


@pytest.mark.parametrize(
    ("model", "messages", "error", "says"),
    [
        ("gpt-9", ASKED, openai.NotFoundError, "there is no profile 'gpt-9'"),
        ("general", [], openai.BadRequestError, "messages"),
        ("general", [{"role": "assistant", "content": "x"}], openai.BadRequestError, "end with a user message"),
        ("general", [{"role": "user", "content": " "}], openai.BadRequestError, "is empty"),
        ("general", [{"role": "user", "content": "x" * 4001}], openai.BadRequestError, "shorten it to 4000"),
        ("general", [{"role": "user", "content": "x" * 66_000}], openai.APIStatusError, "shorten the conversation"),
    ],
)
async def test_error(
    client: openai.AsyncOpenAI, model: str, messages: list[object], error: type[openai.APIError], says: str
) -> None:
    with pytest.raises(error) as raised:
        await client.chat.completions.create(model=model, messages=messages)  # type: ignore[call-overload]
    assert says in raised.value.message


@pytest.mark.parametrize("stream", [False, True])
async def test_a_failure_is_an_error(client: openai.AsyncOpenAI, pipeline: Pipeline, stream: bool) -> None:
    pipeline.scripts["fail"] = FAILS
    with pytest.raises(openai.APIError) as raised:
        await _read(client, stream=stream)
    assert "the model cannot be reached" in json.dumps(raised.value.body)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_withdrawn_answer_ends_as_filtered(
    client: openai.AsyncOpenAI, pipeline: Pipeline, stream: bool
) -> None:
    pipeline.scripts["withdraw"] = WITHDRAWN
    asked = [{"role": "user", "content": "withdraw"}]
    answer = await client.chat.completions.create(model="general", messages=asked, stream=stream)  # type: ignore[call-overload]
    if stream:
        chunks = [chunk async for chunk in answer]
        assert chunks[-1].choices[0].finish_reason == "content_filter"
        assert "".join(c.choices[0].delta.content or "" for c in chunks) == "Within 90 days.\n\nIt is withdrawn."
    else:
        assert answer.choices[0].finish_reason == "content_filter"
        assert answer.choices[0].message.content == "It is withdrawn."


async def _read(client: openai.AsyncOpenAI, *, stream: bool) -> None:
    answer = await client.chat.completions.create(
        model="general", messages=[{"role": "user", "content": "fail"}], stream=stream
    )
    async for _ in answer:  # type: ignore[union-attr]
        pass
