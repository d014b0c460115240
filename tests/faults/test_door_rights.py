"""Ownership of runs, idempotency keys and searches, rights of keys, admitted requests: over the edges of the attack tests."""

import asyncio
import contextlib
import socket
import time
from pathlib import Path

import aiohttp
import psutil
import pytest
from aiohttp import WSMsgType

from bus.powers.searching import SearchReply
from runtime.edge.timeouts import Timeouts
from runtime.keys import KeyFile
from runtime.settings import AccessSettings, EdgeSettings, Settings
from tests.bus.wires import search_process
from tests.faults.door import APP, JSON, TO, World, bus, bus_settings, edge, http, pipeline, runs, world
from tests.polling import until
from tests.runtime.edge.conftest import Bus, Pipeline
from tests.runtime.edge.test_edge_streams import Paced

__all__ = ["bus", "bus_settings", "http", "pipeline", "runs", "world"]  # fixtures

# ---------------------------------------------------------------- runs and their owners


async def test_idempotency_key_belongs_to_a_key(http: aiohttp.ClientSession, world: World) -> None:
    asked = {"idempotency_key": "invoice-7"}
    mine = await world.ask(http, "ann", **asked)
    assert await world.ask(http, "ann", world.second, **asked) == mine  # at another edge too
    assert await world.ask(http, "eve", **asked) != mine
    assert await world.ask(http, "", world.open, **asked) != mine
    for name, base in (("ann", world.second), ("eve", world.locked), ("", world.open)):
        body = {"question": "What else?"} | asked
        async with http.post(f"{base}/v1/runs", json=body, headers=world.bearer(name)) as response:
            said = await response.text()
            assert response.status == 409
        assert not any(run_id in said for run_id in (mine, *world.runs.values()))


async def test_run_belongs_to_its_key_at_every_edge(http: aiohttp.ClientSession, world: World) -> None:
    for base in (world.locked, world.second, world.open):
        for name in ("ann", "root"):
            async with http.get(f"{base}/v1/runs/{world.runs['ann']}", headers=world.bearer(name)) as response:
                assert (await response.json())["question"] == "How long?"
        async with http.get(f"{base}/v1/runs/{world.runs['ann']}", headers=world.bearer("eve")) as other:
            told = await other.text()
        async with http.get(f"{base}/v1/runs/{'0' * 24}", headers=world.bearer("eve")) as none:
            assert (await none.text()).replace("0" * 24, world.runs["ann"]) == told
    async with http.get(f"{world.locked}/v1/runs/{world.runs['nobody']}", headers=world.bearer("root")) as response:
        assert response.status == 200


async def test_key_with_fewer_groups_loses_earlier_runs(http: aiohttp.ClientSession, world: World) -> None:
    async def renew(groups: tuple[str, ...] | None) -> None:
        if "moved" in world.tokens:
            world.keys.revoke("moved")
        world.tokens["moved"] = world.keys.add("moved", ("ask", "read"), now=time.time(), groups=groups)
        await until(lambda: accepted(http, world, "moved"))

    await renew(("sales",))
    mine = await world.ask(http, "moved", idempotency_key="then")
    for groups, seen in (((), False), (("hr",), False), (("hr", "sales"), True), (None, True)):
        await renew(groups)
        for path in ("", "/events"):
            async with http.get(f"{world.locked}/v1/runs/{mine}{path}", headers=world.bearer("moved")) as response:
                assert (response.status == 200) is seen
        assert await world.ask(http, "moved", idempotency_key="then") != mine
    world.keys.revoke("moved")


async def test_search_respects_the_groups_of_the_key(http: aiohttp.ClientSession, world: World, bus: Bus) -> None:
    async with search_process(bus.client, SearchReply(snapshot="s")) as heard:
        for name in ("ann", "searcher", "root"):
            body = {"query": "a"}
            async with http.post(f"{world.locked}/v1/search", json=body, headers=world.bearer(name)) as response:
                assert response.status == 200
    assert [each.groups for each in heard] == [("sales",), (), None]


# ---------------------------------------------------------------- keys that go


async def test_revoked_key_is_refused_and_its_streams_cut(
    http: aiohttp.ClientSession, world: World, pipeline: Pipeline
) -> None:
    pipeline.scripts["forever"] = script = Paced()
    world.tokens["temp"] = world.keys.add("temp", ("ask",), now=time.time())
    await until(lambda: accepted(http, world, "temp"))
    socket = await http.ws_connect(f"{world.locked}/v1/ws", headers=world.bearer("temp"))
    body = {"question": "forever"}
    stream = await http.post(f"{world.second}/v1/runs", json=body, headers=world.bearer("temp"))
    began = time.monotonic()
    world.keys.revoke("temp")
    assert (await socket.receive(timeout=30)).type in (WSMsgType.CLOSED, WSMsgType.CLOSE)
    with pytest.raises(aiohttp.ClientError):
        await asyncio.wait_for(stream.read(), 30)
    assert not await accepted(http, world, "temp")
    assert time.monotonic() - began < 10
    script.words.put_nowait(None)


async def accepted(http: aiohttp.ClientSession, world: World, name: str) -> bool:
    """Whether every edge has read of the key."""
    for base in (world.locked, world.second):
        async with http.get(f"{base}/v1/models", headers=world.bearer(name)) as response:
            if response.status == 401:
                return False
    return True


async def test_broken_keys_file_locks_out_until_repaired(
    http: aiohttp.ClientSession, world: World, tmp_path: Path, bus: Bus
) -> None:
    keys = KeyFile(tmp_path / "own.json")
    headers = {"Authorization": f"Bearer {keys.add('ann', ('ask',), now=time.time())}"}
    whole = keys.path.read_bytes()
    settings = Settings(
        bus=bus.settings, edge=EdgeSettings(port=0), access=AccessSettings(required=True, keys=str(keys.path))
    )

    async def status() -> int:
        async with http.get(f"{base}/v1/models", headers=headers) as response:
            return response.status

    async def becomes(wanted: int) -> None:
        async def is_so() -> bool:
            return await status() == wanted

        await until(is_so, what=f"a status of {wanted}")

    async with edge(settings) as base:
        assert await status() == 200
        keys.path.write_bytes(whole[:40])
        await becomes(503)
        keys.path.write_bytes(whole)
        await becomes(200)
        keys.path.unlink()
        await becomes(401)
        assert not keys.path.exists()


# ---------------------------------------------------------------- how much, and how slowly


async def test_rate_and_retry_after_are_exact(http: aiohttp.ClientSession, world: World) -> None:
    world.tokens["rated"] = world.keys.add("rated", ("ask",), now=time.time(), rate="3/s")
    world.tokens["mark"] = world.keys.add("mark", ("ask",), now=time.time())
    await until(lambda: accepted(http, world, "mark"))
    statuses, told = [], ""
    for _ in range(40):
        async with http.get(f"{world.second}/v1/models", headers=world.bearer("rated")) as response:
            statuses.append(response.status)
            if response.status == 429:
                told = response.headers["Retry-After"]
                assert (await response.json())["error"]["code"] == "rate_limit_exceeded"
                break
    assert statuses[:3] == [200, 200, 200]
    assert told == "1"
    await asyncio.sleep(float(told))  # the wait is under test
    async with http.get(f"{world.second}/v1/models", headers=world.bearer("rated")) as response:
        assert response.status == 200


async def test_concurrency_counts_streams_and_sockets(
    http: aiohttp.ClientSession, world: World, pipeline: Pipeline
) -> None:
    pipeline.scripts["holding"] = script = Paced()
    world.tokens["one"] = world.keys.add("one", ("ask",), now=time.time(), concurrency=1)
    await until(lambda: accepted(http, world, "one"))
    body, headers = {"question": "holding"}, world.bearer("one")
    async with http.post(f"{world.locked}/v1/runs", json=body, headers=headers):
        async with http.post(f"{world.locked}/v1/runs", json=body, headers=headers) as second:
            assert second.status == 429
            assert int(second.headers["Retry-After"]) >= 1
        async with http.ws_connect(f"{world.locked}/v1/ws", headers=headers) as socket:
            await socket.send_json(body)
            assert (await socket.receive_json(timeout=30))["event"]["code"] == "too_many"
    await until(lambda: accepted_question(http, world, headers))
    script.words.put_nowait(None)


async def accepted_question(http: aiohttp.ClientSession, world: World, headers: dict[str, str]) -> bool:
    async with http.post(f"{world.locked}/v1/runs", json={"question": "a"}, headers=headers) as response:
        return response.status == 200


SLOW = {
    "nothing": b"",
    "half a request line": b"GET /hea",
    "headers without an end": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ",
}


@pytest.mark.parametrize("begun", SLOW.values(), ids=SLOW.keys())
async def test_slow_headers_are_cut(world: World, begun: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(world.locked.rpartition(":")[2]))
    writer.write(begun)

    async def trickle() -> None:
        with contextlib.suppress(ConnectionError):
            while begun:
                writer.write(b"a")
                await writer.drain()
                await asyncio.sleep(0.05)

    trickling = asyncio.create_task(trickle())
    with contextlib.suppress(ConnectionError):
        assert await asyncio.wait_for(reader.read(), 30) == b""
    trickling.cancel()
    writer.close()


async def test_client_that_does_not_read_is_disconnected(bus: Bus, tmp_path: Path) -> None:
    """On any route: sent data is not kept for ever."""
    settings = Settings(bus=bus.settings, edge=EdgeSettings(port=0), state=str(tmp_path))
    hurried = Timeouts(nats_s=60.0, stall_s=0.2, grace_s=0.1)
    async with edge(settings, hurried) as address:
        host = address.removeprefix("http://").encode()
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.connect(("127.0.0.1", int(address.rpartition(":")[2])))
        raw.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: %s\r\n\r\n" % host * 60)
        mine = raw.getsockname()[1]
        await until(lambda: mine in _peers(), what="the connection to be taken")
        await until(lambda: mine not in _peers(), within_s=30.0, what="the connection to be cut")
        raw.close()


def _peers() -> set[int]:
    """The ports at the other end of this process's connections, which are those of the edge too."""
    here = psutil.Process().net_connections("tcp")
    return {each.raddr.port for each in here if each.raddr}


async def test_a_slow_body_is_refused(world: World) -> None:
    port = world.locked.rpartition(":")[2]
    reader, writer = await asyncio.open_connection("127.0.0.1", int(port))
    head = TO.replace(b"<port>", port.encode()).replace(b"<ann>", world.tokens["ann"].encode())
    writer.write(b"POST /v1/runs HTTP/1.1\r\n" + head + b"Content-Length: 100\r\n\r\n{")
    assert b" 408 " in await asyncio.wait_for(reader.readline(), 30)
    writer.close()


# ---------------------------------------------------------------- admitted requests


@pytest.mark.parametrize(
    "named",
    [
        "authorization,content-type,last-event-id,traceparent",
        "idempotency-key",
        "authorization,content-type,x-stainless-arch,x-stainless-os,x-stainless-retry-count",
        "mcp-protocol-version,mcp-method,mcp-name,mcp-session-id",
        "user-agent,x-title",
    ],
)
async def test_allowed_page_may_send_its_headers(http: aiohttp.ClientSession, world: World, named: str) -> None:
    """As a browser reads it: `*` is any header but Authorization, where no credentials are sent."""
    headers = {"Origin": APP, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": named}
    async with http.options(f"{world.locked}/v1/chat/completions", headers=headers) as response:
        assert response.status == 204
        allowed = {each.strip().lower() for each in response.headers["Access-Control-Allow-Headers"].split(",")}
    assert all(each in allowed or ("*" in allowed and each != "authorization") for each in named.split(","))


async def test_allowed_page_may_ask_and_read(http: aiohttp.ClientSession, world: World) -> None:
    headers = {
        "Origin": APP,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }
    async with http.options(f"{world.locked}/v1/runs", headers=headers) as response:
        assert response.status == 204
        assert response.headers["Access-Control-Allow-Origin"] == APP
        assert "POST" in response.headers["Access-Control-Allow-Methods"]
        assert "Authorization" in response.headers["Access-Control-Allow-Headers"]
        assert "Access-Control-Allow-Credentials" not in response.headers
    asked = {"Origin": APP} | world.bearer("ann")
    async with http.post(f"{world.locked}/v1/runs", json={"question": "How long?"}, headers=asked) as response:
        assert response.status == 200
        assert response.headers["Access-Control-Allow-Origin"] == APP
        assert "X-Run-Id" in response.headers["Access-Control-Expose-Headers"]
        assert b'"DONE"' in await response.read()
    async with http.post(f"{world.locked}/v1/runs", json={"question": "a"}, headers={"Origin": APP}) as response:
        assert response.status == 401  # a page reads why it was refused
        assert response.headers["Access-Control-Allow-Origin"] == APP


@pytest.mark.parametrize("name", ["localhost", "LocalHost", "127.0.0.1"])
async def test_the_own_names_are_let_in(http: aiohttp.ClientSession, world: World, name: str) -> None:
    host = f"{name}:{world.open.rpartition(':')[2]}"
    headers = {"Host": host, "Origin": f"http://{host}"}
    async with http.post(f"{world.open}/v1/runs", json={"question": "How long?"}, headers=headers) as response:
        assert response.status == 200
        await response.read()
    async with http.get(
        f"{world.open}/", headers={"Host": host, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    ) as page:
        assert page.status == 200  # a link leads here from anywhere


async def test_configured_host_names_are_accepted(http: aiohttp.ClientSession, bus: Bus, tmp_path: Path) -> None:
    settings = Settings(
        bus=bus.settings, edge=EdgeSettings(port=0, hosts="docs.example.org, intranet:81"), state=str(tmp_path)
    )
    async with edge(settings) as base:
        for host, status in {
            "docs.example.org": 200,
            "Docs.Example.org:8443": 200,
            "intranet:81": 200,
            "intranet": 421,
            "intranet:82": 421,
            "x.docs.example.org": 421,
        }.items():
            async with http.get(f"{base}/healthz", headers={"Host": host}) as response:
                assert response.status == status, host


async def test_public_routes_reveal_nothing(http: aiohttp.ClientSession, world: World) -> None:
    for path in ("/healthz", "/", "/openapi.json", "/asyncapi.json"):
        async with http.get(f"{world.locked}{path}") as response:
            assert response.status == 200
    for key, told in (("", False), ("ann", False), ("wrong", False), ("root", True)):
        async with http.get(f"{world.locked}/readyz", headers=world.bearer(key)) as response:
            assert bool((await response.json())["checks"]) is told
    async with http.get(f"{world.open}/readyz") as response:
        assert (await response.json())["checks"]


async def test_open_server_ignores_invalid_keys(http: aiohttp.ClientSession, world: World) -> None:
    for headers, status in (({}, 200), ({"Authorization": "Bearer none"}, 200), (world.bearer("ann"), 403)):
        async with http.get(f"{world.open}/metrics", headers=headers) as response:
            assert response.status == status


async def test_the_document_declares_the_key(http: aiohttp.ClientSession, world: World) -> None:
    needs = {}
    for base in (world.locked, world.open):
        async with http.get(f"{base}/openapi.json") as response:
            document = await response.json()
        assert document["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
        needs[base] = {
            (path, method): each["security"]
            for path, item in document["paths"].items()
            for method, each in item.items()
        }
    assert needs[world.locked]["/v1/runs", "post"] == [{"key": ["ask"]}]
    assert needs[world.open]["/v1/runs", "post"] == [{}, {"key": ["ask"]}]
    assert needs[world.locked]["/v1/runs", "get"] == [{"key": ["read"]}]
    assert needs[world.locked]["/healthz", "get"] == []
    open_to_all = {path for (path, _), security in needs[world.locked].items() if not security}
    page = {"/", "/documents", "/conversations/{run_id}", "/runs/{run_id}", "/page/{digest}/{name}", "/favicon.ico"}
    page |= {"/sources/{source_id}", "/source-page.css", "/source-page.js"}  # which asks for the key itself
    assert open_to_all == {*page, "/healthz", "/readyz", "/openapi.json", "/asyncapi.json"}


async def test_last_of_repeated_values_counts(http: aiohttp.ClientSession, world: World) -> None:
    body = b'{"question": "Never?", "question": "How long?"}'
    async with http.post(f"{world.open}/v1/runs", data=body, headers=JSON) as response:
        assert response.status == 200
        assert b'"How"' in await response.read()
