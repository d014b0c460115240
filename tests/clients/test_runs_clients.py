"""Clients that follow a run, under one contract: curl, a reader of server-sent events, EventSource, two clients of WebSockets."""

import asyncio
import contextlib
import json
import secrets
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from playwright.async_api import Browser

from bus.runs.runs import Runs
from tests.browser import browser, find_chromium
from tests.clients.cutting import CutProxy
from tests.clients.halves import WORDS, Halves, halves
from tests.clients.installed import HERE, node_in, output_of, python_of
from tests.clients.table import Row
from tests.clients.talking import Client, client
from tests.faults.door import World, world
from tests.polling import ended
from tests.runtime.edge.conftest import Bus, Pipeline
from tests.runtime.edge.response_kinds import KINDS
from tests.runtime.served import edge_of

__all__ = ["halves", "world"]  # fixtures

ROWS = (
    Row(name="curl", over="/v1/runs", keys=("curl",)),
    Row(name="httpx-sse", over="/v1/runs", package="httpx-sse", pins="python/sse.txt", keys=("httpx-sse",)),
    Row(name="EventSource of Chromium", over="/v1/runs", keys=("chromium",)),
    Row(name="websockets", over="/v1/ws", package="websockets", pins="python/websocket.txt", keys=("websockets",)),
    Row(name="ws", over="/v1/ws", package="ws", pins="node/websocket", keys=("ws",)),
)


class Follower:
    """A client that asks, and follows the run. `heard`: its events so far, each with its number; `first`: that of the first.

    `refused`: how its report of a refused question begins.
    """

    first = 1
    refused = "422"

    def __init__(self) -> None:
        self.heard: list[tuple[int, dict[str, Any]]] = []
        self.run_id = ""

    async def ask(self, edge: str, question: str, **fields: object) -> None:
        raise NotImplementedError

    async def until(self, text: str = '"DONE"') -> list[dict[str, Any]]:
        """All events heard, once one with this text is among them, or the connection is broken."""
        raise NotImplementedError

    async def refusal(self, edge: str, question: str) -> str:
        """What the client learns of a question that is refused."""
        raise NotImplementedError

    async def cancel(self) -> None:
        raise NotImplementedError

    async def leave(self) -> None:
        """Close the connection."""

    async def resume(self, edge: str) -> None:
        """Follow the run again, after the last event heard."""
        raise NotImplementedError


class Curl(Follower):
    """As a shell script has it."""

    def __init__(self, program: str) -> None:
        super().__init__()
        self.program = program

    async def _open(self, *words: str) -> None:
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(self.program, "-sSNi", *words, stdout=pipe, stderr=pipe)

    async def ask(self, edge: str, question: str, **fields: object) -> None:
        self.edge = edge
        body = json.dumps({"question": question} | fields)
        await self._open(f"{edge}/v1/runs", "-H", "Content-Type: application/json", "-d", body)

    async def until(self, text: str = '"DONE"') -> list[dict[str, Any]]:
        assert self.process.stdout is not None
        number = 0
        async with asyncio.timeout(30):
            while line := await self.process.stdout.readline():
                name, _, value = line.decode().strip().partition(": ")
                if name.lower() == "x-run-id":
                    self.run_id = value
                elif name == "id":
                    number = int(value)
                elif name == "data":
                    self.heard.append((number, json.loads(value)))
                    if text in value:
                        break
        return [event for _, event in self.heard]

    async def refusal(self, edge: str, question: str) -> str:
        await self.ask(edge, question)
        said, _ = await self.process.communicate()
        return said.decode().removeprefix("HTTP/1.1 ")

    async def cancel(self) -> None:
        url = f"{self.edge}/v1/runs/{self.run_id}/cancel"
        assert '"cancelled":true' in await output_of(self.program, "-sS", "-X", "POST", url)

    async def leave(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.communicate()

    async def resume(self, edge: str) -> None:
        await self._open("-H", f"Last-Event-ID: {self.heard[-1][0]}", f"{edge}/v1/runs/{self.run_id}/events")


class Reader(Follower):
    """httpx-sse, as in its documentation."""

    def __init__(self, program: Client) -> None:
        super().__init__()
        self.program = program

    async def ask(self, edge: str, question: str, **fields: object) -> None:
        self.edge = edge
        body = {"question": question} | fields
        self.opened = await self.program.do("open", method="POST", url=f"{edge}/v1/runs", body=body)
        self.run_id = self.opened.get("run_id", "")

    async def until(self, text: str = '"DONE"') -> list[dict[str, Any]]:
        found = await self.program.do("until", text=text)
        self.heard += [(int(number), json.loads(data)) for number, data in found["events"]]
        return [event for _, event in self.heard]

    async def refusal(self, edge: str, question: str) -> str:
        await self.ask(edge, question)
        return f"{self.opened['status']} {self.opened['body']}"

    async def cancel(self) -> None:
        async with aiohttp.ClientSession() as http, http.post(f"{self.edge}/v1/runs/{self.run_id}/cancel") as response:
            assert (await response.json())["cancelled"]

    async def leave(self) -> None:
        await self.program.do("close")

    async def resume(self, edge: str) -> None:
        url = f"{edge}/v1/runs/{self.run_id}/events"
        await self.program.do("open", method="GET", url=url, last=str(self.heard[-1][0]))


#: Asks, and collects what the source hears: `heard` are its events, `opened` is how often it has connected.
FOLLOW = """async (question) => {
  const asked = await fetch(`/v1/runs`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ question }),
  });
  Object.assign(window, { heard: [], opened: 0, run: asked.headers.get("X-Run-Id") });
  if (!asked.ok) return `${asked.status} ${(await asked.json()).detail}`;
  await asked.body.cancel();
  window.source = new EventSource(`/v1/runs/${window.run}/events`);
  window.source.onopen = () => (window.opened += 1);
  window.source.onmessage = ({ data, lastEventId }) => {
    window.heard.push([Number(lastEventId), JSON.parse(data)]);
    if (window.heard.at(-1)[1].type === "DONE") window.source.close();
  };
}"""
HEARD = "text => window.heard.some(event => JSON.stringify(event).includes(text)) ? window.heard : null"


class EventSource(Follower):
    """The browser's own: fetch starts a run on a test page, and the EventSource follows it by its id."""

    def __init__(self, program: Browser) -> None:
        super().__init__()
        self.program = program

    async def refusal(self, edge: str, question: str) -> str:
        self.page = await self.program.new_page()
        await self.page.goto(edge)
        return str(await self.page.evaluate(FOLLOW, question))

    async def ask(self, edge: str, question: str, **fields: object) -> None:
        await self.refusal(edge, question)

    async def until(self, text: str = '"DONE"') -> list[dict[str, Any]]:
        self.heard = await (await self.page.wait_for_function(HEARD, arg=text)).json_value()
        return [event for _, event in self.heard]

    async def cancel(self) -> None:
        assert await self.page.evaluate(
            "fetch(`/v1/runs/${window.run}/cancel`, { method: 'POST' }).then(told => told.ok)"
        )

    async def leave(self) -> None:
        await self.page.close()

    async def resume(self, edge: str) -> None:
        """It has reconnected by itself."""
        assert await self.page.evaluate("window.opened") == 2


class Socket(Follower):
    """A client of WebSockets, as in its documentation."""

    first = 0
    refused = "invalid"

    def __init__(self, program: Client) -> None:
        super().__init__()
        self.program = program

    async def open(self, edge: str, **init: object) -> int:
        """The status of the handshake."""
        return int(await self.program.do("open", url=f"{edge.replace('http', 'ws', 1)}/v1/ws", **init))

    async def ask(self, edge: str, question: str, **fields: object) -> None:
        assert await self.open(edge) == 101
        await self.program.do("say", frame={"question": question} | fields)

    async def frames(self, text: str = '"DONE"') -> list[dict[str, Any]]:
        return list(map(json.loads, (await self.program.do("until", text=text))["frames"]))

    async def until(self, text: str = '"DONE"') -> list[dict[str, Any]]:
        frames = await self.frames(text)
        self.heard += [(frame["id"], frame["event"]) for frame in frames]
        self.run_id = self.run_id or frames[0]["run_id"]
        assert {frame["run_id"] for frame in frames} <= {self.run_id}
        return [event for _, event in self.heard]

    async def refusal(self, edge: str, question: str) -> str:
        """The socket stays open."""
        await self.ask(edge, question)
        error, done = [frame["event"] for frame in await self.frames()]
        assert (error["type"], done["type"]) == ("error", "DONE")
        await self.program.do("say", frame={"question": "how long"})
        assert text_of(await self.until()) == "how long [1]"
        return f"{error['code']} {error['content']}"

    async def cancel(self) -> None:
        await self.program.do("say", frame={"type": "cancel", "run_id": self.run_id})

    async def leave(self) -> None:
        await self.program.do("close")

    async def resume(self, edge: str) -> None:
        assert await self.open(edge) == 101
        await self.program.do("say", frame={"type": "resume", "run_id": self.run_id, "after": self.heard[-1][0]})


@pytest.fixture(scope="module", params=[row.keys[0] for row in ROWS])
async def make(request: pytest.FixtureRequest) -> AsyncIterator[Callable[[], Follower]]:
    """Makes clients of one kind, over one program."""
    async with contextlib.AsyncExitStack() as stack:
        if request.param == "curl":
            program = shutil.which("curl") or pytest.skip("curl is not installed")
            yield lambda: Curl(program)
        elif request.param == "chromium":
            path = await find_chromium() or pytest.skip("there is no Chromium, and it cannot be installed")
            chromium = await stack.enter_async_context(browser(path))
            yield lambda: EventSource(chromium)
        else:
            process = await stack.enter_async_context(client(*await asyncio.to_thread(command, request.param)))
            yield lambda: (Reader if request.param == "httpx-sse" else Socket)(process)


def command(name: str) -> tuple[Path, Path]:
    if name == "ws":
        node, folder = node_in("websocket")
        return node, folder / "client.mjs"
    pins, script = ("sse", "sse_readers.py") if name == "httpx-sse" else ("websocket", "websockets_clients.py")
    return python_of(pins), HERE / "python" / script


@pytest.fixture
async def follower(make: Callable[[], Follower]) -> Follower:
    return make()


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(event["content"] for event in events if event["type"] == "token")


def last_of(events: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    return [(event["type"], event.get("code")) for event in events[-2:]]


def nothing_lost(follower: Follower) -> bool:
    """Whether no event came twice, and none was left out."""
    numbers = [number for number, _ in follower.heard]
    return numbers == list(range(follower.first, follower.first + len(numbers)))


async def test_ask(follower: Follower, edge: str) -> None:
    await follower.ask(edge, "환불은 며칠\u2028👩")
    events = await follower.until()
    await follower.leave()
    assert text_of(events) == "환불은 며칠\u2028👩 [1]"
    assert last_of(events) == [("references", None), ("DONE", None)]
    assert nothing_lost(follower)


async def test_stream(follower: Follower, edge: str, halves: Halves) -> None:
    await follower.ask(edge, "halves")
    assert text_of(await follower.until('"one"')) == "one", "a word is read before the next is said"
    halves.go_on.set()
    assert text_of(await follower.until()) == WORDS
    await follower.leave()


async def test_cite(follower: Follower, edge: str) -> None:
    await follower.ask(edge, "환불은 며칠")
    references = (await follower.until())[-2]
    await follower.leave()
    assert [(item["source_id"], item["title"]) for item in references["items"]] == [("refunds", "환불 규정")]


async def test_cancel(follower: Follower, edge: str, halves: Halves) -> None:
    await follower.ask(edge, "halves")
    await follower.until('"one"')
    await follower.cancel()
    assert last_of(await follower.until()) == [("error", "cancelled"), ("DONE", None)]
    await follower.leave()


@pytest.mark.parametrize("make", ["curl", "httpx-sse", "websockets", "ws"], indirect=True)
async def test_cancel_by_leaving(follower: Follower, edge: str, halves: Halves, runs: Runs) -> None:
    """An EventSource follows a run that another request has begun."""
    await follower.ask(edge, "halves", on_disconnect="cancel")
    await follower.until('"one"')
    await follower.leave()
    assert (await ended(runs, follower.run_id)).outcome == "cancelled"


async def test_resume(follower: Follower, edge: str, halves: Halves) -> None:
    proxy = CutProxy(edge)
    async with proxy.listening() as base:
        await follower.ask(base, "halves")
        await follower.until('"one"')
        proxy.cut()
        halves.go_on.set()
        events = await follower.until()
        await follower.resume(edge)
        if events[-1]["type"] != "DONE":
            events = await follower.until()
        await follower.leave()
    assert text_of(events) == WORDS
    assert nothing_lost(follower)


async def test_error(follower: Follower, make: Callable[[], Follower], edge: str, pipeline: Pipeline) -> None:
    told = await follower.refusal(edge, " ")
    await follower.leave()
    assert (told.startswith(follower.refused), "is empty" in told) == (True, True), told
    pipeline.scripts["broken"] = KINDS["fail"]
    broken = make()
    await broken.ask(edge, "broken")
    assert last_of(await broken.until()) == [("error", "model_unavailable"), ("DONE", None)]
    await broken.leave()


@pytest.mark.parametrize("make", ["websockets", "ws"], indirect=True)
async def test_ask_with_a_key(follower: Socket, world: World) -> None:
    assert await follower.open(world.locked) == 401
    key = f"groundwire.key.{world.tokens['ann']}"
    for init in ({"headers": world.bearer("ann")}, {"subprotocols": ["groundwire", key]}):
        assert await follower.open(world.locked, **init) == 101
        await follower.program.do("say", frame={"question": "how long"})
        assert text_of([frame["event"] for frame in await follower.frames()]) == "how long [1]"


@pytest.mark.parametrize("make", ["websockets", "ws"], indirect=True)
async def test_several_at_a_time(follower: Socket, bus: Bus, halves: Halves, tmp_path: Path) -> None:
    """At a separate edge: an edge used by slow tests may have lowered its limit to one question at a time."""
    async with edge_of(bus.settings, tmp_path) as edge:
        slow, quick = secrets.token_hex(8), secrets.token_hex(8)
        await follower.ask(edge, "halves", idempotency_key=slow)
        await follower.frames('"one"')
        await follower.program.do("say", frame={"question": "quick words", "idempotency_key": quick})
        frames = await follower.frames()
        assert {frame["key"] for frame in frames} == {quick}, "it is answered while another is under way"
        halves.go_on.set()
        assert {frame["key"] for frame in await follower.frames()} == {slow}
