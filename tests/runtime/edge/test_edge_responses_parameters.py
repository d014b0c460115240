"""/v1/responses: each parameter, in the body and in the query; conversations, as chains of responses and as items."""

from typing import get_type_hints

import aiohttp
import pytest
from groundwire.wire import Turn
from openai.types.responses import response_create_params

from runtime.edge.openai.responses_asked import RULES
from runtime.edge.openai.responses_schemas import ResponseAsked
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.responding import CREATE, created, refused
from tests.runtime.edge.response_kinds import CITED_TEXT, KINDS


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
    asked = await pipeline.asked(answer["id"])
    assert (asked.profile, asked.constraints.max_tokens, asked.priority) == ("library", 4096, "batch")
    assert (asked.style, asked.language, asked.release, asked.voice) == ("synthesis", "ko", "draft", "helpful")
    assert (asked.deadline_s, asked.on_disconnect) == (30.0, "cancel")
    assert (answer["service_tier"], answer["max_output_tokens"]) == ("flex", 9000)


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
    "text.format": {"text": {"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}}}},
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
    ("path", "params"), [("", {"stream": "yes"}), ("", {"stream": "true", "starting_after": "-1"})]
)
async def test_a_bad_query_names_its_parameter(http: aiohttp.ClientSession, path: str, params: dict[str, str]) -> None:
    response_id = (await created(http, "환불은"))["id"]
    async with http.get(f"{CREATE}/{response_id}{path}", params=params) as response:
        assert (response.status, (await response.json())["error"]["param"]) == (400, list(params)[-1])


async def test_chain_of_responses_is_a_conversation(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
    first = await created(http, "cite", model="tutor", instructions="Be a pirate.")
    second = await created(http, "near", previous_response_id=first["id"], model="general")
    third = await created(http, "And then?", previous_response_id=second["id"])
    assert (third["previous_response_id"], third["instructions"]) == (second["id"], None)
    asked = await pipeline.asked(third["id"])
    nearest = second["output"][0]["content"][0]["text"]
    assert asked.conversation_history == (
        Turn(role="user", content="cite"),
        Turn(role="assistant", content=CITED_TEXT),
        Turn(role="user", content="near"),
        Turn(role="assistant", content=nearest),
    )
    began = first["id"].removeprefix("resp_")
    async with http.get("/v1/runs", params={"conversation": began}) as response:
        listed = [(run["question"], run["conversation"]) for run in (await response.json())["runs"]]
    assert listed == [("And then?", began), ("near", began), ("cite", began)]
    inherited = await created(http, "And?", previous_response_id=first["id"], model=None)
    assert inherited["model"] == "tutor"


async def test_items_become_history_and_question(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
    earlier = await created(http, "cite")
    items = [
        {"role": "developer", "content": "You are a pirate."},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "When are the exams?"}]},
        {
            "role": "assistant",
            "content": [{"type": "output_text", "text": "In June [1].", "annotations": []}],
            "id": "msg_1",
        },
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"role": "user", "content": "cite"},
        {"type": "item_reference", "id": earlier["output"][0]["id"]},
        {"role": "user", "content": [{"type": "input_text", "text": "And the retakes?"}]},
    ]
    answer = await created(http, "", input=items)
    asked = await pipeline.asked(answer["id"])
    assert asked.question == "And the retakes?"
    assert [(turn.role, turn.content) for turn in asked.conversation_history] == [
        ("user", "When are the exams?"),
        ("assistant", "In June [1]."),
        ("user", "cite"),
        ("assistant", CITED_TEXT),
    ]


async def test_too_long_conversation_is_cut_or_refused(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
    items = [{"role": ("user", "assistant")[n % 2], "content": f"turn {n}"} for n in range(61)]
    asked = await pipeline.asked((await created(http, "", input=items))["id"])
    assert [asked.conversation_history[n].content for n in (0, -1)] == ["turn 10", "turn 59"]
    error = await refused(http, input=items, truncation="disabled")
    assert (error["code"], error["param"]) == ("context_length_exceeded", "input")


async def test_chain_is_limited_by_the_body_size(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
    previous = None
    for n in range(4):
        items = [{"role": "user", "content": f"{n} " + "가" * 3900} for _ in range(2)]
        items.append({"role": "user", "content": "And?"})
        previous = (await created(http, "", input=items, previous_response_id=previous))["id"]
    history = (await pipeline.asked(previous)).conversation_history  # type: ignore[arg-type]
    assert 50_000 < sum(len(turn.content.encode()) for turn in history) <= 65_536
    assert history[-1].content.startswith("3 ")
    error = await refused(http, previous_response_id=previous, truncation="disabled", input=items)
    assert error["code"] == "context_length_exceeded"


async def test_truncated_references_are_not_read(http: aiohttp.ClientSession) -> None:
    items: list[object] = [{"type": "item_reference", "id": "msg_gone"}]
    items += [{"role": "user", "content": f"turn {n}"} for n in range(51)]
    assert (await created(http, "", input=items))["status"] == "completed"
    assert (await refused(http, input=items[:51]))["param"] == "input[0].id"


async def test_unfinished_response_is_not_continued(http: aiohttp.ClientSession) -> None:
    going = await created(http, "hang", background=True)
    error = await refused(http, previous_response_id=going["id"])
    assert error["param"] == "previous_response_id"
    assert "has not ended yet" in error["message"]
    async with http.post(f"{CREATE}/{going['id']}/cancel") as response:
        assert response.status == 200
    assert (await created(http, "And?", previous_response_id=going["id"]))["status"] == "completed"
