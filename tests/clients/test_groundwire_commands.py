"""`ask --url` and `search --url`: the command line over a server, by the client library."""

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from groundwire.client import KEY

from bus.powers.searching import SearchReply, SearchRequest, serve_search
from runtime.cli import groundwire
from tests.faults.door import World, world
from tests.runtime.edge.conftest import Bus
from tests.whole import find

__all__ = ["world"]  # a fixture


async def invoked(*arguments: str) -> Result:
    return await asyncio.to_thread(CliRunner().invoke, groundwire, arguments)


async def test_ask_over_a_server(edge: str) -> None:
    told = await invoked("ask", "--url", edge, "환불은 며칠")
    assert told.exit_code == 0, told.output
    assert told.stdout.startswith("환불은 며칠 [1]")
    assert "[1] 환불 규정 (https://example.org/refunds)" in told.stdout
    lines = (await invoked("ask", "--url", edge, "--json", "one")).stdout.splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["token", "token", "token", "references", "DONE"]


async def test_environment_key_is_used(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, world.tokens["ann"])
    told = await invoked("ask", "--url", world.locked, "one")
    assert told.exit_code == 0, told.output
    monkeypatch.setenv(KEY, world.tokens["wrong"])
    refused = await invoked("ask", "--url", world.locked, "one")
    assert refused.exit_code == 1
    assert refused.stderr.startswith("error: this key is not valid")


async def test_the_closest_passages_over_a_server(edge: str) -> None:
    told = await invoked("ask", "--url", edge, "near it")
    assert told.exit_code == 3
    assert "closest: no_evidence" in told.stderr
    assert "1. 환불 <규정>" in told.stdout


async def test_search_over_a_server(edge: str, bus: Bus) -> None:
    async def found(request: SearchRequest) -> SearchReply:
        return await find(request)

    stop = await serve_search(bus.client, found)
    try:
        told = await invoked("search", "--url", edge, "--language", "en", "shipping fee")
        none = await invoked("search", "--url", edge, "--language", "fr", "zzz")
    finally:
        await stop()
    assert told.exit_code == 0, told.output
    assert told.stdout.startswith("1. refunds (refunds.md)")
    assert none.stderr == "nothing found\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("ask", "x"), "say what to ask: --index FOLDER for an index, or --url URL for a server"),
        (("ask", "x", "--url", "http://localhost", "--index", "."), "say what to ask"),
        (("ask", "x", "--url", "localhost:8080"), "is no address of a server; write it as http://127.0.0.1:8080"),
        (("ask", "x", "--url", "http://localhost", "--group", "a"), "--config and --group are for an index"),
        (
            ("search", "x", "--url", "http://localhost", "--snapshot", "a"),
            "--snapshot and the embedder are for an index",
        ),
    ],
)
async def test_wrong_use_is_one_line(arguments: tuple[str, ...], line: str, tmp_path: Path) -> None:
    told = await invoked(*arguments)
    assert told.exit_code == 2
    assert line in " ".join(told.stderr.split())


async def test_server_errors_are_one_line(edge: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = await invoked("ask", "--url", edge, "--profile", "nobody", "x")
    assert told.exit_code == 1
    assert told.stderr.startswith("error: profile: ")
    assert told.stderr.count("\n") == 1
    monkeypatch.setattr("runtime.commands.ask.PATIENCE_S", 0.2)
    away = await invoked("ask", "--url", "http://127.0.0.1:9", "x")
    assert away.exit_code == 1
    assert away.stderr.startswith("error: http://127.0.0.1:9 cannot be reached")
