"""/v1/responses: each kind of answer, streamed, whole and read again; left, cancelled and repeated responses."""

import asyncio

import aiohttp
import pytest

from bus.powers.events import Error
from bus.runs.runs import Runs
from bus.wire.subjects import is_canary
from tests.polling import ended, until
from tests.runtime.edge.conftest import Pipeline, plays
from tests.runtime.edge.responding import CREATE, created, events_of, refused, streamed, text_of
from tests.runtime.edge.response_kinds import CITED_TEXT, KINDS


@pytest.fixture(autouse=True)
def kinds(pipeline: Pipeline) -> None:
    pipeline.scripts |= KINDS


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
    assert final["usage"]["output_tokens"] == len((output or "").split())
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


async def test_failure_is_an_error_of_its_status(http: aiohttp.ClientSession) -> None:
    async with http.post(CREATE, json={"model": "general", "input": "fail"}) as response:
        error = (await response.json())["error"]
    assert (response.status, error["type"], error["code"]) == (503, "server_error", "model_unavailable")


async def test_impossible_request_keeps_its_message(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
    error, fields = Error(code="invalid", content="ask for text"), {"unrun": "invalid", "code": "invalid"}
    pipeline.scripts["unfit"] = plays("", error, outcome="failed", detail="ask for text", **fields)
    async with http.post(CREATE, json={"model": "general", "input": "unfit", "background": True}) as response:
        response_id = (await response.json())["id"]
    run_id = response_id.removeprefix("resp_")
    await until(lambda: run_id in pipeline.ended)
    await pipeline.ended[run_id]
    async with http.get(f"{CREATE}/{response_id}") as response:
        assert (await response.json())["error"] == {"code": "invalid", "message": "ask for text"}


async def test_passages_without_room_are_not_quoted(http: aiohttp.ClientSession) -> None:
    response_id, sent = await streamed(http, "near", max_output_tokens=16)
    events = events_of(sent)
    final = events[-1]["response"]
    shown = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    assert final["output"][0]["content"] == [events[-3]["part"]]
    assert events[-3]["part"]["text"] == shown == "Nothing is sure:"
    assert (final["incomplete_details"], len(final["passages"])) == ({"reason": "max_output_tokens"}, 2)
    asked = await created(http, "And then?", previous_response_id=response_id)
    assert asked["status"] == "completed"


@pytest.mark.parametrize("after", [0, 3, 5])
async def test_stream_is_read_again_from_any_number(http: aiohttp.ClientSession, after: int) -> None:
    response_id, sent = await streamed(http, "cite")
    params = {"stream": "true", "starting_after": str(after)}
    async with http.get(f"{CREATE}/{response_id}", params=params) as response:
        rest = await response.text()
    assert rest
    assert sent.endswith(rest)
    assert f'"sequence_number":{after + 1},' in rest.partition("\n\n")[0]


# ---------------------------------------------------------------- under way


async def test_left_stream_ends_its_run(http: aiohttp.ClientSession, runs: Runs) -> None:
    async with http.post(CREATE, json={"model": "general", "input": "hang", "stream": True}) as response:
        await response.content.readuntil(b"output_text.delta")
        run_id = response.headers["X-Run-Id"]
        response.close()
    await ended(runs, run_id)
    response_id = f"resp_{run_id}"
    async with http.get(f"{CREATE}/{response_id}") as response:
        assert (await response.json())["status"] == "cancelled"
    async with http.get(f"{CREATE}/{response_id}", params={"stream": "true"}) as response:
        events = events_of(await response.text())
    assert events[-1]["type"] == "response.incomplete"
    assert events[-1]["response"]["incomplete_details"] == {"reason": "cancelled"}
    assert events[-2]["item"]["status"] == "incomplete"


@pytest.mark.parametrize("stream", [False, True])
async def test_background_response_lasts_until_cancelled(http: aiohttp.ClientSession, stream: bool) -> None:
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


async def test_waiting_client_learns_of_the_cancellation(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
    before = set(pipeline.ended)
    waiting = asyncio.create_task(created(http, "hang"))
    (run_id,) = await until(lambda: [each for each in pipeline.ended.keys() - before if not is_canary(each)])

    async def is_cancelled() -> bool:
        async with http.post(f"{CREATE}/resp_{run_id}/cancel") as response:
            return response.status == 200  # once it is kept

    await until(is_cancelled)
    answer = await waiting
    assert (answer["id"], answer["status"], answer["output"]) == (f"resp_{run_id}", "cancelled", [])


@pytest.mark.parametrize("headers", [{"Idempotency-Key": "one of two"}, {"x-stainless-retry-count": "1"}])
async def test_repeated_request_is_one_response(
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


async def test_deleted_response_is_gone(http: aiohttp.ClientSession) -> None:
    response_id = (await created(http, "환불은"))["id"]
    async with http.delete(f"{CREATE}/{response_id}") as response:
        assert await response.json() == {"id": response_id, "object": "response", "deleted": True}
    for method, path in (("GET", ""), ("POST", "/cancel"), ("DELETE", "")):
        async with http.request(method, f"{CREATE}/{response_id}{path}") as response:
            assert (response.status, (await response.json())["error"]["code"]) == (404, "no_such_response")
    assert (await refused(http, previous_response_id=response_id))["param"] == "previous_response_id"


async def test_unstored_response_is_answered_and_gone(http: aiohttp.ClientSession) -> None:
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
