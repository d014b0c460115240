"""The OpenAI client against the edge."""

import json
from collections.abc import AsyncIterator

import openai
import pytest

from bus.powers.events import Done, Emitter, Error
from bus.wire.messages import QuestionAsked, RunFinished, Settled
from bus.wire.subjects import finished, key_of
from tests.runtime.edge.conftest import Pipeline

ASKED = [{"role": "user", "content": "환불은 며칠"}]


@pytest.fixture
async def client(edge: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{edge}/v1", api_key="none", max_retries=0) as made:
        yield made


async def test_an_answer_in_one_piece(client: openai.AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(model="library", messages=ASKED)  # type: ignore[arg-type]
    assert answer.object == "chat.completion"
    assert answer.model == "library"
    assert answer.choices[0].message.content == "환불은 며칠 [1]"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer.model_extra is not None
    assert answer.model_extra["references"][0]["source_id"] == "refunds"


async def test_an_answer_in_chunks(client: openai.AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(
        model="general",
        messages=ASKED,  # type: ignore[arg-type]
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = [chunk async for chunk in stream]
    assert len({chunk.id for chunk in chunks}) == 1
    assert chunks[0].choices[0].delta.role == "assistant"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]) == "환불은 며칠 [1]"
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert (chunks[-2].model_extra or {})["references"][0]["source_id"] == "refunds"
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None


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
        extra_body={"style": "synthesis", "language": "en"},
    )
    run_id = answer.id.removeprefix("chatcmpl-")
    asked = (await pipeline.bus.journal.latest([key_of(QuestionAsked, run_id).subject]))[0].message
    assert isinstance(asked, QuestionAsked)
    assert asked.question == "And the retakes?"
    assert [(turn.role, turn.content) for turn in asked.conversation_history] == [
        ("user", "When are the exams?"),
        ("assistant", "In June [1]."),
    ]
    assert (asked.profile, asked.style, asked.language) == ("tutor", "synthesis", "en")
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
async def test_errors_use_openai_codes(
    client: openai.AsyncOpenAI, model: str, messages: list[object], error: type[openai.APIError], says: str
) -> None:
    with pytest.raises(error) as raised:
        await client.chat.completions.create(model=model, messages=messages)  # type: ignore[call-overload]
    assert says in raised.value.message


@pytest.mark.parametrize("stream", [False, True])
async def test_a_failure_is_an_error(client: openai.AsyncOpenAI, pipeline: Pipeline, stream: bool) -> None:
    async def fail(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id)
        await emitter.tokens(["half"])
        settled = Settled(outcome="failed", reason="model_unavailable", question=question.question)
        await pipeline.bus.journal.write(finished(run_id), RunFinished(settled=settled))
        await emitter.events(Error(code="model_unavailable", content="the model cannot be reached"), Done())

    pipeline.scripts["fail"] = fail
    with pytest.raises(openai.APIError) as raised:
        await _read(client, stream=stream)
    assert "the model cannot be reached" in json.dumps(raised.value.body)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_withdrawn_answer_ends_as_filtered(
    client: openai.AsyncOpenAI, pipeline: Pipeline, stream: bool
) -> None:
    async def withdraw(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id)
        await emitter.tokens(["Within 90 days."])
        settled = Settled(outcome="refused", reason="grounding_failed", question=question.question)
        await pipeline.bus.journal.write(finished(run_id), RunFinished(settled=settled))
        await emitter.events(Error(code="grounding_failed", content="It is withdrawn."), Done())

    pipeline.scripts["withdraw"] = withdraw
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
