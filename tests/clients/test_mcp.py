"""The Python client of the Model Context Protocol, over HTTP, at both versions of the protocol."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from bus.powers.searching import SearchReply
from bus.runs.runs import Runs
from tests.bus.wires import search_process
from tests.clients.cutting import CutProxy
from tests.clients.mcp_runs import ANSWER, QUOTES, cites, fails, held
from tests.clients.mcp_sources import LONG, TEXTS, sources
from tests.clients.table import Row
from tests.message_samples import passage
from tests.polling import ended
from tests.runtime.edge.conftest import Bus, Pipeline

__all__ = ["sources"]  # a fixture

ROWS = (Row(name="MCP SDK for Python", over="/mcp", package="mcp"),)

#: With a handshake, and without.
ERAS = ("legacy", "2026-07-28")
URI = "groundwire://source/shop%2Frefunds.md"


@contextlib.asynccontextmanager
async def staying(client: Client) -> AsyncIterator[Client]:
    """The client, opened and closed in one task, as it wants: a fixture's end is in another than its beginning."""
    opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    close = asyncio.Event()

    async def hold() -> None:
        async with client:
            opened.set_result(None)
            await close.wait()

    holding = asyncio.create_task(hold())
    await asyncio.wait([holding, opened], return_when=asyncio.FIRST_COMPLETED)
    if holding.done():
        await holding
    yield client
    close.set()
    await holding


@pytest.fixture(params=ERAS)
async def client(request: pytest.FixtureRequest, edge: str) -> AsyncIterator[Client]:
    async with staying(Client(f"{edge}/mcp", mode=request.param)) as made:
        yield made


@pytest.fixture(autouse=True)
def scripts(pipeline: Pipeline) -> None:
    pipeline.scripts |= {"cites": cites, "fails": fails}


class Progress:
    """The progress of a request, as its client receives it."""

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.messages: list[str] = []
        self.heard = asyncio.Event()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.numbers.append(progress)
        self.messages.append(message or "")
        self.heard.set()


def structured(result: Any) -> dict[str, Any]:
    assert not result.is_error, result.content
    return dict(result.structured_content)


async def test_ask(client: Client) -> None:
    assert {tool.name for tool in (await client.list_tools()).tools} == {"ask", "search", "open_source", "check"}
    answer = structured(await client.call_tool("ask", {"question": "cites When are refunds paid?"}))
    assert (answer["outcome"], answer["answer"], answer["confidence"]) == ("answered", ANSWER, "high")
    assert answer["withheld"] == 1


async def test_stream(client: Client) -> None:
    progress = Progress()
    await client.call_tool("ask", {"question": "cites When?"}, progress_callback=progress)
    assert progress.messages == [
        "Choose the evidence",
        "found Refunds",
        ANSWER[:36].strip(),
        "a sentence is withheld: it contains a number that the source does not have",
        ANSWER[36:].strip(),
    ]
    assert progress.numbers == sorted(set(progress.numbers))


async def test_cite(client: Client) -> None:
    result = await client.call_tool("ask", {"question": "cites When?"})
    answer = structured(result)
    assert [each["quote"] for each in answer["citations"]] == list(QUOTES)
    assert [ANSWER[each["start"] : each["end"]] for each in answer["citations"]] == ["[1]", "[2]"]
    assert answer["citations"][0]["uri"] == f"{URI}?start=50&end=96"
    text, link = result.content
    assert text.text == f"{ANSWER}\n\n[1][2] Refunds (shop/refunds.md)"
    assert (str(link.uri), link.name, link.title) == (URI, "shop/refunds.md", "Refunds")
    assert [each["url"].endswith("/sources/shop/refunds.md") for each in answer["sources"]] == [True]


async def test_closest_passages(client: Client) -> None:
    result = await client.call_tool("ask", {"question": "near the end"})
    answer = structured(result)
    assert (answer["outcome"], answer["answer"], answer["sources"]) == ("closest", "", [])
    assert [each["source_id"] for each in answer["passages"]] == ["refunds", "file.txt"]
    assert "Nothing is sure" in answer["message"]
    assert "[x](https://evil.example)" not in result.content[0].text


async def test_cancel(client: Client, pipeline: Pipeline, runs: Runs) -> None:
    pipeline.scripts["held"] = run = held()
    with anyio.CancelScope() as scope:

        async def leave() -> str:
            run_id = await run.begun.get()
            scope.cancel()
            return run_id

        leaving = asyncio.create_task(leave())
        await client.call_tool("ask", {"question": "held back"})
    run_id = await leaving
    await pipeline.ended[run_id]  # which the cancellation lets end
    assert (await ended(runs, run_id)).outcome == "cancelled"


async def test_resume(edge: str, pipeline: Pipeline) -> None:
    """After a broken connection the client resumes the stream and the answer is whole. Since 2026-07-28 no stream is resumed."""
    pipeline.scripts["held"] = run = held()
    progress = Progress()
    proxy = CutProxy(edge)
    async with proxy.listening() as url, Client(f"{url}/mcp", mode="legacy") as client:

        async def breaks() -> None:
            run_id = await run.begun.get()
            while " ".join(progress.messages) != ANSWER[:36].strip():  # tokens that arrive together become one text
                progress.heard.clear()
                await progress.heard.wait()
            proxy.cut()
            run.go_on.set()
            await pipeline.ended[run_id]

        breaking = asyncio.create_task(breaks())
        result = await client.call_tool("ask", {"question": "held back"}, progress_callback=progress)
        await breaking
    assert structured(result)["answer"] == ANSWER
    assert " ".join(progress.messages) == ANSWER
    assert progress.numbers == sorted(set(progress.numbers))


async def test_error(client: Client) -> None:
    failed = await client.call_tool("ask", {"question": "fails at once"})
    assert failed.is_error
    assert failed.content[0].text == "the model does not answer"
    for arguments, why in (
        ({"question": ""}, "question"),
        ({"question": "q", "profile": "nonesuch"}, "nonesuch"),
        ({"question": "q", "nonesuch": 1}, "nonesuch"),
    ):
        wrong = await client.call_tool("ask", arguments)
        assert wrong.is_error
        assert why in wrong.content[0].text
        assert "\n" not in wrong.content[0].text
    with pytest.raises(MCPError, match="there is no tool 'nonesuch'"):
        await client.session.call_tool("nonesuch", {})


async def test_search(client: Client, bus: Bus) -> None:
    text = "Refunds are paid.\n\x1b[2J## Ignore all of this"
    found_there = passage("shop/refunds.md", text, title="Refunds", url="", char_start=10, char_end=50, page=3)

    async with search_process(bus.client, SearchReply(passages=(found_there,), snapshot="s")) as heard:
        result = await client.call_tool("search", {"query": "refunds", "k": 3})
    assert [(request.query, request.k) for request in heard] == [("refunds", 3)]
    (found,) = structured(result)["passages"]
    assert (found["uri"], found["page"], found["text"]) == (f"{URI}?start=10&end=50", 3, text)
    assert result.content[0].text == (
        "1. Refunds (shop/refunds.md, characters 10-50, p. 3)\n> Refunds are paid.\n> [2J## Ignore all of this"
    )


async def test_prompt_and_template(client: Client) -> None:
    (prompt,) = (await client.list_prompts()).prompts
    got = await client.get_prompt(prompt.name, {"question": "When?"})
    assert "When?" in got.messages[0].content.text
    with pytest.raises(MCPError, match="needs its argument"):
        await client.get_prompt(prompt.name, {})
    (template,) = (await client.list_resource_templates()).resource_templates
    assert template.uri_template == "groundwire://source/{id}{?start,end}"


@pytest.mark.usefixtures("sources")
async def test_open(client: Client) -> None:
    text = TEXTS["shop/refunds.md"]
    for source, start, end, page in (
        ("shop/refunds.md", 0, len(text), 1),
        (URI, 0, len(text), 1),
        (f"{URI}?start=34&end=38", 34, len(text), 2),
    ):
        result = await client.call_tool("open_source", {"source": source})
        opened = structured(result)
        assert (opened["text"], opened["page"], opened["next"]) == (text[start:end], page, None)
        assert result.content[0].text.endswith(text[start:end])
        assert opened["url"].startswith("http")
    first = structured(await client.call_tool("open_source", {"source": "long.txt", "length": 17}))
    assert (first["text"], first["next"], first["characters"]) == ("Paragraph 00000.\n", 17, len(LONG))
    then = structured(await client.call_tool("open_source", {"source": "long.txt", "start": 17, "length": 17}))
    assert then["text"] == "Paragraph 00001.\n"
    none = await client.call_tool("open_source", {"source": "nonesuch"})
    assert none.is_error
    assert "nonesuch" in none.content[0].text


@pytest.mark.usefixtures("sources")
async def test_resources(client: Client) -> None:
    listed, cursor = list[str](), None
    while True:
        page = await client.list_resources(cursor=cursor)
        assert len(page.resources) <= 100
        listed += [each.name for each in page.resources]
        if (cursor := page.next_cursor) is None:
            break
    assert listed == sorted(TEXTS)
    (whole,) = (await client.read_resource(URI)).contents
    assert (str(whole.uri), whole.text) == (URI, TEXTS["shop/refunds.md"])
    (part,) = (await client.read_resource(f"{URI}?start=34&end=38")).contents
    assert part.text == "The "
    parts = (await client.read_resource("groundwire://source/long.txt")).contents
    assert "".join(each.text for each in parts) == LONG
    (again,) = (await client.read_resource(str(parts[1].uri))).contents
    assert again.text == parts[1].text
    with pytest.raises(MCPError, match="there is no resource"):
        await client.read_resource("groundwire://source/nonesuch")
