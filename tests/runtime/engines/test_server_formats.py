"""The openai engine on the wire formats of model servers, written after their documentation and source, and on their refusals."""

import asyncio
import json
from typing import Any

import pytest
from click.testing import CliRunner

from bus.wire.errors import ContentRefused, Rejected, TooLong
from prompts.thinking import without_thinking
from runtime.commands.doctor import doctor_command
from runtime.engines.openai.engine import OpenAIEngine
from runtime.processes.ports import free_port
from tests.runtime.engines.fake_server import Fake, says, sends, streams
from tests.runtime.engines.sample import collect, render, request, shape

OK = shape(ok={"type": "boolean"})
DONE = "data: [DONE]\n\n"
USAGE = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
ROLE = {"role": "assistant"}


def piece(delta: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """A chunk with one choice; `more`: the fields that one make adds."""
    return {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **more,
    }


def events(*chunks: dict[str, Any], end: str = "\n", done: str = DONE) -> list[str]:
    return [*(f"data: {json.dumps(chunk)}{end}{end}" for chunk in chunks), done.replace("\n", end)]


LAST = {"choices": [], "usage": USAGE}
FRAMES = {
    "Ollama": events(
        piece(ROLE | {"content": "", "reasoning": "They ask about time."}, system_fingerprint="fp_ollama"),
        piece(ROLE | {"content": "14 "}),
        piece(ROLE | {"content": "days."}),
        piece(ROLE | {"content": ""}, "stop"),
        LAST,
    ),
    "vLLM": events(
        piece(ROLE | {"content": ""}, logprobs=None, prompt_token_ids=None),
        piece({"reasoning_content": "They ask about time."}),
        piece({"reasoning": "They ask about time."}),
        piece({"content": "14 "}),
        piece({"content": "days."}, "stop", stop_reason=None),
        LAST,
    ),
    "LM Studio": events(
        piece(ROLE | {"reasoning_content": "They ask about time."}, system_fingerprint="qwen3-4b"),
        piece(ROLE | {"content": "14 "}),
        piece(ROLE | {"content": "days."}),
        piece({}, "stop"),
        LAST,
    ),
    "llama.cpp": events(
        piece(ROLE | {"content": None}),
        piece({"reasoning_content": "They ask about time."}),
        piece({"content": "14 days."}),
        piece({}, "stop"),
        LAST | {"timings": {"predicted_n": 4, "draft_n": 0}},
    ),
    "LiteLLM": events(
        piece(ROLE | {"content": "14 ", "reasoning_content": None, "thinking_blocks": None}),
        piece({"content": "days."}),
        piece({}, "stop"),
        piece({}, usage=USAGE),
    ),
    "Anthropic": events(piece(ROLE | {"content": ""}), piece({"content": "14 days."}), piece({}, "stop"), LAST),
    "Gemini": events(
        piece(ROLE | {"content": "14 "}, usage=USAGE | {"completion_tokens": 1}),
        piece(ROLE | {"content": "days.", "extra_content": {"google": {"thought_signature": "Q"}}}, "stop", usage=USAGE),
    ),
    "Bedrock": events(
        piece(ROLE | {"content": "<reasoning>They ask about time.</reasoning>"}, service_tier="default"),
        piece({"content": "14 days."}, obfuscation="p8A"),
        piece({}, "stop"),
        LAST,
    ),
    "CRLF and comments": [": OK\r\n\r\n", *events(piece({"content": "14 days."}, "stop"), LAST, end="\r\n")],
    "no DONE": events(piece({"content": "14 days."}, "stop"), LAST, done=""),
    "nulls": events(
        {"choices": None}, piece(None), piece({"content": None}), piece({"content": "14 days."}), piece(None, "stop"), LAST
    ),
    "no spaces, named events": [
        f"event:message\nid:{n}\ndata:{json.dumps(chunk)}\n\n"
        for n, chunk in enumerate([piece({"content": "14 days."}, "stop"), LAST])
    ],
}  # fmt: skip


@pytest.mark.parametrize("frames", FRAMES.values(), ids=FRAMES)
async def test_streams_are_read(engine: OpenAIEngine, fake: Fake, frames: list[str]) -> None:
    fake.answers = [sends(*frames)]
    _, finished = await collect(engine, request(rendered=render()))
    assert without_thinking(finished.text) == "14 days."
    assert (finished.finish_reason, finished.tokens_in, finished.tokens_out) == ("stop", 9, 4)


async def test_half_of_a_surrogate_pair_is_replaced(engine: OpenAIEngine, fake: Fake) -> None:
    fake.answers = [sends(*events(piece({"content": "\ud83d 14 days."}, "stop"), LAST))]
    _, finished = await collect(engine, request(rendered=render()))
    assert finished.text == "\ufffd 14 days."


def error(message: str, **more: object) -> str:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", **more}})


#: The status and body of a server's refusal, and what the second request has of the parameter.
REFUSALS: dict[str, tuple[int, str, dict[str, Any]]] = {
    "OpenAI, max_tokens": (
        400,
        error("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
        {"max_tokens": None, "max_completion_tokens": 16},
    ),
    "OpenAI, temperature": (400, error("Unsupported value: 'temperature' does not support 0.0 here."), {"temperature": None}),
    "Gemini": (
        400,
        f"[{error('Invalid JSON payload received. Unknown name "seed": Cannot find field.', status='INVALID_ARGUMENT')}]",
        {"seed": None},
    ),
    "LiteLLM": (
        400,
        error("litellm.UnsupportedParamsError: bedrock does not support parameters: ['seed']. Set drop_params."),
        {"seed": None},
    ),
    "FastAPI": (
        422,
        '{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}',
        {"stream_options": None},
    ),
    "a form of JSON": (400, error("This response_format type is unavailable now"), {"response_format": {"type": "json_object"}}),
    "llama.cpp": (400, error("failed to parse grammar"), {"response_format": {"type": "json_object"}}),
    "vLLM": (
        400,
        '{"object":"error","message":"The JSON schema has features not supported by xgrammar.","code":400}',
        {"response_format": {"type": "json_object"}},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("status", "said", "second"), REFUSALS.values(), ids=REFUSALS)
async def test_refused_parameter_is_remembered(
    engine: OpenAIEngine, fake: Fake, status: int, said: str, second: dict[str, Any]
) -> None:
    fake.answers = [says(status, said), streams('{"ok":true}')]
    for asked in (2, 3):
        _, finished = await collect(engine, request(rendered=render(schema=OK)))
        assert (finished.text, finished.calls, len(fake.bodies)) == ('{"ok":true}', 1, asked)
        assert {name: fake.bodies[-1].get(name) for name in second} == second
    stated = json.dumps(OK) in fake.bodies[-1]["messages"][-1]["content"]
    assert stated == ("response_format" in second)


async def test_json_is_asked_for_in_words_at_last(engine: OpenAIEngine, fake: Fake) -> None:
    refusal = says(400, error("'response_format.type' must be 'text'"))
    fake.answers = [refusal, refusal, streams('{"ok":true}')]
    await collect(engine, request(rendered=render(schema=OK)))
    assert "response_format" not in fake.bodies[-1]
    assert json.dumps(OK) in fake.bodies[-1]["messages"][-1]["content"]


async def test_server_that_refuses_everything(engine: OpenAIEngine, fake: Fake) -> None:
    words = "max_tokens max_completion_tokens temperature seed stream_options reasoning_effort response_format"
    fake.answers = [says(400, error(words))]
    with pytest.raises(Rejected, match="refuses the request"):
        await collect(engine, request(rendered=render(schema=OK)))
    assert len(fake.bodies) == 8
    fake.answers = [streams('{"ok":true}')]
    await collect(engine, request(rendered=render(schema=OK)))
    assert fake.bodies[-1]["seed"] == 0  # what did not help is not remembered


NO_MODEL = "no such model or path; it lists qwen3:4b, gemma3:1b; set inference.model"


@pytest.mark.parametrize(
    ("status", "said", "failure", "message"),
    [
        (404, error('model "llama9" not found, try pulling it first'), Rejected, NO_MODEL),
        (400, error("/chat/completions: Invalid model name passed in model=llama9."), Rejected, NO_MODEL),
        (400, error("This model's maximum context length is 4096 tokens."), TooLong, "too long"),
        (400, error("max_tokens=9000 cannot be greater than max_model_len=4096.", param="max_tokens"), TooLong, "too long"),
        (400, error("The decoder prompt (length 5000) is longer than the maximum model length of 4096."), TooLong, "too long"),
        (400, error("the request exceeds the available context size", n_ctx=4096), TooLong, "too long"),
        (400, error("prompt is too long: 210000 tokens > 200000 maximum"), TooLong, "too long"),
        (400, error("The input token count (40000) exceeds the maximum number of tokens allowed (32768)."), TooLong, "too long"),
        (400, '{"message":"Input is too long for requested model."}', TooLong, "too long"),
        (400, error("litellm.ContextWindowExceededError: the prompt does not fit"), TooLong, "too long"),
        (400, error("The response was filtered", code="content_filter"), ContentRefused, "refuses the content"),
    ],
    ids=["Ollama, no model", "LiteLLM, no model", "vLLM", "vLLM, tokens", "vLLM, another", "llama.cpp", "Anthropic", "Gemini",
         "Bedrock", "LiteLLM", "a filter"],
)  # fmt: skip
async def test_refusals_have_a_cause(
    engine: OpenAIEngine, fake: Fake, status: int, said: str, failure: type[Exception], message: str
) -> None:
    fake.names, fake.answers = ["qwen3:4b", "gemma3:1b", "not a name\n"], [says(status, said)]
    await engine.start()
    with pytest.raises(failure, match=message) as failed:
        await collect(engine, request(rendered=render(schema=OK)))
    assert "\n" not in str(failed.value)
    assert len(fake.bodies) == 1


async def doctor(monkeypatch: pytest.MonkeyPatch, url: str, model: str = "") -> str:
    """The line of `groundwire doctor` about the model."""
    for name, value in {
        "COLUMNS": "300",
        "INFERENCE_ENGINE": "openai",
        "INFERENCE_BASE_URL": url,
        "INFERENCE_MODEL": model,
    }.items():
        monkeypatch.setenv(name if name == "COLUMNS" else f"GROUNDWIRE_{name}", value)
    said = await asyncio.to_thread(CliRunner().invoke, doctor_command)
    (line,) = [" ".join(line.split()) for line in said.output.splitlines() if "model" in line.split()]
    return line


async def test_doctor_names_the_models(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.names = ["qwen3:latest", "gemma3:1b"]
    assert await doctor(monkeypatch, fake.url) == f"ok model {fake.url} serves qwen3:latest; engine in force: openai"
    assert (await doctor(monkeypatch, fake.url, "qwen3")).startswith("ok model")
    wrong = await doctor(monkeypatch, fake.url, "llama9")
    assert wrong.startswith("note model the model server http://127.0.0.1:")
    assert wrong.endswith("does not list 'llama9', but qwen3:latest, gemma3:1b — set inference.model")
    away = await doctor(monkeypatch, f"http://127.0.0.1:{free_port()}/v1")
    assert away.startswith("missing model the model server http://127.0.0.1:")
    assert away.endswith("cannot be reached (ConnectError); check that it runs and is not overloaded")
