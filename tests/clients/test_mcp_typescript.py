"""The TypeScript clients of the Model Context Protocol: the SDK that most desktop clients are built with, and its successor."""

import asyncio
import json
from typing import Any

import pytest

from bus.runs.runs import Runs
from tests.clients.cutting import CutProxy
from tests.clients.installed import node_in, output_of
from tests.clients.mcp_runs import ANSWER, QUOTES, cites, fails, held
from tests.clients.table import Row
from tests.polling import ended, until
from tests.runtime.edge.conftest import Pipeline

ROWS = (
    Row(
        name="MCP SDK for TypeScript", over="/mcp", package="@modelcontextprotocol/sdk", pins="node/mcp", keys=("sdk",)
    ),
    Row(
        name="MCP client for TypeScript",
        over="/mcp",
        package="@modelcontextprotocol/client",
        pins="node/mcp",
        keys=("auto", "modern"),
        never={"resume": "Since its version 2026-07-28 the protocol does not resume streams: a client asks again."},
    ),
)

#: The SDK; its successor, which asks which versions are spoken; and the same without a handshake.
CLIENTS = ("sdk", "auto", "modern")


@pytest.fixture(autouse=True)
def scripts(pipeline: Pipeline) -> None:
    pipeline.scripts |= {"cites": cites, "fails": fails}


async def done(which: str, url: str, doing: str, *told: str) -> Any:
    node, folder = await asyncio.to_thread(node_in, "mcp")
    return json.loads(await output_of(node, folder / "client.mjs", which, f"{url}/mcp", doing, *told))


@pytest.mark.parametrize("which", CLIENTS)
async def test_ask(edge: str, which: str) -> None:
    result = await done(which, edge, "ask", "cites When?")
    assert set(result["tools"]) >= {"ask", "search"}
    assert result["structuredContent"]["answer"] == ANSWER


async def test_tool_schemas_are_valid(edge: str) -> None:
    tools = await done("sdk", edge, "schemas")
    assert tools == [[name, "object", "object"] for name in ("ask", "search", "open_source", "check")]


@pytest.mark.parametrize("which", CLIENTS)
async def test_stream(edge: str, which: str) -> None:
    result = await done(which, edge, "ask", "cites When?")
    assert result["progress"][:3] == ["Choose the evidence", "found Refunds", ANSWER[:36].strip()]


@pytest.mark.parametrize("which", CLIENTS)
async def test_cite(edge: str, which: str) -> None:
    result = await done(which, edge, "ask", "cites When?")
    assert [each["quote"] for each in result["structuredContent"]["citations"]] == list(QUOTES)
    assert result["content"][1]["uri"] == "groundwire://source/shop%2Frefunds.md"


@pytest.mark.parametrize("which", CLIENTS)
async def test_cancel(edge: str, which: str, pipeline: Pipeline, runs: Runs) -> None:
    pipeline.scripts["held"] = run = held()
    node, folder = await asyncio.to_thread(node_in, "mcp")
    client = await asyncio.create_subprocess_exec(
        *(str(node), str(folder / "client.mjs"), which, f"{edge}/mcp", "cancel", "held back"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    run_id = await run.begun.get()
    assert client.stdin is not None
    client.stdin.write(b"leave\n")
    await pipeline.ended[run_id]  # which the cancellation lets end
    out, _ = await client.communicate()
    assert "enough" in json.loads(out)["left"]
    assert (await ended(runs, run_id)).outcome == "cancelled"


@pytest.mark.parametrize("which", ["sdk"])
async def test_resume(edge: str, which: str, pipeline: Pipeline) -> None:
    pipeline.scripts["held"] = run = held()
    proxy = CutProxy(edge)
    async with proxy.listening() as url:
        asking = asyncio.create_task(done(which, url, "ask", "held back"))
        run_id = await run.begun.get()
        await until(lambda: b"[1]." in proxy.passed, what="the words so far to reach the client")
        proxy.cut()
        run.go_on.set()
        await pipeline.ended[run_id]
        result = await asking
    assert result["structuredContent"]["answer"] == ANSWER
    assert " ".join(result["progress"]) == ANSWER


@pytest.mark.parametrize("which", CLIENTS)
async def test_error(edge: str, which: str) -> None:
    failed = await done(which, edge, "ask", "fails at once")
    assert failed["isError"]
    assert failed["content"][0]["text"] == "the model does not answer"
    wrong = await done(which, edge, "error")
    assert wrong["code"] == -32602
    assert "there is no tool 'nonesuch'" in wrong["message"]
