"""What each of OpenAI's fields does here: it is part of the question, has no effect, or is refused by name."""

import re
from typing import Any

import aiohttp
import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming as ChatParams

from bus.journal.records import AskRecord, Stage
from bus.powers.events import Emitter
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Constraints
from bus.wire.settled import Settled
from tests.runtime.edge.conftest import Pipeline

CHAT = "/v1/chat/completions"
USER = {"role": "user", "content": "How long?"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}

#: Values that are accepted, of fields that do something and of those that do nothing.
HONOURED: dict[str, Any] = {
    "messages": [USER],
    "model": "library",
    "max_tokens": 1,
    "max_completion_tokens": 9000,
    "response_format": {"type": "text"},
    "stream": True,
    "stream_options": {"include_usage": True},
}
WITHOUT_EFFECT: dict[str, Any] = {
    "temperature": 0.7,
    "top_p": 0.9,
    "seed": 7,
    "user": "ann",
    "store": True,
    "metadata": {"a": "b"},
    "n": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0.0,
    "logit_bias": {},
    "logprobs": False,
    "top_logprobs": 0,
    "tools": [TOOL],
    "tool_choice": "auto",
    "functions": [{"name": "f"}],
    "function_call": "none",
    "parallel_tool_calls": True,
    "modalities": ["text"],
    "prediction": {"type": "content", "content": "Within"},
    "reasoning_effort": "low",
    "verbosity": "low",
    "service_tier": "auto",
    "safety_identifier": "ann",
    "prompt_cache_key": "a",
    "prompt_cache_options": {},
    "prompt_cache_retention": "24h",
    "moderation": {},
}
REFUSED: list[tuple[str, Any]] = [
    ("n", 2),
    ("n", 0),
    ("presence_penalty", 0.5),
    ("frequency_penalty", -0.5),
    ("logit_bias", {"50256": -100}),
    ("logprobs", True),
    ("top_logprobs", 3),
    ("tool_choice", "required"),
    ("tool_choice", {"type": "function", "function": {"name": "f"}}),
    ("function_call", {"name": "f"}),
    ("modalities", ["text", "audio"]),
    ("audio", {"voice": "alloy", "format": "wav"}),
    ("web_search_options", {}),
    ("stop", ["a"]),
    ("response_format.type", {"type": "json_object"}),
    ("response_format.type", {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}),
    ("max_tokens", 0),
    ("max_completion_tokens", "many"),
    ("stream", "yes"),
    ("messages[1].content[1].type", [USER, {"role": "user", "content": [{"type": "text", "text": "a"}, IMAGE]}]),
    ("messages[0].content[0].type", [{"role": "user", "content": [{"type": "input_audio"}]}]),
    ("messages", "hi"),
    ("messages[0].role", [{"content": "hi"}]),
    ("model", "gpt-9"),
    ("deadline_s", 0),
]


BASE: dict[str, Any] = {"model": "general", "messages": [USER]}


def test_every_documented_field_has_a_row() -> None:
    refused = {re.split(r"[\[.]", field)[0] for field, _ in REFUSED}
    assert ChatParams.__annotations__.keys() <= HONOURED.keys() | WITHOUT_EFFECT.keys() | refused


@pytest.mark.parametrize("field", HONOURED)
async def test_field_is_accepted(http: aiohttp.ClientSession, field: str) -> None:
    async with http.post(CHAT, json=BASE | {field: HONOURED[field]}) as response:
        assert response.status == 200, await response.text()
        assert (await response.text()).rstrip().endswith("data: [DONE]" if field == "stream" else "}")


async def test_fields_without_effect_together(http: aiohttp.ClientSession) -> None:
    async with http.post(CHAT, json=BASE | WITHOUT_EFFECT) as response:
        assert response.status == 200, await response.text()


@pytest.mark.parametrize(("field", "value"), REFUSED)
async def test_field_is_refused_by_name(http: aiohttp.ClientSession, field: str, value: object) -> None:
    async with http.post(CHAT, json=BASE | {re.split(r"[\[.]", field)[0]: value}) as response:
        error = (await response.json())["error"]
    assert response.status == (404 if field == "model" else 400)
    assert (error["param"], error["type"]) == (field, "invalid_request_error")
    assert error["message"].startswith(f"{field}: ")
    assert "\n" not in error["message"]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"messages": "hi"}, {"model", "messages"}),
        ({"model": "general", "messages": "hi", "temperature": 0.2, "user": "ann"}, {"messages"}),
        ({"model": "general", "messages": [USER], "temperature": 1, "max_tokens": "x", "n": "y"}, {"max_tokens", "n"}),
        ({"model": 7, "messages": [USER], "top_p": 1}, {"model"}),
    ],
)
async def test_validation_names_only_the_wrong_fields(
    http: aiohttp.ClientSession, body: dict[str, Any], named: set[str]
) -> None:
    async with http.post(CHAT, json=body) as response:
        message = (await response.json())["error"]["message"]
    assert {part.partition(":")[0] for part in message.split("; ")} == named
    assert "unknown" not in message


@pytest.mark.parametrize("stream", [False, True])
async def test_answer_cut_by_max_tokens(http: aiohttp.ClientSession, pipeline: Pipeline, stream: bool) -> None:
    asked: list[QuestionAsked] = []

    async def cut(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        asked.append(question)
        emitter = Emitter(pipeline.bus.journal, run_id)
        await emitter.tokens(["Within", "…"])
        settled = Settled(outcome="answered", question=question.question, answer="Within…", cut="length")
        whole = AskRecord(prompt="answer_simple", variables="", text="Within 14 days.", tokens_in=40, tokens_out=9)
        stage = Stage(actor="answer_simple", asks=(whole,))
        await pipeline.end(emitter, settled, stage=stage)

    pipeline.scripts["cut"] = cut
    body: dict[str, Any] = {"model": "general", "max_tokens": 1, "stream": stream}
    body |= {"stream_options": {"include_usage": True}} if stream else {}
    body |= {"messages": [{"role": "user", "content": "cut"}]}
    async with http.post(CHAT, json=body) as response:
        text = await response.text()
    assert '"finish_reason":"length"' in text
    assert '"finish_reason":"stop"' not in text
    assert '"usage":{"prompt_tokens":40,"completion_tokens":1,"total_tokens":41}' in text
    assert asked[0].constraints == Constraints(max_tokens=1)
