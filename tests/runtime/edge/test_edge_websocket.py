"""/v1/ws: the same requests and events, one per frame."""

import json
from pathlib import Path

import aiohttp
import pytest

from bus.runs.runs import Runs
from tests.polling import ended
from tests.runtime.edge.conftest import Bus, Pipeline
from tests.runtime.edge.strict_sse import parse
from tests.runtime.edge.test_edge_streams import Paced
from tests.runtime.served import edge_of

TYPES = ["token", "token", "token", "token", "references", "DONE"]


async def until_done(socket: aiohttp.ClientWebSocketResponse, runs: int = 1) -> list[str]:
    """The frames up to and with the DONE of that many runs."""
    frames: list[str] = []
    while runs:
        frames.append(await socket.receive_str(timeout=60))
        runs -= '"type":"DONE"' in frames[-1]
    return frames


async def test_frames_are_the_events_of_the_stream(http: aiohttp.ClientSession) -> None:
    asked = {"question": "환불은 며칠", "idempotency_key": "by-socket"}
    async with http.ws_connect("/v1/ws") as socket:
        await socket.send_json(asked)
        frames = [json.loads(frame) for frame in await until_done(socket)]
    async with http.post("/v1/runs", json=asked) as response:
        events = [json.loads(event) for _, event in parse(await response.read())]
    assert events == [frame["event"] for frame in frames[1:]]


async def test_runs_go_side_by_side(bus: Bus, pipeline: Pipeline, tmp_path: Path) -> None:
    """At a separate edge: an edge used by slow tests may have lowered its limit to one question at a time."""
    keys = ("k1", "k2", "k3")
    async with (
        edge_of(bus.settings, tmp_path) as address,
        aiohttp.ClientSession(address) as http,
        http.ws_connect("/v1/ws") as socket,
    ):
        for key in keys:
            await socket.send_json({"question": f"{key} words", "idempotency_key": f"envelope-{key}"})
        frames = [json.loads(frame) for frame in await until_done(socket, 3)]
        for key in keys:
            of_run = [frame for frame in frames if frame["key"] == f"envelope-{key}"]
            assert [frame["id"] for frame in of_run] == [0, 1, 2, 3, 4, 5, 6]
            assert [frame["event"]["type"] for frame in of_run] == ["accepted", *TYPES]
            await socket.send_json({"type": "resume", "run_id": of_run[0]["run_id"], "after": 3})
            again = [json.loads(frame) for frame in await until_done(socket)]
            assert [(f["run_id"], f["id"], f["event"]) for f in again] == [
                (f["run_id"], f["id"], f["event"]) for f in of_run[4:]
            ]


@pytest.mark.parametrize(
    ("sent", "code", "says", "names"),
    [
        ("{", "not_json", "not valid JSON", {"run_id": "", "id": 0}),
        ('{"question":""}', "invalid", "write what you want to know", {"run_id": "", "id": 0}),
        (
            '{"question":"a","profile":"nobody","idempotency_key":"which"}',
            "no_such_profile",
            "there is no profile 'nobody'",
            {"run_id": "", "id": 0, "key": "which"},
        ),
        (
            '{"question":"a","deadline_s":"x","idempotency_key":"which"}',
            "invalid",
            "deadline_s",
            {"run_id": "", "id": 0, "key": "which"},
        ),
        ('{"type":"restart"}', "invalid", "'restart' is not a kind of request", {"run_id": "", "id": 0}),
        ('{"type":"resume","run_id":"nobody"}', "no_such_run", "is no run nobody", {"run_id": "nobody", "id": 0}),
        ('{"type":"resume","run_id":"a.*"}', "bad_id", "is not a valid id", {"run_id": "a.*", "id": 0}),
        ('{"type":"cancel","run_id":"nobody"}', "no_such_run", "is no run nobody", {"run_id": "nobody", "id": 0}),
        (b"\x00\x01", "not_json", "send JSON as text", {"run_id": "", "id": 0}),
    ],
)
async def test_bad_request_is_an_error_and_done(
    http: aiohttp.ClientSession, sent: str | bytes, code: str, says: str, names: dict[str, object]
) -> None:
    async with http.ws_connect("/v1/ws") as socket:
        await (socket.send_str(sent) if isinstance(sent, str) else socket.send_bytes(sent))
        frames = [json.loads(frame) for frame in await until_done(socket)]
        error, done = [frame.pop("event") for frame in frames]
        assert frames == [names, names]
        assert (error["type"], error["status"], done) == ("error", "end", {"type": "DONE"})
        assert says in error["content"]
        assert error["code"] == code
        await socket.send_json({"question": "환불은 며칠"})  # the socket is none the worse for it
        assert len(await until_done(socket)) == 7


async def test_run_can_be_cancelled_before_any_text(
    http: aiohttp.ClientSession, pipeline: Pipeline, runs: Runs
) -> None:
    pipeline.scripts["silent"] = script = Paced()
    async with http.ws_connect("/v1/ws") as socket:
        await socket.send_json({"question": "silent", "idempotency_key": "to-be-cancelled"})
        accepted = await socket.receive_json(timeout=60)
        assert (accepted["event"], accepted["key"]) == ({"type": "accepted"}, "to-be-cancelled")
        await socket.send_json({"type": "cancel", "run_id": accepted["run_id"]})
        async with http.get(f"/v1/runs/{await script.run_id}") as response:
            assert response.status == 200
        assert (await ended(runs, accepted["run_id"])).outcome == "cancelled"
    await script.words.put(None)


async def test_foreign_pages_are_refused(http: aiohttp.ClientSession) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await http.ws_connect("/v1/ws", origin="https://evil.example")
    assert refused.value.status == 403


@pytest.mark.parametrize(("on_disconnect", "outcome"), [("continue", None), ("cancel", "cancelled")])
async def test_leaving_cancels_only_on_request(
    http: aiohttp.ClientSession, pipeline: Pipeline, on_disconnect: str, outcome: str | None
) -> None:
    pipeline.scripts[f"socket-{on_disconnect}"] = script = Paced()
    cancelled = await pipeline.bus.client.subscribe("gw.cancel.*")
    async with http.ws_connect("/v1/ws") as socket:
        await socket.send_json({"question": f"socket-{on_disconnect}", "on_disconnect": on_disconnect})
        run_id = await script.run_id
    if outcome:
        while (await cancelled.next_msg(timeout=60)).subject != f"gw.cancel.{run_id}":
            pass  # of an earlier test's run, whose client the edge has only now seen leave
    async with http.get(f"/v1/runs/{run_id}") as response:
        assert (await response.json())["outcome"] == outcome
    await script.words.put(None)
    await cancelled.unsubscribe()
