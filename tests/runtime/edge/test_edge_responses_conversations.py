"""/v1/responses: conversations, as chains of responses and as items."""

import aiohttp
import pytest

from bus.wire.messages import Turn
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.responding import CREATE, asked_by, created, refused
from tests.runtime.edge.response_kinds import CITED_TEXT, KINDS


@pytest.fixture(autouse=True)
def kinds(pipeline: Pipeline) -> None:
    pipeline.scripts |= KINDS


async def test_chain_of_responses_is_a_conversation(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
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


@pytest.mark.parametrize("profile", ["general", "support"])
async def test_profile_masks_input_items(http: aiohttp.ClientSession, profile: str) -> None:
    answer = await created(http, "Write to anna.kim@example.org please", model=profile)
    async with http.get(f"{CREATE}/{answer['id']}/input_items") as response:
        assert ("anna.kim" in await response.text()) == (profile == "general")


async def test_too_long_conversation_is_cut_or_refused(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
    items = [{"role": ("user", "assistant")[n % 2], "content": f"turn {n}"} for n in range(61)]
    asked = await asked_by(pipeline, (await created(http, "", input=items))["id"])
    assert [asked.conversation_history[n].content for n in (0, -1)] == ["turn 10", "turn 59"]
    error = await refused(http, input=items, truncation="disabled")
    assert (error["code"], error["param"]) == ("context_length_exceeded", "input")


async def test_chain_is_limited_by_the_body_size(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
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
