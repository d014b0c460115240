"""The AI SDK (`ai` and `@ai-sdk/react`, as a page's useChat uses them) against /api/chat: its transport checks every chunk."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

import aiohttp
import pytest

from bus.journal.access import Access
from bus.powers.events import Done, Emitter, Error, StageEvent, VerdictEvent, Withheld, tokens_of
from bus.runs.runs import Runs
from bus.wire.messages import QuestionAsked
from bus.wire.settled import Settled
from runtime.settings import AccessSettings, EdgeSettings, Settings
from tests.clients.installed import node_in
from tests.clients.table import Row
from tests.clients.talking import Client, client
from tests.faults.door import World, world
from tests.faults.door import edge as an_edge
from tests.polling import ended
from tests.runtime.edge.citing import FAILS, WITHDRAWN, place, reference
from tests.runtime.edge.conftest import Bus, Pipeline, plays

__all__ = ["world"]  # a fixture

ROWS = (Row(name="AI SDK, `useChat`", over="/api/chat", package="ai", pins="node/ai-sdk"),)

#: Before the first marker, one of our characters is two in JavaScript.
ANSWER = "👩 Refunds take 14 days [1]. Shipping is not refunded [2]."
_names = itertools.count()


_REFUNDS, _TERMS = "/sources/shop/refunds.md", "https://example.org/terms.pdf"
REFERENCES = (
    reference("shop/refunds.md", "Refunds", _REFUNDS, place(1, f"{_REFUNDS}?start=0&end=14", 0, "within 14 days")),
    reference("terms.pdf", "Terms", _TERMS, place(2, f"{_TERMS}#page=2", 0, "not refunded")),
)


class Script:
    """An answer that emits its first words, and the rest on the test's command."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()

    async def __call__(self, pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id, everything=question.events == "all")
        await emitter.aside(StageEvent(stage="retrieve", lane="main", status="start"))
        first, *rest = tokens_of(ANSWER)
        await emitter.tokens([first])
        await self.go_on.wait()
        await emitter.aside(Withheld(content="They take 90 days.", flags=()))
        await emitter.tokens(rest)
        await emitter.aside(VerdictEvent(re_gate="clean", confidence="high", outcome="answered"))
        settled = Settled(
            outcome="answered",
            question=question.question,
            answer=ANSWER,
            confidence="high",
            re_gate="clean",
            references=REFERENCES,
            profile=question.profile,
            language="en",
        )
        await pipeline.end(emitter, settled)


@pytest.fixture
def script(pipeline: Pipeline) -> Iterator[Script]:
    pipeline.scripts["refunds"] = made = Script()
    yield made
    made.go_on.set()  # a run that never ends keeps its place at the edge's door


@pytest.fixture(scope="module")
async def sdk() -> AsyncIterator[Client]:
    node, folder = await asyncio.to_thread(node_in, "ai-sdk")
    async with client(node, folder / "chat.mjs") as made:
        yield made


async def opened(sdk: Client, base: str, **init: object) -> str:
    """A new page with a chat."""
    page = f"page{next(_names)}"
    await sdk.do("open", page=page, api=f"{base}/api/chat", **{"id": page, **init})
    return page


def text_of(message: dict[str, object]) -> str:
    assert isinstance(message["parts"], list)
    return "".join(part["text"] for part in message["parts"] if part["type"] == "text")


def parts_of(message: dict[str, object], kind: str) -> list[dict[str, object]]:
    assert isinstance(message["parts"], list)
    return [part for part in message["parts"] if part["type"] == kind]


async def test_ask(sdk: Client, edge: str, pipeline: Pipeline) -> None:
    page = await opened(sdk, edge, body={"profile": "library", "language": "ko", "filter": {"path": "shop/**"}})
    await sdk.do("send", page=page, text="환불은 며칠")
    first = await sdk.do("ended", page=page)
    assert (first["status"], first["finished"][0]["finishReason"]) == ("ready", "stop")
    user, said = first["messages"]
    assert (text_of(user), text_of(said)) == ("환불은 며칠", "환불은 며칠 [1]")
    assert said["metadata"] == {
        "run_id": said["id"],
        "outcome": "answered",
        "confidence": "high",
        "profile": "library",
        "language": "ko",
    }
    await sdk.do("send", page=page, text="배송비는")
    again = await sdk.do("ended", page=page)
    question = await pipeline.asked(again["messages"][-1]["id"])
    assert (question.question, question.profile, question.language) == ("배송비는", "library", "ko")
    assert [(turn.role, turn.content) for turn in question.conversation_history] == [
        ("user", "환불은 며칠"),
        ("assistant", "환불은 며칠 [1]"),
    ]
    assert question.filter is not None
    assert (question.filter.path, question.events, question.on_disconnect) == ("shop/**", "all", "cancel")

    await sdk.do("regenerate", page=page)
    anew = await sdk.do("ended", page=page)
    assert [message["role"] for message in anew["messages"]] == ["user", "assistant"] * 2
    assert anew["messages"][-1]["id"] != again["messages"][-1]["id"]
    assert (await pipeline.asked(anew["messages"][-1]["id"])).conversation_history == question.conversation_history


async def test_stream(sdk: Client, edge: str, script: Script) -> None:
    page = await opened(sdk, edge)
    await sdk.do("send", page=page, text="refunds")
    begun = await sdk.do("shown", page=page, text="👩")
    assert (begun["status"], text_of(begun["messages"][-1])) == ("streaming", "👩")
    script.go_on.set()
    ended = await sdk.do("ended", page=page)
    assert text_of(ended["messages"][-1]) == ANSWER
    assert {part["state"] for part in parts_of(ended["messages"][-1], "text")} == {"done"}
    stage = next(part for part in ended["data"] if part["type"] == "data-stage")
    assert (stage["id"], stage["data"]["status"]) == ("retrieve.main", "start")
    assert not parts_of(ended["messages"][-1], "data-stage"), "what is transient is not kept in the message"
    (withheld,) = parts_of(ended["messages"][-1], "data-withheld")
    (verdict,) = parts_of(ended["messages"][-1], "data-verdict")
    assert withheld["data"] == {"type": "withheld", "content": "They take 90 days.", "flags": []}
    assert verdict["data"] == {"type": "verdict", "re_gate": "clean", "confidence": "high", "outcome": "answered"}


@pytest.mark.parametrize("version", ["5", "6", "7"])
async def test_every_version_takes_every_chunk(
    sdk: Client, edge: str, script: Script, pipeline: Pipeline, version: str
) -> None:
    script.go_on.set()
    chunks = await sdk.do("chunks", version=version, api=f"{edge}/api/chat", text="refunds")
    kinds = [kind for kind, _ in itertools.groupby(chunk["type"] for chunk in chunks)]
    assert [kind for kind in kinds if not kind.startswith("data-")][-6:] == [
        "text-delta",
        "text-end",
        "source-url",
        "source-document",
        "finish-step",
        "finish",
    ]
    assert kinds[:2] == ["start", "start-step"]
    assert {"data-stage", "data-withheld", "data-verdict"} <= {*kinds}
    for question, last in (("near", "finish"), ("withdraw", "finish"), ("fail", "error"), ("cancelled", "abort")):
        pipeline.scripts |= SCRIPTS
        chunks = await sdk.do("chunks", version=version, api=f"{edge}/api/chat", text=question)
        assert chunks[-1]["type"] == last, question
    quiet = await sdk.do("chunks", version=version, api=f"{edge}/api/chat", text="refunds", body={"events": "default"})
    assert not [chunk for chunk in quiet if chunk["type"].startswith("data-")]


async def test_cite(sdk: Client, edge: str, script: Script) -> None:
    script.go_on.set()
    page = await opened(sdk, edge)
    await sdk.do("send", page=page, text="refunds")
    said = (await sdk.do("ended", page=page))["messages"][-1]
    first, second = parts_of(said, "source-url")
    assert (first["sourceId"], first["title"]) == ("1", "Refunds")
    assert first["url"] == f"{edge}/sources/shop/refunds.md?start=0&end=14"
    assert first["providerMetadata"] == {
        "groundwire": {"source_id": "shop/refunds.md", "n": 1, "quote": "within 14 days"}
    }
    assert (second["sourceId"], second["url"]) == ("2", "https://example.org/terms.pdf#page=2")
    (document,) = parts_of(said, "source-document")
    assert document == {
        "type": "source-document",
        "sourceId": "shop/refunds.md",
        "mediaType": "text/markdown",
        "title": "Refunds",
        "filename": "refunds.md",
    }
    (text,) = parts_of(said, "text")
    assert isinstance(text["citations"], list)
    units = ANSWER.encode("utf-16-le")
    for citation, marker, source in zip(text["citations"], ("[1]", "[2]"), (first, second), strict=True):
        shown = units[citation["startIndex"] * 2 : citation["endIndex"] * 2].decode("utf-16-le")
        assert (shown, citation["source"]["url"]) == (marker, source["url"])


async def test_closest_passages_are_data_and_sources(sdk: Client, edge: str) -> None:
    page = await opened(sdk, edge)
    await sdk.do("send", page=page, text="near enough")
    state = await sdk.do("ended", page=page)
    said = state["messages"][-1]
    assert text_of(said) == "Nothing is sure:"
    assert (said["metadata"]["outcome"], said["metadata"]["reason"]) == ("closest", "no_evidence")
    (passages,) = parts_of(said, "data-passages")
    assert isinstance(passages["data"], dict)
    urls = [item["url"] for item in passages["data"]["items"]]
    assert [part["url"] for part in parts_of(said, "source-url")] == urls
    assert all(urlsplit(url).netloc for url in urls)


async def test_cancel(sdk: Client, edge: str, script: Script, runs: Runs) -> None:
    page = await opened(sdk, edge)
    await sdk.do("send", page=page, text="refunds")
    run_id = (await sdk.do("shown", page=page, text="👩"))["messages"][-1]["id"]
    stopped = await sdk.do("stop", page=page)
    assert (stopped["status"], stopped["finished"][0]["isAbort"]) == ("ready", True)

    assert (await ended(runs, run_id)).outcome == "cancelled"


async def test_stopping_a_resumable_chat(
    sdk: Client, edge: str, script: Script, pipeline: Pipeline, http: aiohttp.ClientSession
) -> None:
    page = await opened(sdk, edge, body={"resume": True})
    await sdk.do("send", page=page, text="refunds")
    run_id = (await sdk.do("shown", page=page, text="👩"))["messages"][-1]["id"]
    await sdk.do("stop", page=page)
    assert (await pipeline.asked(run_id)).on_disconnect == "continue"
    watching = await opened(sdk, edge, id=page)
    await sdk.do("resume", page=watching)
    await sdk.do("shown", page=watching, text="👩")
    async with http.post(f"/api/chat/{page}/stop", json={}) as response:
        assert await response.json() == {"run_id": run_id, "cancelled": True}
    async with http.post(f"/api/chat/{page}/stop", json={}) as response:
        assert await response.json() == {"run_id": run_id, "cancelled": False}
    async with http.post("/api/chat/never/stop", json={}) as response:
        assert await response.json() == {"run_id": "", "cancelled": False}


async def test_resume(sdk: Client, world: World, script: Script, http: aiohttp.ClientSession) -> None:
    ann, eve = world.bearer("ann"), world.bearer("eve")
    page = await opened(sdk, world.locked, headers=ann, body={"resume": True})
    await sdk.do("send", page=page, text="refunds")
    left = await sdk.do("shown", page=page, text="👩")
    await sdk.do("stop", page=page)

    back = await opened(sdk, world.second, id=page, headers=ann, messages=left["messages"][:1])
    await sdk.do("resume", page=back)
    assert (await sdk.do("shown", page=back, text="👩"))["status"] == "streaming"
    async with http.get(f"{world.second}/api/chat/{page}/stream", headers=eve) as response:
        assert response.status == 204, "a chat of the same id is another key's own"
    async with http.post(f"{world.second}/api/chat/{page}/stop", headers=eve) as response:
        assert await response.json() == {"run_id": "", "cancelled": False}
    script.go_on.set()
    whole = await sdk.do("ended", page=back)
    assert (whole["status"], len(whole["messages"])) == ("ready", 2)
    assert text_of(whole["messages"][-1]) == ANSWER
    assert whole["messages"][-1]["id"] == left["messages"][-1]["id"]
    assert len(parts_of(whole["messages"][-1], "source-url")) == 2

    async with http.get(f"{world.locked}/api/chat/{page}/stream", headers=ann) as response:
        assert (response.status, await response.read()) == (204, b"")


async def test_forged_record_opens_no_foreign_run(world: World, bus: Bus, http: aiohttp.ClientSession) -> None:
    """The record only points to the run; its access record decides."""
    secret = bytes.fromhex(world.keys.read().secret)
    forger = Runs(bus.journal, secret=secret)
    await forger.add_to_chat(world.runs["ann"], "mine", Access(key="eve", groups=()))
    for method, path, status in (("GET", "stream", 204), ("POST", "stop", 200)):
        url = f"{world.locked}/api/chat/mine/{path}"
        async with http.request(method, url, headers=world.bearer("eve")) as response:
            assert response.status == status
            assert world.runs["ann"] not in await response.text()


async def test_chat_resumes_after_an_edge_restart(
    sdk: Client, bus: Bus, script: Script, tmp_path_factory: pytest.TempPathFactory
) -> None:
    settings = Settings(
        bus=bus.settings, edge=EdgeSettings(port=0), access=AccessSettings(), state=str(tmp_path_factory.mktemp("chat"))
    )
    async with an_edge(settings) as first:
        page = await opened(sdk, first, body={"resume": True})
        await sdk.do("send", page=page, text="refunds")
        await sdk.do("shown", page=page, text="👩")
    broken = await sdk.do("ended", page=page)
    assert (broken["status"], broken["error"]) == ("error", "terminated"), (
        "a network error, which useChat resumes after"
    )
    async with an_edge(settings) as second:
        back = await opened(sdk, second, id=page)
        await sdk.do("resume", page=back)
        await sdk.do("shown", page=back, text="👩")
        script.go_on.set()
        assert text_of((await sdk.do("ended", page=back))["messages"][-1]) == ANSWER


async def test_error(sdk: Client, edge: str, world: World, pipeline: Pipeline) -> None:
    pipeline.scripts |= SCRIPTS
    for base, body, text, status, says in (
        (edge, {"profil": "tutor"}, "hi", 422, "profil"),
        (edge, {"profile": "gpt-9"}, "hi", 422, "there is no profile 'gpt-9'"),
        (edge, {}, " ", 422, "is empty"),
        (edge, {}, "x" * 4001, 422, "shorten it to 4000"),
        (world.locked, {}, "hi", 401, "a key is needed"),
        (world.locked, {}, "hi", 403, "it needs the scope ask"),
    ):
        headers = world.bearer("searcher") if status == 403 else {}
        page = await opened(sdk, base, body=body, headers=headers)
        await sdk.do("send", page=page, text=text)
        state = await sdk.do("ended", page=page)
        assert (state["status"], state["code"]) == ("error", status), text
        assert says in state["error"]
        assert "{" not in state["error"], "a person is shown a sentence"
    page = await opened(sdk, edge)
    await sdk.do("send", page=page, text="fail")
    state = await sdk.do("ended", page=page)
    assert (state["status"], state["error"]) == ("error", "the model cannot be reached")
    said = state["messages"][-1]
    assert (text_of(said), said["metadata"]["code"]) == ("half", "model_unavailable")
    assert [part["state"] for part in parts_of(said, "text")] == ["done"]


async def test_withdrawn_answer_is_marked_in_the_message(sdk: Client, edge: str, pipeline: Pipeline) -> None:
    pipeline.scripts |= SCRIPTS
    page = await opened(sdk, edge)
    await sdk.do("send", page=page, text="withdraw")
    state = await sdk.do("ended", page=page)
    said = state["messages"][-1]
    assert [part["text"] for part in parts_of(said, "text")] == ["Within 90 days.", "It is withdrawn."]
    assert (said["metadata"]["outcome"], said["metadata"]["withdrawn"]) == ("refused", True)
    assert (state["status"], state["finished"][0]["finishReason"]) == ("ready", "content-filter")


async def test_cut_answer_is_marked(sdk: Client, edge: str, pipeline: Pipeline) -> None:
    pipeline.scripts |= SCRIPTS
    page = await opened(sdk, edge)
    await sdk.do("send", page=page, text="cut")
    state = await sdk.do("ended", page=page)
    assert state["messages"][-1]["metadata"]["cut"] == "length"
    assert state["finished"][0]["finishReason"] == "length"


async def test_a_long_conversation_is_sent_whole(sdk: Client, edge: str) -> None:
    """The SDK sends every message again with all its parts, so that a body soon is larger than others may be."""
    passages = {"type": "data-passages", "id": "passages", "data": {"items": ["x" * 20_000]}}
    messages = [
        {"id": f"m{n}", "role": role, "parts": [{"type": "text", "text": "hello"}, passages]}
        for n, role in enumerate(["user", "assistant"] * 10)
    ]
    page = await opened(sdk, edge, messages=messages)
    await sdk.do("send", page=page, text="배송비는")
    assert (await sdk.do("ended", page=page))["status"] == "ready"
    messages[0]["parts"] = [{"type": "text", "text": "x" * 1_100_000}]
    page = await opened(sdk, edge, messages=messages)
    await sdk.do("send", page=page, text="배송비는")
    state = await sdk.do("ended", page=page)
    assert (state["code"], state["error"].partition(";")[0]) == (413, "the body is larger than 1024 KB")


async def test_a_page_of_another_origin(world: World) -> None:
    """A browser sends a preflight, and the page may then read the permitted reply; other origins get nothing."""
    url, origin = f"{world.locked}/api/chat", "http://localhost:3000"
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
    body = {"id": "c1", "messages": [{"role": "user", "parts": [{"type": "text", "text": "hi"}]}]}
    async with aiohttp.ClientSession() as http:
        for path in (url, f"{url}/c1/stop"):
            async with http.options(path, headers={"Origin": origin, **asks}) as response:
                assert (response.status, response.headers["Access-Control-Allow-Methods"]) == (204, "POST")
                assert response.headers["Access-Control-Allow-Headers"] == "Authorization, *"
        for headers, status in (({"Origin": origin}, 200), ({"Origin": "https://evil.example"}, 403)):
            async with http.post(url, json=body, headers=headers | world.bearer("ann")) as response:
                assert response.status == status
                assert response.headers.get("Access-Control-Allow-Origin") == (origin if status == 200 else None)


async def _cancelled(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
    emitter = Emitter(pipeline.bus.journal, run_id)
    await emitter.tokens(["half"])
    await emitter.events(Error(code="cancelled", content="It was cancelled."), Done())


CUT = plays("Within", outcome="answered", answer="Within", cut="length")
SCRIPTS = {"fail": FAILS, "withdraw": WITHDRAWN, "cut": CUT, "cancelled": _cancelled}
