"""`groundwire.client` and the commands with `--url`, against the edge."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from click.testing import CliRunner, Result
from groundwire.client import (
    KEY,
    BlockingClient,
    Client,
    Done,
    Error,
    Question,
    Refused,
    RunFailed,
    Token,
    Turn,
    Unknown,
    Unreachable,
    events,
    messages,
)

import actors.checking.report
import bus.powers.events
import bus.powers.sources
import bus.runs.run_record
import bus.wire.messages
import bus.wire.parts
import bus.wire.settled
import runtime.edge.runs
import runtime.edge.search
from bus.powers.events import Done as SentDone
from bus.powers.events import Emitter
from bus.powers.events import Error as SentError
from bus.powers.searching import SearchReply, SearchRequest, serve_search
from bus.wire.messages import QuestionAsked
from runtime.cli import groundwire
from tests.clients.cutting import CutProxy
from tests.clients.table import Row
from tests.faults.door import World, world
from tests.runtime.edge.conftest import Bus, Pipeline, plays
from tests.whole import find

ROWS = (Row(name="`groundwire.client`", over="/v1/runs"),)


@pytest.fixture
async def client(edge: str) -> AsyncIterator[Client]:
    async with Client(edge, key="") as made:
        yield made


async def test_ask(client: Client) -> None:
    run = await client.ask("환불은 며칠")
    assert (run.outcome, run.status, run.answer) == ("answered", "finished", "환불은 며칠 [1]")
    assert await client.run(run.run_id) == run
    assert repr(run) == f"Run({run.run_id!r}, answered, '환불은 며칠 [1]', sources: refunds)"


async def test_stream(client: Client) -> None:
    async with client.stream(Question(question="one two three", profile="library")) as stream:
        got = [event async for event in stream]
    assert "".join(event.content for event in got if isinstance(event, Token)) == stream.text == "one two three [1]"
    assert isinstance(got[-1], Done)
    assert stream.run_id


async def test_cite(client: Client) -> None:
    async with client.stream("환불은 며칠") as stream:
        await stream.text_at_end()
    assert [(each.source_id, each.url) for each in stream.references] == [("refunds", "https://example.org/refunds")]
    run = await stream.record()
    assert [(each.n, each.cited_text) for each in run.citations] == [(1, "환불 규정")]


async def test_the_closest_passages(client: Client) -> None:
    async with client.stream("near the end") as stream:
        await stream.text_at_end()
    assert [each.source_id for each in stream.passages] == ["refunds", "file.txt"]
    assert stream.references == ()


async def test_cancel(client: Client, pipeline: Pipeline) -> None:
    silent, over = asyncio.Event(), asyncio.Event()

    async def never(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id)
        await emitter.tokens(["word"])
        silent.set()
        await over.wait()
        await emitter.events(SentDone())  # a run that never ends keeps its place at the edge's door

    pipeline.scripts["endless"] = never
    async with client.stream("endless") as stream:
        await silent.wait()
        assert (await stream.cancel()).cancelled
        assert not (await stream.cancel()).cancelled
    assert (await stream.record()).outcome == "cancelled"
    over.set()


@pytest.mark.parametrize("first", [150, 600, 900])
async def test_resume(edge: str, first: int) -> None:
    """Each connection breaks, the first perhaps before its headers have come: each event is seen once, in order."""
    proxy = CutProxy(edge, first)
    asked = " ".join(f"word{n}" for n in range(12))
    async with proxy.listening() as url, Client(url, key="") as client, client.stream(asked) as stream:
        numbers = [number async for number, _ in stream.lines()]
    assert all(after == before + 1 for before, after in pairwise([0, *numbers]))
    assert proxy.connections > 2
    async with Client(edge, key="") as client:
        async with client.resume(stream.run_id) as whole:
            assert [number async for number, _ in whole.lines()] == numbers
        async with client.resume(stream.run_id, after=numbers[-1]) as nothing:
            assert [line async for line in nothing.lines()] == []


async def test_error(client: Client, edge: str, pipeline: Pipeline) -> None:
    with pytest.raises(Refused) as refused:
        await client.ask(Question(question="x", profile="nobody"))
    problem = refused.value
    assert (problem.status, problem.code, problem.field) == (422, "no_such_profile", "profile")
    with pytest.raises(Refused) as gone:
        await client.run("no-such-run")
    assert gone.value.code == "no_such_run"
    async with Client("http://127.0.0.1:9", key="", patience_s=0.3) as nobody:
        with pytest.raises(Unreachable, match="cannot be reached"):
            await nobody.ask("anybody?")

    error = SentError(code="model_unavailable", content="No model answers.")
    pipeline.scripts["fails"] = plays("", error, outcome="failed", reason="model_unavailable")
    async with client.stream("fails") as stream:
        with pytest.raises(RunFailed, match="No model answers"):
            await stream.text_at_end()
    assert (await client.ask("fails again")).outcome == "failed"


async def test_a_shown_answer_is_taken_back(client: Client, pipeline: Pipeline) -> None:
    error = SentError(code="grounding_failed", content="Taken back.")
    pipeline.scripts["withdrawn"] = plays("Wrong [1].", error, outcome="refused", reason="grounding_failed")
    async with client.stream("withdrawn") as stream:
        assert await stream.text_at_end() == "Wrong [1]."
    assert stream.withdrawn == "Taken back."
    assert isinstance(events.event_of(b'{"type":"error","code":"x","content":"y","status":"end"}'), Error)


async def test_without_async(edge: str) -> None:
    def ask() -> list[object]:
        with BlockingClient(edge, key="") as client:
            with client.stream(
                Question(question="one two", conversation_history=(Turn(role="user", content="a"),))
            ) as s:
                text = "".join(event.content for event in s if isinstance(event, Token))
            with client.stream("one two three") as left:
                next(iter(left))  # and no more
            with client.resume(s.state.run_id, after=1) as again:
                rest = [event for event in again if isinstance(event, Token)]
            run = client.ask("환불은 며칠")
            with pytest.raises(Refused):
                client.run("nobody")
            return [
                text,
                rest[0].content,
                run.outcome,
                "general" in client.profiles(),
                client.cancel(run.run_id).cancelled,
            ]

    assert await asyncio.to_thread(ask) == ["one two [1]", " two", "answered", True, False]


async def test_an_event_of_a_newer_server(edge: str) -> None:
    assert events.event_of(b'{"type":"sung","song":1}') == Unknown(type="sung", raw=b'{"type":"sung","song":1}')
    async with aiohttp.ClientSession() as session, Client(edge, key="", session=session) as client:
        assert await client.profiles()
    async with aiohttp.ClientSession() as session:
        async with Client(edge, key="", session=session):
            pass
        assert not session.closed


TYPES = [
    (messages.Question, QuestionAsked),
    (messages.Constraints, bus.wire.parts.Constraints),
    (messages.Filter, bus.wire.messages.Filter),
    (messages.Flag, bus.wire.parts.Flag),
    (messages.UnverifiedSentence, bus.wire.settled.UnverifiedSentence),
    (messages.WithheldSentence, bus.wire.settled.WithheldSentence),
    (messages.Run, bus.runs.run_record.RunRecord),
    (messages.Cancelled, runtime.edge.runs.Cancelled),
    (messages.Hit, bus.wire.parts.Passage),
    (messages.Hits, runtime.edge.search.SearchAnswer),
    (messages.SourceText, bus.powers.sources.SourceText),
    (messages.SourceList, bus.powers.sources.SourceList),
    (messages.Checked, actors.checking.report.CheckReport),
    (messages.CheckedSentence, actors.checking.report.CheckedSentence),
    (events.Token, bus.powers.events.Token),
    (events.References, bus.powers.events.References),
    (events.Passages, bus.powers.events.Passages),
    (events.Error, bus.powers.events.Error),
    (events.Stage, bus.powers.events.StageEvent),
    (events.Sources, bus.powers.events.Sources),
    (events.Withheld, bus.powers.events.Withheld),
    (events.Verdict, bus.powers.events.VerdictEvent),
    (events.Queued, bus.powers.events.Queued),
]
#: Fields of the server that the client ignores.
LEFT = {
    messages.Run: {"unrun", "conflicts", "contradictions", "rounds", "prompt_versions"},
    messages.Hit: {"snapshot", "blocks", "intros", "coverage", "cosine", "rerank_score"},
    **{each: {"status"} for each in (events.References, events.Passages, events.Error, events.Sources)},
}
#: What the client reads as the same type.
ALSO: dict[type[msgspec.Struct], type[msgspec.Struct]] = {events.Token: bus.powers.events.TokensEnd}


@pytest.mark.parametrize(("ours", "theirs"), TYPES, ids=lambda each: each.__name__)
def test_the_types_are_the_servers(ours: type[msgspec.Struct], theirs: type[msgspec.Struct]) -> None:
    def names(struct: type[Any]) -> set[str]:
        return {field.encode_name for field in msgspec.structs.fields(struct)}

    assert names(ours) | LEFT.get(ours, set()) == names(theirs) | names(ALSO.get(ours, theirs))


def test_client_imports_nothing_else_of_groundwire() -> None:
    """Only aiohttp and msgspec of all that Groundwire installs."""
    code = "import sys, groundwire.client; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"actors", "bus", "index", "prompts", "runtime", "nats", "numpy", "anyio"} & set(found)


def test_client_is_in_the_wheel_as_groundwire() -> None:
    here = Path(messages.__file__)
    assert [each.name for each in here.parents][:3] == ["client", "groundwire", "client-library"]


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
    assert refused.stderr.startswith("Error: this key is not valid")


async def test_the_closest_passages_over_a_server(edge: str) -> None:
    told = await invoked("ask", "--url", edge, "near it")
    assert told.exit_code == 3
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
    assert told.stderr.startswith("Error: profile: ")
    assert told.stderr.count("\n") == 1
    monkeypatch.setattr("runtime.commands.ask.PATIENCE_S", 0.2)
    away = await invoked("ask", "--url", "http://127.0.0.1:9", "x")
    assert away.exit_code == 1
    assert away.stderr.startswith("Error: http://127.0.0.1:9 cannot be reached")
