"""`groundwire mcp` as a desktop client starts it: the protocol's Python client over its input and output, and a real stack."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from bus.wire.messages import QuestionAsked
from index.build.ingest import bring_in
from runtime.commands.mcp import Home
from runtime.processes.state_folder import running, state_folder
from runtime.settings import IndexSettings, Settings
from tests.clients.table import Row
from tests.clients.test_mcp import Progress, staying
from tests.commands import GROUNDWIRE, begun, environ_of
from tests.polling import until

ROWS = (
    Row(
        name="MCP SDK for Python",
        over="`groundwire mcp`",
        package="mcp",
        never={
            "cancel": "The same message as for `/mcp`, which has the test.",
            "resume": "A client and the server that it started end together, so no stream is left to resume.",
        },
    ),
)

REFUNDS = (
    "# Refunds\n\nRefunds are paid within 14 days of the return. The shipping fee of 3,000 won is not refunded."
    " Opened software cannot be returned.\n"
)
OPENING = (
    "# Opening\n\nThe shop opens at nine on weekdays. On Saturdays it opens at ten and closes at two."
    " The shop is closed on public holidays.\n"
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mcp")
    _write(folder / "documents", {"refunds.md": REFUNDS, "opening.md": OPENING})
    bring_in(folder / "index", [str(folder / "documents")], only=True)
    return folder / "index"


def _write(folder: Path, texts: dict[str, str]) -> None:
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)


def started(index: Path) -> contextlib.AbstractAsyncContextManager[Client]:
    """A client with a server of its own."""
    command, *arguments = (*GROUNDWIRE, "mcp", "--index", str(index))
    environ = environ_of(index.parent / "state")
    return staying(Client(StdioServerParameters(command=command, args=arguments, env=environ)))


@pytest.fixture(scope="module")
async def client(index: Path) -> AsyncIterator[Client]:
    """The second of two, with the stack of this process: the first has gone, and its stack with it."""
    settings = Settings(index=IndexSettings(dir=str(index)), state=str(index.parent / "state"))
    home = Home(settings)
    async with contextlib.AsyncExitStack() as firsts, contextlib.AsyncExitStack() as clients:
        try:
            first = await firsts.enter_async_context(started(index))
            progress = Progress()
            await first.call_tool("ask", {"question": "When are refunds paid?"}, progress_callback=progress)
            assert progress.messages[0] == "the documents are being opened"
            second = await clients.enter_async_context(started(index))
            assert not (await second.call_tool("search", {"query": "refunds"})).is_error
            before = await home.edge()
            stopping = asyncio.create_task(firsts.aclose())
            await until(lambda: running(state_folder(settings)) is None)  # it ends what it began
            assert before.runs.client.is_connected  # its nats-server ends last
            after = await home.edge()
            assert after.runs is not before.runs
            submitted = await after.runs.submit(QuestionAsked(question="When are refunds paid?"))
            said = b"".join([line async for _, line in after.runs.events(submitted.run_id)])
            assert b" 14" in said
            await stopping
            yield second
        finally:
            await home.close()
    assert running(state_folder(settings)) is None


async def test_ask(client: Client) -> None:
    assert client.protocol_version == "2026-07-28"
    result = await client.call_tool("ask", {"question": "When are refunds paid?"})
    assert result.structured_content is not None
    assert "within 14 days" in result.structured_content["answer"]


async def test_stream(client: Client) -> None:
    progress = Progress()
    await client.call_tool("ask", {"question": "When does the shop open on Saturdays?"}, progress_callback=progress)
    assert "Search the documents" in progress.messages
    assert any("ten" in each for each in progress.messages)


async def test_cite(client: Client) -> None:
    result = await client.call_tool("ask", {"question": "When are refunds paid?"})
    assert result.structured_content is not None
    citation = result.structured_content["citations"][0]
    assert "within 14 days" in citation["quote"]
    assert citation["uri"].startswith("groundwire://source/refunds.md?start=")
    assert str(result.content[1].uri) == "groundwire://source/refunds.md"  # type: ignore[union-attr]


async def test_search(client: Client) -> None:
    result = await client.call_tool("search", {"query": "public holidays"})
    assert result.structured_content is not None
    assert result.structured_content["passages"][0]["source_id"] == "opening.md"


async def test_open(client: Client) -> None:
    assert [each.name for each in (await client.list_resources()).resources] == ["opening.md", "refunds.md"]
    (read,) = (await client.read_resource("groundwire://source/refunds.md")).contents
    assert "within 14 days" in read.text  # type: ignore[union-attr]
    result = await client.call_tool("open_source", {"source": "opening.md"})
    assert result.structured_content is not None
    assert "closes at two" in result.structured_content["text"]


async def test_error(client: Client) -> None:
    result = await client.call_tool("ask", {"question": "When?", "profile": "nonesuch"})
    assert result.is_error


async def test_greeting_without_stack(index: Path) -> None:
    """Greetings are answered without a stack, and standard output holds nothing but the protocol."""
    state = index.parent / "greeting"
    process = await begun(state, "mcp", "--index", index, stdin=asyncio.subprocess.PIPE)
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    out, err = await process.communicate(
        b"".join(
            json.dumps({"jsonrpc": "2.0", **each}).encode() + b"\n"
            for each in ({"id": 1, "method": "initialize", "params": hello}, {"id": "two", "method": "ping"})
        )
        + b"no protocol\n"
    )
    answers: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
    by_id = {each.get("id"): each for each in answers}
    assert by_id.keys() == {1, "two", None}
    assert by_id[1]["result"]["protocolVersion"] == "2025-11-25"
    assert by_id[None]["error"]["code"] == -32700
    assert (process.returncode, err, state.exists()) == (0, b"", False)


async def test_signal_ends_it_while_its_input_is_open(index: Path, tmp_path: Path) -> None:
    process = await begun(tmp_path, "mcp", "--index", index, stdin=asyncio.subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    assert json.loads(await process.stdout.readline())["id"] == 1
    process.terminate()
    await process.wait()


async def test_missing_index(tmp_path: Path) -> None:
    process = await begun(tmp_path, "mcp", "--index", tmp_path / "nothing")
    out, err = await process.communicate()
    assert (process.returncode, out) == (2, b"")
    assert b"groundwire index build" in err
    assert len(err.splitlines()) == 1
