"""What each of OpenAI's fields does here: it is part of the question, has no effect, or is refused by name."""

import re
from typing import Any

import aiohttp
import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming as ChatParams
from openai.types.completion_create_params import CompletionCreateParamsStreaming as TextParams

from bus.journal.records import AskRecord, Stage
from bus.powers.events import Done, Emitter, TokensEnd
from bus.wire.messages import Constraints, QuestionAsked, RunFinished, Settled
from bus.wire.subjects import finished
from tests.runtime.edge.conftest import Pipeline

CHAT, TEXT = "/v1/chat/completions", "/v1/completions"
USER = {"role": "user", "content": "How long?"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
SCHEMA = {
    "type": "object",
    "properties": {"days": {"type": "integer"}},
    "required": ["days"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}

#: Values that are accepted, of fields that do something and of those that do nothing.
HONOURED: dict[str, dict[str, Any]] = {
    CHAT: {
        "messages": [USER],
        "model": "library",
        "max_tokens": 1,
        "max_completion_tokens": 9000,
        "stop": ["END", "\n\n"],
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}},
        "stream": True,
        "stream_options": {"include_usage": True},
    },
    TEXT: {
        "prompt": ["How long?"],
        "model": "library",
        "max_tokens": 1,
        "stop": "END",
        "stream": True,
        "stream_options": {"include_usage": True},
        "echo": True,
    },
}
WITHOUT_EFFECT: dict[str, dict[str, Any]] = {
    CHAT: {
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
    },
    TEXT: {
        "temperature": 0,
        "top_p": 1,
        "seed": 7,
        "user": "ann",
        "n": 1,
        "best_of": 1,
        "suffix": "",
        "presence_penalty": 0,
        "frequency_penalty": 0,
        "logit_bias": {},
    },
}
REFUSED: list[tuple[str, str, Any]] = [
    (CHAT, "n", 2),
    (CHAT, "n", 0),
    (CHAT, "presence_penalty", 0.5),
    (CHAT, "frequency_penalty", -0.5),
    (CHAT, "logit_bias", {"50256": -100}),
    (CHAT, "logprobs", True),
    (CHAT, "top_logprobs", 3),
    (CHAT, "tool_choice", "required"),
    (CHAT, "tool_choice", {"type": "function", "function": {"name": "f"}}),
    (CHAT, "function_call", {"name": "f"}),
    (CHAT, "modalities", ["text", "audio"]),
    (CHAT, "audio", {"voice": "alloy", "format": "wav"}),
    (CHAT, "web_search_options", {}),
    (CHAT, "stop", ["a", "b", "c", "d", "e"]),
    (CHAT, "stop", ""),
    (CHAT, "response_format.type", {"type": "json_object"}),
    (CHAT, "response_format.json_schema.schema", {"type": "json_schema", "json_schema": {"name": "a"}}),
    (
        CHAT,
        "response_format.json_schema.schema",
        {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "array"}}},
    ),
    (CHAT, "max_tokens", 0),
    (CHAT, "max_completion_tokens", "many"),
    (CHAT, "stream", "yes"),
    (CHAT, "messages[1].content[1].type", [USER, {"role": "user", "content": [{"type": "text", "text": "a"}, IMAGE]}]),
    (CHAT, "messages[0].content[0].type", [{"role": "user", "content": [{"type": "input_audio"}]}]),
    (CHAT, "messages", "hi"),
    (CHAT, "messages[0].role", [{"content": "hi"}]),
    (CHAT, "model", "gpt-9"),
    (CHAT, "deadline_s", 0),
    (TEXT, "n", 3),
    (TEXT, "best_of", 3),
    (TEXT, "logprobs", 0),
    (TEXT, "suffix", "end"),
    (TEXT, "prompt", ["one", "two"]),
    (TEXT, "prompt", []),
    (TEXT, "prompt", [1, 2, 3]),
    (TEXT, "prompt", [[1, 2, 3]]),
    (TEXT, "model", "gpt-9"),
]


def base(path: str) -> dict[str, Any]:
    return {"model": "general"} | ({"messages": [USER]} if path == CHAT else {"prompt": "How long?"})


@pytest.mark.parametrize(("path", "params"), [(CHAT, ChatParams), (TEXT, TextParams)])
def test_every_documented_field_has_a_row(path: str, params: type) -> None:
    refused = {re.split(r"[\[.]", field)[0] for of, field, _ in REFUSED if of == path}
    assert params.__annotations__.keys() <= HONOURED[path].keys() | WITHOUT_EFFECT[path].keys() | refused


@pytest.mark.parametrize(
    ("path", "field"),
    [(path, field) for table in (HONOURED, WITHOUT_EFFECT) for path in table for field in table[path]],
)
async def test_it_is_accepted(http: aiohttp.ClientSession, path: str, field: str) -> None:
    value = HONOURED[path].get(field, WITHOUT_EFFECT[path].get(field))
    async with http.post(path, json=base(path) | {field: value}) as response:
        assert response.status == 200, await response.text()
        assert (await response.text()).rstrip().endswith("data: [DONE]" if field == "stream" else "}")


async def test_all_ineffective_fields_at_once(http: aiohttp.ClientSession) -> None:
    async with http.post(CHAT, json=base(CHAT) | WITHOUT_EFFECT[CHAT]) as response:
        assert response.status == 200, await response.text()


@pytest.mark.parametrize(("path", "field", "value"), REFUSED)
async def test_it_is_refused_by_name(http: aiohttp.ClientSession, path: str, field: str, value: object) -> None:
    async with http.post(path, json=base(path) | {re.split(r"[\[.]", field)[0]: value}) as response:
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


@pytest.mark.parametrize("path", [CHAT, TEXT])
@pytest.mark.parametrize("stream", [False, True])
async def test_answer_cut_by_max_tokens_is_marked(
    http: aiohttp.ClientSession, pipeline: Pipeline, path: str, stream: bool
) -> None:
    asked: list[QuestionAsked] = []

    async def cut(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        asked.append(question)
        emitter = Emitter(pipeline.bus.journal, run_id)
        await emitter.tokens(["Within", "…"])
        settled = Settled(outcome="answered", question=question.question, answer="Within…", cut="length")
        whole = AskRecord(prompt="answer_simple", variables="", text="Within 14 days.", tokens_in=40, tokens_out=9)
        stage = Stage(actor="answer_simple", asks=(whole,))
        await pipeline.bus.journal.write(finished(run_id), RunFinished(settled=settled), stage=stage)
        await emitter.events(TokensEnd(), Done())

    pipeline.scripts["cut"] = cut
    body: dict[str, Any] = {"model": "general", "max_tokens": 1, "stop": "END", "stream": stream}
    body |= {"stream_options": {"include_usage": True}} if stream else {}
    body |= {"messages": [{"role": "user", "content": "cut"}]} if path == CHAT else {"prompt": "cut"}
    async with http.post(path, json=body) as response:
        text = await response.text()
    assert '"finish_reason":"length"' in text
    assert '"finish_reason":"stop"' not in text
    assert '"usage":{"prompt_tokens":40,"completion_tokens":1,"total_tokens":41}' in text
    assert asked[0].constraints == Constraints(max_tokens=1, stop=("END",))
