"""/v1/responses: each kind of answer, streamed, whole and read again; conversations; what becomes of each parameter."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, get_type_hints

import aiohttp
import openai
import pytest
from openai.types.responses import response_create_params

from bus.messages import QuestionAsked, Turn
from bus.subjects import key_of
from runtime.edge.app import all_routes
from runtime.edge.openai.responses_asked import RULES
from runtime.edge.openai.responses_schemas import ResponseAsked
from runtime.edge.sse import COMMENT
from tests.polling import until
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.response_kinds import CITED_TEXT, KINDS

CREATE = "/v1/responses"


@pytest.fixture(autouse=True)
def kinds(pipeline: Pipeline) -> None:
    pipeline.scripts |= KINDS


@pytest.fixture
async def client(edge: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{edge}/v1", api_key="none", max_retries=0) as made:
        yield made


async def created(http: aiohttp.ClientSession, asked: str, **fields: object) -> dict[str, Any]:
    async with http.post(CREATE, json={"model": "general", "input": asked} | fields) as response:
        found: dict[str, Any] = await response.json()
        assert response.status == 200, found
        return found


async def refused(http: aiohttp.ClientSession, **fields: object) -> dict[str, Any]:
    async with http.post(CREATE, json={"model": "general", "input": "How long?"} | fields) as response:
        found: dict[str, Any] = await response.json()
        assert response.status == 400, found
        error: dict[str, Any] = found["error"]
        return error


async def streamed(http: aiohttp.ClientSession, text: str, **fields: object) -> tuple[str, str]:
    """The id of a streamed response, and all that was sent."""
    body = {"model": "general", "input": text, "stream": True} | fields
    async with http.post(CREATE, json=body) as response:
        assert response.content_type == "text/event-stream"
        return f"resp_{response.headers['X-Run-Id']}", await text_of(response)


async def text_of(response: aiohttp.ClientResponse) -> str:
    """A whole stream without the comments that come where the run is silent."""
    return (await response.text()).replace(COMMENT.decode(), "")


def events_of(sent: str) -> list[dict[str, Any]]:
    """The events of a stream, whose names must be their types, and which must end with [DONE]."""
    blocks = [block.split("\n") for block in sent.split("\n\n") if block]
    assert blocks.pop() == ["data: [DONE]"]
    events = []
    for name, data in blocks:
        events.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {events[-1]['type']}"
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return events


async def asked_by(pipeline: Pipeline, response_id: str) -> QuestionAsked:
    run_id = response_id.removeprefix("resp_")
    found = (await pipeline.bus.journal.latest([key_of(QuestionAsked, run_id).subject]))[0].message
    assert isinstance(found, QuestionAsked)
    return found


# ---------------------------------------------------------------- each kind of answer

#: What a kind of answer ends with: the status, the event, the outcome, the text of the response, that of the deltas if it differs.
KINDS_OF_ANSWERS = [
    ("환불은 며칠", "completed", "completed", "answered", "환불은 며칠 [1]", None),
    ("cite", "completed", "completed", "answered", CITED_TEXT, None),
    ("cut", "incomplete", "incomplete", "answered", CITED_TEXT[:20], None),
    ("refuse", "completed", "completed", "refused", "The documents do not say.", None),
    ("near", "completed", "completed", "closest", "Nothing is sure:\n\n**1. [환불", None),
    ("withdraw", "incomplete", "incomplete", "refused", "It is withdrawn.", "Within 90 days [1].\n\nIt is withdrawn."),
    ("fail", "failed", "failed", "failed", None, "Half of"),
]


@pytest.mark.parametrize(("text", "status", "last", "outcome", "said", "deltas"), KINDS_OF_ANSWERS)
async def test_every_kind_of_answer(
    http: aiohttp.ClientSession, text: str, status: str, last: str, outcome: str, said: str | None, deltas: str | None
) -> None:
    response_id, sent = await streamed(http, text, metadata={"mine": "1"})
    events = events_of(sent)
    final = events[-1]["response"]
    assert events[-1]["type"] == f"response.{last}"
    assert (final["status"], final["outcome"]) == (status, outcome)
    assert final["metadata"]["mine"] == "1"
    assert final["metadata"]["groundwire_outcome"] == outcome
    shown = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    assert shown.startswith(deltas or said or "")
    output = final["output"][0]["content"][0]["text"] if final["output"] else None
    assert output is None if said is None else output.startswith(said)
    async with http.get(f"{CREATE}/{response_id}") as response:  # the same, whenever it is looked at
        assert await response.json() == final
    async with http.get(f"{CREATE}/{response_id}", params={"stream": "true"}) as response:
        assert await text_of(response) == sent


async def test_the_order_of_a_cited_answer(http: aiohttp.ClientSession) -> None:
    _, sent = await streamed(http, "cite")
    events = events_of(sent)
    kinds = list(dict.fromkeys(event["type"].removeprefix("response.") for event in events))
    assert kinds == [
        "created", "in_progress", "output_item.added", "content_part.added", "output_text.delta",
        "output_text.annotation.added", "output_text.done", "content_part.done", "output_item.done", "completed",
    ]  # fmt: skip
    part = events[-1]["response"]["output"][0]["content"][0]
    added = [event["annotation"] for event in events if event["type"].endswith("annotation.added")]
    assert part == events[-3]["part"] == events[-2]["item"]["content"][0]
    assert part["annotations"] == added
    assert [part["text"][each["start_index"] : each["end_index"]] for each in added] == ["[1]", "[2]"]
    assert added[0]["url"] == "https://example.org/handbook#loans"
    assert added[1]["title"] == "fees 2026.md"
    assert added[1]["url"].startswith(f"http://{http._base_url.authority}/sources/fees%202026.md?")  # type: ignore[union-attr]


async def test_what_was_withdrawn_cites_nothing(http: aiohttp.ClientSession) -> None:
    _, sent = await streamed(http, "withdraw")
    assert "annotation.added" not in sent
    assert events_of(sent)[-1]["response"]["references"] == []


async def test_the_closest_passages_are_sources_too(http: aiohttp.ClientSession) -> None:
    _, sent = await streamed(http, "near")
    part = events_of(sent)[-1]["response"]["output"][0]["content"][0]
    shown = [part["text"][each["start_index"] : each["end_index"]] for each in part["annotations"]]
    assert [each.partition("**")[2][:2] for each in shown] == ["1.", "2."]
    assert part["text"].endswith(shown[1])
    assert [each["title"] for each in part["annotations"]] == ["환불 <규정>", "file.txt"]


async def test_a_failure_is_an_error_of_its_status(http: aiohttp.ClientSession) -> None:
    async with http.post(CREATE, json={"model": "general", "input": "fail"}) as response:
        error = (await response.json())["error"]
    assert (response.status, error["type"], error["code"]) == (503, "server_error", "model_unavailable")


@pytest.mark.parametrize("after", [0, 3, 5])
async def test_a_stream_is_read_again_from_any_number(http: aiohttp.ClientSession, after: int) -> None:
    response_id, sent = await streamed(http, "cite")
    params = {"stream": "true", "starting_after": str(after)}
    async with http.get(f"{CREATE}/{response_id}", params=params) as response:
        rest = await response.text()
    assert rest
    assert sent.endswith(rest)
    assert f'"sequence_number":{after + 1},' in rest.partition("\n\n")[0]


# ---------------------------------------------------------------- under way


async def test_a_stream_that_is_left_ends_its_run(http: aiohttp.ClientSession) -> None:
    async with http.post(CREATE, json={"model": "general", "input": "hang", "stream": True}) as response:
        await response.content.readuntil(b"output_text.delta")
        response_id = f"resp_{response.headers['X-Run-Id']}"
        response.close()

    async def cancelled() -> bool:
        async with http.get(f"{CREATE}/{response_id}") as response:
            return bool((await response.json())["status"] == "cancelled")

    await until(cancelled)
    async with http.get(f"{CREATE}/{response_id}", params={"stream": "true"}) as response:
        events = events_of(await response.text())
    assert events[-1]["type"] == "response.incomplete"
    assert events[-1]["response"]["incomplete_details"] == {"reason": "cancelled"}
    assert events[-2]["item"]["status"] == "incomplete"


@pytest.mark.parametrize("stream", [False, True])
async def test_in_the_background_it_goes_on_until_it_is_cancelled(http: aiohttp.ClientSession, stream: bool) -> None:
    body = {"model": "general", "input": "hang", "background": True, "stream": stream}
    async with http.post(CREATE, json=body) as response:
        response_id = f"resp_{response.headers['X-Run-Id']}"
        if stream:
            await response.content.readuntil(b"output_text.delta")
            response.close()
        else:
            begun = await response.json()
            assert (begun["id"], begun["status"], begun["background"]) == (response_id, "in_progress", True)
    async with http.get(f"{CREATE}/{response_id}") as response:
        assert (await response.json())["status"] == "in_progress"
    async with http.post(f"{CREATE}/{response_id}/cancel") as response:
        ended = await response.json()
    assert (ended["status"], ended["output"]) == ("cancelled", [])
    async with http.post(f"{CREATE}/{response_id}/cancel") as response:  # once more, without effect
        assert await response.json() == ended


async def test_whoever_waits_is_told_that_it_was_cancelled(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
    before = set(pipeline.ended)
    waiting = asyncio.create_task(created(http, "hang"))
    (run_id,) = await until(lambda: set(pipeline.ended) - before)

    async def is_cancelled() -> bool:
        async with http.post(f"{CREATE}/resp_{run_id}/cancel") as response:
            return response.status == 200  # once it is kept

    await until(is_cancelled)
    answer = await waiting
    assert (answer["id"], answer["status"], answer["output"]) == (f"resp_{run_id}", "cancelled", [])


@pytest.mark.parametrize("headers", [{"Idempotency-Key": "one of two"}, {"x-stainless-retry-count": "1"}])
async def test_a_request_that_is_repeated_is_one_response(
    http: aiohttp.ClientSession, headers: dict[str, str], pipeline: Pipeline
) -> None:
    body = {"model": "general", "input": f"환불은 {len(headers)} {next(iter(headers))}", "metadata": {"a": "b"}}
    first = {name: said for name, said in headers.items() if name == "Idempotency-Key"}
    async with http.post(CREATE, json=body, headers=first) as response:
        answer = await response.json()
    async with http.post(CREATE, json=body, headers=headers) as response:
        assert await response.json() == answer
    async with http.post(CREATE, json=body | {"stream": True}, headers=headers) as response:
        assert events_of(await response.text())[-1]["response"]["id"] == answer["id"]


async def test_what_is_deleted_is_gone(http: aiohttp.ClientSession) -> None:
    response_id = (await created(http, "환불은"))["id"]
    async with http.delete(f"{CREATE}/{response_id}") as response:
        assert await response.json() == {"id": response_id, "object": "response", "deleted": True}
    for method, path in (("GET", ""), ("GET", "/input_items"), ("POST", "/cancel"), ("DELETE", "")):
        async with http.request(method, f"{CREATE}/{response_id}{path}") as response:
            assert (response.status, (await response.json())["error"]["code"]) == (404, "no_such_response")
    assert (await refused(http, previous_response_id=response_id))["param"] == "previous_response_id"


async def test_what_is_not_stored_is_answered_and_gone(http: aiohttp.ClientSession) -> None:
    for stream in (False, True):
        if stream:
            response_id, sent = await streamed(http, "환불은", store=False)
            final = events_of(sent)[-1]["response"]
        else:
            final = await created(http, "환불은", store=False)
            response_id = final["id"]
        assert (final["status"], final["store"]) == ("completed", False)
        async with http.get(f"{CREATE}/{response_id}") as response:
            assert response.status == 404
        assert (await refused(http, previous_response_id=response_id))["code"] == "previous_response_not_found"


# ---------------------------------------------------------------- conversations


async def test_a_chain_of_responses_is_a_conversation(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
    first = await created(http, "cite", model="tutor", instructions="Be a pirate.")
    second = await created(http, "near", previous_response_id=first["id"], model="general")
    third = await created(http, "And then?", previous_response_id=second["id"])
    assert (third["previous_response_id"], third["instructions"]) == (second["id"], None)
    asked = await asked_by(pipeline, third["id"])
    nearest = second["output"][0]["content"][0]["text"]
    assert asked.conversation_history == (
        Turn(role="user", content="cite"),
        Turn(role="assistant", content=CITED_TEXT),
        Turn(role="user", content="near"),
        Turn(role="assistant", content=nearest),
    )
    inherited = await created(http, "And?", previous_response_id=first["id"], model=None)
    assert inherited["model"] == "tutor"


async def test_items_become_the_history_and_the_question(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
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
    asked = await asked_by(pipeline, answer["id"])
    assert asked.question == "And the retakes?"
    assert [(turn.role, turn.content) for turn in asked.conversation_history] == [
        ("user", "When are the exams?"),
        ("assistant", "In June [1]."),
        ("user", "cite"),
        ("assistant", CITED_TEXT),
    ]
    async with http.get(f"{CREATE}/{answer['id']}/input_items", params={"order": "asc", "limit": "2"}) as response:
        page = await response.json()
    assert [item["role"] for item in page["data"]] == ["developer", "user"]
    assert page["has_more"]
    async with http.get(f"{CREATE}/{answer['id']}/input_items", params={"after": page["data"][1]["id"]}) as response:
        assert [item["role"] for item in (await response.json())["data"]] == ["developer"]


async def test_input_items_are_masked(http: aiohttp.ClientSession) -> None:
    answer = await created(http, "Write to anna.kim@example.org please")
    async with http.get(f"{CREATE}/{answer['id']}/input_items") as response:
        assert "anna.kim" not in await response.text()


async def test_a_conversation_that_is_too_long_is_cut_or_refused(
    http: aiohttp.ClientSession, pipeline: Pipeline
) -> None:
    items = [{"role": ("user", "assistant")[n % 2], "content": f"turn {n}"} for n in range(61)]
    asked = await asked_by(pipeline, (await created(http, "", input=items))["id"])
    assert [asked.conversation_history[n].content for n in (0, -1)] == ["turn 10", "turn 59"]
    error = await refused(http, input=items, truncation="disabled")
    assert (error["code"], error["param"]) == ("context_length_exceeded", "input")


async def test_a_chain_is_no_longer_than_a_body(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
    previous = None
    for n in range(4):
        items = [{"role": "user", "content": f"{n} " + "가" * 3900} for _ in range(2)]
        items.append({"role": "user", "content": "And?"})
        previous = (await created(http, "", input=items, previous_response_id=previous))["id"]
    history = (await asked_by(pipeline, previous)).conversation_history  # type: ignore[arg-type]
    assert 50_000 < sum(len(turn.content.encode()) for turn in history) <= 65_536
    assert history[-1].content.startswith("3 ")
    error = await refused(http, previous_response_id=previous, truncation="disabled", input=items)
    assert error["code"] == "context_length_exceeded"


async def test_references_that_are_cut_off_are_not_looked_up(http: aiohttp.ClientSession) -> None:
    items: list[object] = [{"type": "item_reference", "id": "msg_gone"}]
    items += [{"role": "user", "content": f"turn {n}"} for n in range(51)]
    assert (await created(http, "", input=items))["status"] == "completed"
    assert (await refused(http, input=items[:51]))["param"] == "input[0].id"


async def test_what_has_not_ended_is_not_continued(http: aiohttp.ClientSession) -> None:
    going = await created(http, "hang", background=True)
    error = await refused(http, previous_response_id=going["id"])
    assert error["param"] == "previous_response_id"
    assert "has not ended yet" in error["message"]
    async with http.post(f"{CREATE}/{going['id']}/cancel") as response:
        assert response.status == 200
    assert (await created(http, "And?", previous_response_id=going["id"]))["status"] == "completed"


# ---------------------------------------------------------------- parameters


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
async def test_what_cannot_be_done_is_refused_by_name(http: aiohttp.ClientSession, name: str) -> None:
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
async def test_mistakes_are_told_with_the_field(
    http: aiohttp.ClientSession, fields: dict[str, object], param: str
) -> None:
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


def test_every_parameter_of_the_openai_client_is_known() -> None:
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


def test_the_routes_are_those_of_the_protocol() -> None:
    assert {(each.method, each.path, each.scope) for each in all_routes() if each.path.startswith(CREATE)} == {
        ("POST", CREATE, "ask"),
        ("GET", f"{CREATE}/{{response_id}}", "read"),
        ("DELETE", f"{CREATE}/{{response_id}}", "ask"),
        ("POST", f"{CREATE}/{{response_id}}/cancel", "ask"),
        ("GET", f"{CREATE}/{{response_id}}/input_items", "read"),
    }
