"""Two clients of WebSockets against /v1/ws, one in Python and one in Node, each as in its documentation."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bus.runs.runs import Runs
from tests.clients.cutting import CutProxy
from tests.clients.halves import WORDS, Halves, halves
from tests.clients.installed import HERE, node_in, python_of
from tests.clients.table import Row
from tests.clients.talking import Client, client
from tests.faults.door import World, world
from tests.polling import ended
from tests.runtime.edge.conftest import Bus
from tests.runtime.served import edge_of

__all__ = ["halves", "world"]  # fixtures

PINS = {"websockets": "python/websocket.txt", "ws": "node/websocket"}
ROWS = tuple(Row(name=each, over="/v1/ws", package=each, pins=pins, keys=(each,)) for each, pins in PINS.items())


@pytest.fixture(scope="module", params=[*PINS])
async def socket(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    name = str(request.param)
    if name == "ws":
        node, folder = await asyncio.to_thread(node_in, "websocket")
        command: tuple[str | Path, ...] = (node, folder / "client.mjs")
    else:
        python = await asyncio.to_thread(python_of, "websocket")
        command = (python, HERE / "python" / "websockets_clients.py")
    async with client(*command) as made:
        yield made


def address(base: str) -> str:
    return f"{base.replace('http', 'ws', 1)}/v1/ws"


def frames_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(frame) for frame in found["frames"]]


def text_of(frames: list[dict[str, Any]]) -> str:
    return "".join(frame["event"]["content"] for frame in frames if frame["event"]["type"] == "token")


async def test_ask(socket: Client, edge: str) -> None:
    assert await socket.do("open", url=address(edge)) == 101
    await socket.do("say", frame={"question": "환불은 며칠 👩"})
    frames = frames_of(await socket.do("until"))
    assert text_of(frames) == "환불은 며칠 👩 [1]"
    assert [frame["id"] for frame in frames] == list(range(len(frames)))
    assert len({frame["run_id"] for frame in frames}) == 1


async def test_ask_with_a_key(socket: Client, world: World) -> None:
    assert await socket.do("open", url=address(world.locked)) == 401
    for init in (
        {"headers": world.bearer("ann")},
        {"subprotocols": ["groundwire", f"groundwire.key.{world.tokens['ann']}"]},
    ):
        assert await socket.do("open", url=address(world.locked), **init) == 101
        await socket.do("say", frame={"question": "how long"})
        assert text_of(frames_of(await socket.do("until"))) == "how long [1]"


async def test_stream(socket: Client, edge: str, halves: Halves) -> None:
    await socket.do("open", url=address(edge))
    await socket.do("say", frame={"question": "halves"})
    first = frames_of(await socket.do("until", text='"one"'))
    assert text_of(first) == "one", "a word is read before the next is said"
    halves.go_on.set()
    assert text_of(first + frames_of(await socket.do("until"))) == WORDS


async def test_several_at_a_time(socket: Client, bus: Bus, halves: Halves, tmp_path: Path) -> None:
    """At a separate edge: an edge used by slow tests may have lowered its limit to one question at a time."""
    async with edge_of(bus.settings, tmp_path) as edge:
        await socket.do("open", url=address(edge))
        slow, quick = secrets.token_hex(8), secrets.token_hex(8)
        await socket.do("say", frame={"question": "halves", "idempotency_key": slow})
        await socket.do("until", text='"one"')
        await socket.do("say", frame={"question": "quick words", "idempotency_key": quick})
        frames = frames_of(await socket.do("until"))
        assert {frame["key"] for frame in frames} == {quick}, "it is answered while another is under way"
        halves.go_on.set()
        assert {frame["key"] for frame in frames_of(await socket.do("until"))} == {slow}


async def test_cite(socket: Client, edge: str) -> None:
    await socket.do("open", url=address(edge))
    await socket.do("say", frame={"question": "환불은 며칠"})
    references = frames_of(await socket.do("until"))[-2]["event"]
    assert [(item["source_id"], item["title"]) for item in references["items"]] == [("refunds", "환불 규정")]


async def test_cancel(socket: Client, edge: str, halves: Halves, runs: Runs) -> None:
    await socket.do("open", url=address(edge))
    await socket.do("say", frame={"question": "halves"})
    run_id = frames_of(await socket.do("until", text='"one"'))[-1]["run_id"]
    await socket.do("say", frame={"type": "cancel", "run_id": run_id})
    events = [frame["event"] for frame in frames_of(await socket.do("until"))]
    assert [(event["type"], event.get("code")) for event in events] == [("error", "cancelled"), ("DONE", None)]
    assert (await ended(runs, run_id)).outcome == "cancelled"


async def test_cancel_by_leaving(socket: Client, edge: str, halves: Halves, runs: Runs) -> None:
    await socket.do("open", url=address(edge))
    await socket.do("say", frame={"question": "halves", "on_disconnect": "cancel"})
    run_id = frames_of(await socket.do("until", text='"one"'))[-1]["run_id"]
    await socket.do("close")

    assert (await ended(runs, run_id)).outcome == "cancelled"


async def test_resume(socket: Client, edge: str, halves: Halves) -> None:
    proxy = CutProxy(edge)
    async with proxy.listening() as base:
        await socket.do("open", url=address(base))
        await socket.do("say", frame={"question": "halves"})
        first = frames_of(await socket.do("until", text='"one"'))
        proxy.cut()
        halves.go_on.set()
        assert (await socket.do("until"))["broken"]
    await socket.do("open", url=address(edge))
    after = {"type": "resume", "run_id": first[-1]["run_id"], "after": first[-1]["id"]}
    await socket.do("say", frame=after)
    frames = first + frames_of(await socket.do("until"))
    assert text_of(frames) == WORDS
    assert [frame["id"] for frame in frames] == list(range(len(frames))), "nothing twice, nothing left out"


@pytest.mark.parametrize(
    ("frame", "code", "says"),
    [
        ({"question": " "}, "invalid", "is empty"),
        ({"question": "hi", "profile": "gpt-9"}, "no_such_profile", "there is no profile 'gpt-9'"),
        ({"type": "resume", "run_id": "nobodys"}, "no_such_run", "there is no run nobodys"),
    ],
)
async def test_error(socket: Client, edge: str, frame: dict[str, object], code: str, says: str) -> None:
    await socket.do("open", url=address(edge))
    await socket.do("say", frame=frame)
    events = [each["event"] for each in frames_of(await socket.do("until"))]
    assert [event["type"] for event in events] == ["error", "DONE"]
    assert events[0]["code"] == code
    assert says in events[0]["content"]
    await socket.do("say", frame={"question": "how long"})
    assert text_of(frames_of(await socket.do("until"))) == "how long [1]", "the socket stays open"
