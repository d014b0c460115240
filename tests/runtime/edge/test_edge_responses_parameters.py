"""/v1/responses: what becomes of each parameter, in the body and in the query."""

from typing import get_type_hints

import aiohttp
import pytest
from openai.types.responses import response_create_params

from runtime.edge.openai.responses_asked import RULES
from runtime.edge.openai.responses_schemas import ResponseAsked
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.responding import CREATE, asked_by, created, refused
from tests.runtime.edge.response_kinds import KINDS
from tests.runtime.served import ROUTES


@pytest.fixture(autouse=True)
def kinds(pipeline: Pipeline) -> None:
    pipeline.scripts |= KINDS


async def test_the_fields_reach_the_question(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
    answer = await created(
        http,
        "환불은",
        model="library",
        max_output_tokens=9000,
        service_tier="flex",
        style="synthesis",
        language="ko",
        release="draft",
        voice="helpful",
        filter={"path": "a/*"},
        deadline_s=30,
    )
    asked = await asked_by(pipeline, answer["id"])
    assert (asked.profile, asked.constraints.max_tokens, asked.priority) == ("library", 4096, "batch")
    assert (asked.style, asked.language, asked.release, asked.voice) == ("synthesis", "ko", "draft", "helpful")
    assert (asked.deadline_s, asked.on_disconnect) == (30.0, "cancel")
    assert (answer["service_tier"], answer["max_output_tokens"]) == ("flex", 9000)


async def test_an_answer_in_a_schema(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
    schema = {"type": "object", "properties": {"weeks": {"type": "integer"}}, "required": ["weeks"]}
    format_ = {"type": "json_schema", "name": "loan", "schema": schema, "strict": True}
    answer = await created(http, "cite", text={"format": format_})
    assert (await asked_by(pipeline, answer["id"])).constraints.response_schema == schema
    assert answer["text"]["format"] == format_ | {"description": None, "schema": None}
    error = await refused(http, text={"format": format_ | {"schema": {"type": "spaceship"}}})
    assert error["param"] == "text.format.schema"


#: A value that is refused, for each parameter that is.
NOT_DONE: dict[str, dict[str, object]] = {
    "tools": {"tools": [{"type": "function", "name": "f", "parameters": {}}]},
    "tool_choice": {"tool_choice": {"type": "function", "name": "f"}},
    "include": {"include": ["message.output_text.logprobs"]},
    "top_logprobs": {"top_logprobs": 2},
    "presence_penalty": {"presence_penalty": 1},
    "frequency_penalty": {"frequency_penalty": -1},
    "stream_options": {"stream_options": {"include_obfuscation": True}},
    "conversation": {"conversation": "conv_1"},
    "prompt": {"prompt": {"id": "pmpt_1"}},
    "moderation": {"moderation": {"model": "m"}},
    "image": {"image": {"context_compression": "auto"}},
    "access_programs": {"access_programs": {"cyber": "standard"}},
    "background": {"background": True, "store": False},
    "text.format": {"text": {"format": {"type": "json_object"}}},
}


@pytest.mark.parametrize("name", [field for field, _, _ in RULES])
async def test_impossible_parameter_is_refused_by_name(http: aiohttp.ClientSession, name: str) -> None:
    error = await refused(http, **NOT_DONE[name])
    assert (error["param"], error["code"], error["type"]) == (name, "unsupported_value", "invalid_request_error")
    assert error["message"].startswith(f"{name}: ")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"nonsense": 1}, "nonsense"),
        ({"model": None}, "model"),
        ({"temperature": 3}, "temperature"),
        ({"metadata": {"a": 1}}, "metadata.a"),
        ({"input": []}, "input"),
        ({"input": " "}, "input"),
        ({"input": [{"role": "assistant", "content": "x"}]}, "input"),
        ({"input": [{"content": "x"}]}, "input[0].role"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:"}]}]},
            "input[0].content[0]",
        ),
        ({"input": [{"type": "function_call_output", "call_id": "c", "output": "x"}]}, "input[0]"),
        ({"input": [{"type": "item_reference", "id": "msg_none"}]}, "input[0].id"),
        ({"previous_response_id": "resp_none"}, "previous_response_id"),
        ({"previous_response_id": "a.b"}, "previous_response_id"),
    ],
)
async def test_errors_name_the_field(http: aiohttp.ClientSession, fields: dict[str, object], param: str) -> None:
    assert (await refused(http, **fields))["param"] == param


async def test_what_has_no_effect_is_accepted(http: aiohttp.ClientSession) -> None:
    answer = await created(
        http,
        "환불은",
        instructions="Be brief.",
        reasoning={"effort": "low", "summary": "auto"},
        temperature=0,
        top_p=0.5,
        tools=[],
        tool_choice="auto",
        parallel_tool_calls=False,
        include=["reasoning.encrypted_content"],
        text={"format": {"type": "text"}, "verbosity": "low"},
        prompt_cache_key="k",
        safety_identifier="s",
        user="u",
        stream_options={"include_obfuscation": False},
        top_logprobs=0,
        conversation=None,
    )
    assert (answer["temperature"], answer["top_p"], answer["instructions"]) == (0.0, 0.5, "Be brief.")
    assert (answer["prompt_cache_key"], answer["safety_identifier"], answer["user"]) == ("k", "s", "u")


def test_every_openai_parameter_is_known() -> None:
    known = set(ResponseAsked.__struct_fields__)
    for params in (
        response_create_params.ResponseCreateParamsNonStreaming,
        response_create_params.ResponseCreateParamsStreaming,
    ):
        assert set(get_type_hints(params)) <= known


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("", {"stream": "yes"}),
        ("", {"stream": "true", "starting_after": "-1"}),
        ("/input_items", {"limit": "0"}),
        ("/input_items", {"limit": "101"}),
        ("/input_items", {"order": "random"}),
    ],
)
async def test_a_bad_query_names_its_parameter(http: aiohttp.ClientSession, path: str, params: dict[str, str]) -> None:
    response_id = (await created(http, "환불은"))["id"]
    async with http.get(f"{CREATE}/{response_id}{path}", params=params) as response:
        assert (response.status, (await response.json())["error"]["param"]) == (400, list(params)[-1])


def test_routes_are_those_of_the_protocol() -> None:
    assert {(each.method, each.path, each.scope) for each in ROUTES if each.path.startswith(CREATE)} == {
        ("POST", CREATE, "ask"),
        ("GET", f"{CREATE}/{{response_id}}", "read"),
        ("DELETE", f"{CREATE}/{{response_id}}", "ask"),
        ("POST", f"{CREATE}/{{response_id}}/cancel", "ask"),
        ("GET", f"{CREATE}/{{response_id}}/input_items", "read"),
    }
