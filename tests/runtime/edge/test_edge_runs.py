"""POST /v1/runs and what a client can ask about a run, against a real nats-server."""

import aiohttp
import pytest

from bus.journal.records import TRACEPARENT, VIA
from tests.runtime.edge.conftest import Bus
from tests.runtime.edge.strict_sse import parse

KOREAN = {"question": "환불은 며칠"}

GOLDEN = (
    "retry: 1000\n"
    'id: 1\ndata: {"type":"token","content":"환불은","status":"in_progress","index":1}\n\n'
    'id: 2\ndata: {"type":"token","content":" 며칠","status":"in_progress","index":2}\n\n'
    'id: 3\ndata: {"type":"token","content":" [1]","status":"in_progress","index":3}\n\n'
    'id: 4\ndata: {"type":"token","content":"","status":"end"}\n\n'
    'id: 5\ndata: {"type":"references","items":[{"source_id":"refunds","title":"환불 규정",'
    '"url":"https://example.org/refunds","score":0.5}],"status":"end"}\n\n'
    'id: 6\ndata: {"type":"DONE"}\n\n'
).encode()


async def test_stream_matches_the_specification_bytes(http: aiohttp.ClientSession) -> None:
    async with http.post("/v1/runs", json=KOREAN) as response:
        assert response.status == 200
        assert response.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert response.headers["Cache-Control"] == "no-cache, no-transform"
        assert response.headers["X-Accel-Buffering"] == "no"
        run_id = response.headers["X-Run-Id"]
        assert response.headers["Location"] == f"/v1/runs/{run_id}"
        assert await response.read() == GOLDEN


async def test_json_by_accept(http: aiohttp.ClientSession) -> None:
    async with http.post("/v1/runs", json=KOREAN, headers={"Accept": "application/json"}) as response:
        assert response.status == 200
        record = await response.json()
    assert record["outcome"] == "answered"
    assert record["answer"] == "환불은 며칠 [1]"
    async with http.get(f"/v1/runs/{record['run_id']}") as response:
        assert await response.json() == record


@pytest.mark.parametrize("after", [0, 1, 3, 5])
async def test_resumed_stream_has_the_same_bytes(http: aiohttp.ClientSession, after: int) -> None:
    async with http.post("/v1/runs", json=KOREAN) as response:
        run_id = response.headers["X-Run-Id"]
        whole = parse(await response.read())
    for request in ({"headers": {"Last-Event-ID": str(after)}}, {"params": {"after": str(after)}}):
        async with http.get(f"/v1/runs/{run_id}/events", **request) as response:  # type: ignore[arg-type]
            assert response.status == 200
            assert parse(await response.read()) == whole[after:]


async def test_nothing_more_to_resume_is_204(http: aiohttp.ClientSession) -> None:
    async with http.post("/v1/runs", json=KOREAN) as response:
        run_id = response.headers["X-Run-Id"]
        last = parse(await response.read())[-1][0]
    async with http.get(f"/v1/runs/{run_id}/events", headers={"Last-Event-ID": str(last)}) as response:
        assert response.status == 204
        assert await response.read() == b""


CLIENTS = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.mark.parametrize(
    ("sent", "kept"),
    [(CLIENTS, CLIENTS), ("", None), ("00-" + "0" * 32 + "-00f067aa0ba902b7-01", None), ("ff" + CLIENTS[2:], None)],
    ids=["valid", "none", "zeros", "no version"],
)
async def test_client_trace_and_interface_reach_the_record(
    http: aiohttp.ClientSession, bus: Bus, sent: str, kept: str | None
) -> None:
    async with http.post("/v1/runs", json=KOREAN, headers={"traceparent": sent} if sent else {}) as response:
        run_id = response.headers["X-Run-Id"]
    async with http.ws_connect("/v1/ws", headers={"traceparent": sent} if sent else {}) as socket:
        await socket.send_json(KOREAN)
        by_socket = (await socket.receive_json(timeout=60))["run_id"]
    for asked, via in ((run_id, "sse"), (by_socket, "websocket")):
        headers = (await bus.journal.run(asked))[0].headers
        assert (headers.get(TRACEPARENT), headers.get(VIA)) == (kept, via)
