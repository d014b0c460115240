"""An unverified sentence is marked for every client, over every protocol."""

import json

import aiohttp
import mcp
import openai
import pytest
from groundwire.client import Client, Question
from rich.console import Console

from bus.wire.messages import QuestionAsked
from runtime.commands.answer_shown import OverHttp, show
from tests.runtime.edge.citing import DOUBTED, PLACE, UNVERIFIED, doubt
from tests.runtime.edge.conftest import Pipeline

QUESTION = "doubt how long do refunds take?"


@pytest.fixture(autouse=True)
def script(pipeline: Pipeline) -> None:
    pipeline.scripts["doubt"] = doubt


def check_events(events: list[dict[str, object]]) -> None:
    tokens = [each for each in events if each["type"] == "token"]
    marked = "".join(str(each["content"]) for each in tokens if "unverified" in each)
    assert marked.strip() == UNVERIFIED.text
    assert tokens[-1]["unverified_at"] == [list(PLACE)]


async def test_events_and_record(edge: str, http: aiohttp.ClientSession) -> None:
    async with http.post(f"{edge}/v1/runs", json={"question": QUESTION}) as response:
        run_id = response.headers["X-Run-Id"]
        sent = (await response.text()).splitlines()
    lines = [line.removeprefix("data: ") for line in sent if line.startswith("data: ")]
    check_events(list(map(json.loads, lines)))
    resumed = f"{edge}/v1/runs/{run_id}/events?after=7"
    async with http.get(resumed) as response:
        later = [
            line.removeprefix("data: ") for line in (await response.text()).splitlines() if line.startswith("data: ")
        ]
    assert later == lines[7:]
    async with http.get(f"{edge}/v1/runs/{run_id}") as response:
        (found,) = (await response.json())["unverified"]
    assert (found["text"], found["answer_start"], found["answer_end"]) == (UNVERIFIED.text, *PLACE)
    assert found["flags"][0]["kind"] == "low_overlap"


async def test_websocket(edge: str, http: aiohttp.ClientSession) -> None:
    events: list[dict[str, object]] = []
    async with http.ws_connect(f"{edge}/v1/ws") as socket:
        await socket.send_json({"question": QUESTION})
        while not events or events[-1]["type"] != "DONE":
            events.append((await socket.receive_json())["event"])
    check_events(events)


async def test_python_client(edge: str) -> None:
    async with Client(edge, key="") as client, client.stream(Question(question=QUESTION)) as stream:
        text = await stream.text_at_end()
        assert [text[slice(*each)] for each in stream.unverified_at] == [UNVERIFIED.text]
        assert [each.text for each in (await stream.record()).unverified] == [UNVERIFIED.text]


async def test_terminal(edge: str, capsys: pytest.CaptureFixture[str]) -> None:
    async with Client(edge, key="") as client:
        await show(OverHttp(client, QuestionAsked(question=QUESTION)), console=Console(width=200, markup=False))
    assert f"[not verified] {UNVERIFIED.text} (too little is in the evidence)" in capsys.readouterr().out


@pytest.mark.parametrize("stream", [False, True])
async def test_openai_chat(edge: str, stream: bool) -> None:
    async with openai.AsyncOpenAI(base_url=f"{edge}/v1", api_key="none") as client:
        chat = client.chat.completions
        messages = [{"role": "user", "content": QUESTION}]
        if stream:
            *_, last = [each async for each in await chat.create(model="general", messages=messages, stream=True)]  # type: ignore[call-overload]
        else:
            last = await chat.create(model="general", messages=messages)  # type: ignore[call-overload]
            assert last.choices[0].message.content == DOUBTED
        plain = await chat.create(model="general", messages=[{"role": "user", "content": "one two"}])
    assert last.model_extra["unverified_at"] == [list(PLACE)]
    assert "unverified_at" not in (plain.model_extra or {})


async def test_openai_responses(edge: str) -> None:
    async with openai.AsyncOpenAI(base_url=f"{edge}/v1", api_key="none") as client:
        made = await client.responses.create(model="general", input=QUESTION)
        plain = await client.responses.create(model="general", input="one two")
    assert made.model_extra
    assert made.model_extra["unverified_at"] == [list(PLACE)]
    assert "unverified_at" not in (plain.model_extra or {})


async def test_ai_sdk(edge: str, http: aiohttp.ClientSession) -> None:
    asked = {
        "id": "c1",
        "messages": [{"role": "user", "parts": [{"type": "text", "text": QUESTION}]}],
        "events": "default",
    }
    async with http.post(f"{edge}/api/chat", json=asked) as response:
        sent = [
            line.removeprefix("data: ") for line in (await response.text()).splitlines() if line.startswith("data: {")
        ]
    (part,) = [each for each in map(json.loads, sent) if each["type"] == "data-unverified"]
    (found,) = part["data"]
    units = DOUBTED.encode("utf-16-le")
    assert (
        units[2 * found["start_index"] : 2 * found["end_index"]].decode("utf-16-le") == UNVERIFIED.text == found["text"]
    )


async def test_mcp(edge: str) -> None:
    async with mcp.Client(f"{edge}/mcp") as client:
        result = await client.call_tool("ask", {"question": QUESTION})
    (found,) = (result.structured_content or {})["unverified"]
    assert (found["text"], found["answer_start"], found["answer_end"]) == (UNVERIFIED.text, *PLACE)
    assert result.content[0].text.endswith(f"Unverified, goes beyond its source: {UNVERIFIED.text}")  # type: ignore[union-attr]
