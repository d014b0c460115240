"""Citations in OpenAI's form, models one by one, and what is not served."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import openai
import pytest

from bus.powers.events import Done, Emitter, Error
from bus.wire.messages import QuestionAsked, RunFinished, Settled
from bus.wire.subjects import finished
from runtime.edge.passages_markdown import markdown
from tests.runtime.edge.citing import CITED, SHOWN, cite
from tests.runtime.edge.conftest import NEAR, Pipeline


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
async def test_each_marker_is_a_url_citation(edge: str, client: openai.AsyncOpenAI, stream: bool) -> None:
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


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("withdrawn", [False, True])
async def test_refused_and_withdrawn_answers_cite_nothing(
    client: openai.AsyncOpenAI, pipeline: Pipeline, stream: bool, withdrawn: bool
) -> None:
    async def refuse(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id)
        await emitter.tokens(["It says so [1]."])
        settled = Settled(outcome="refused", reason="grounding_failed", question=question.question)
        await pipeline.bus.journal.write(finished(run_id), RunFinished(settled=settled))
        ends = (Error(code="grounding_failed", content="It is withdrawn [1]."), Done()) if withdrawn else (Done(),)
        await emitter.events(*ends)

    pipeline.scripts["refuse"] = refuse
    content, annotations, extra = await chat(client, "refuse", stream=stream)
    assert (bool(content), annotations, extra["references"]) == (True, [], [])


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
        ("GET", "/v1/embeddings", 405),
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
