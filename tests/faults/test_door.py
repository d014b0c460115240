"""Attacks on the HTTP door, each refused: over real edges that share their keys, before a real nats-server."""

import asyncio
import gzip
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import aiohttp
import pytest
from aiohttp import WSMsgType
from yarl import URL

from tests.faults.door import APP, ASK, JSON, TO, World, bus, bus_settings, http, pipeline, runs, world
from tests.runtime.edge.conftest import Bus

__all__ = ["bus", "bus_settings", "http", "pipeline", "runs", "world"]  # fixtures


@dataclass(frozen=True)
class Attack:
    """A request, its key, and its expected status and code."""

    status: int
    code: str
    method: str = "GET"
    path: str = "/v1/runs/<ann>"
    key: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    door: str = "locked"


def asking(
    status: int, code: str, key: str = "", path: str = "/v1/runs", body: bytes = ASK, door: str = "locked", **more: str
) -> Attack:
    """A question with more headers; `_` in their names is `-`."""
    headers = JSON | {name.replace("_", "-"): value for name, value in more.items()}
    return Attack(status, code, "POST", path, key, headers, body, door)


CHAT = b'{"model": "general", "messages": [{"role": "user", "content": "How long?"}]}'
#: 20 MB in 20 kB.
BOMB = gzip.compress(bytes(20_000_000))
CANCEL = {"method": "POST", "path": "/v1/runs/<ann>/cancel"}
EVENTS = "/v1/runs/<ann>/events"

ATTACKS = {
    # the key
    "no key": asking(401, "no_key"),
    "wrong key": asking(401, "bad_key", "wrong"),
    "prefix of a key": asking(401, "bad_key", "prefix"),
    "key with a tail": asking(401, "bad_key", "longer"),
    "the digest as the key": asking(401, "bad_key", "digest"),
    "one key's secret under another's id": asking(401, "bad_key", "id of another"),
    "empty key": asking(401, "bad_key", "empty"),
    "the name as the key": asking(401, "bad_key", "name"),
    "expired key": asking(401, "bad_key", "late"),
    "revoked key": asking(401, "bad_key", "gone"),
    "basic authorization": asking(401, "bad_key", Authorization="Basic YW5uOmFubg=="),
    "key in the query": Attack(401, "no_key", path="/v1/runs/<ann>?key=ann&access_token=ann"),
    "key in a cookie": Attack(401, "no_key", headers={"Cookie": "Authorization=Bearer x"}),
    "claims to be local": asking(401, "no_key", X_Forwarded_For="127.0.0.1", X_Real_IP="127.0.0.1"),
    "a forwarded name": asking(401, "no_key", X_Forwarded_Host="localhost", Forwarded="for=127.0.0.1;host=localhost"),
    "wrong key at the open door": Attack(401, "bad_key", key="wrong", door="open"),
    "no key for the index": Attack(401, "no_key", path="/v1/index"),
    "no key for metrics": Attack(401, "no_key", path="/metrics"),
    "no key for models": Attack(401, "invalid_api_key", path="/v1/models"),
    "no key for a socket": Attack(401, "no_key", path="/v1/ws"),
    "no key for chat": asking(401, "invalid_api_key", path="/v1/chat/completions", body=CHAT),
    # the scope
    "a search key asks": asking(403, "no_scope", "searcher"),
    "a search key chats": asking(403, "insufficient_permissions", "searcher", "/v1/chat/completions", CHAT),
    "a read key searches": asking(403, "no_scope", "reader", "/v1/search", b'{"query": "a"}'),
    "a search key reads": Attack(403, "no_scope", key="searcher"),
    "a read key cancels": Attack(403, "no_scope", key="reader", **CANCEL),
    "the index without admin": Attack(403, "no_scope", path="/v1/index", key="ann"),
    "metrics without admin": Attack(403, "no_scope", path="/metrics", key="ann"),
    # the runs of others
    "another's run": Attack(404, "no_such_run", key="eve"),
    "another's run by a key that only reads": Attack(404, "no_such_run", key="reader"),
    "another's events": Attack(404, "no_such_run", path=EVENTS, key="eve"),
    "another's end": Attack(404, "no_such_run", key="eve", **CANCEL),
    "a key's run at the open door": Attack(404, "no_such_run", door="open"),
    "a key's events at the open door": Attack(404, "no_such_run", path=EVENTS, door="open"),
    "a key's run cancelled at the open door": Attack(404, "no_such_run", door="open", **CANCEL),
    "the open door's run by a key": Attack(404, "no_such_run", path="/v1/runs/<nobody>", key="eve"),
    "an internal run at the open door": Attack(404, "no_such_run", path="/v1/runs/<internal>", door="open"),
    "an internal run looked up by admin": Attack(404, "no_such_run", path="/v1/runs/<internal>", key="root"),
    "an internal run cancelled": Attack(404, "no_such_run", "POST", "/v1/runs/<internal>/cancel", door="open"),
    "an internal run that is not there": Attack(404, "no_such_run", path="/v1/runs/canary-2", key="root"),
    "a run whose access cannot be read": Attack(404, "no_such_run", path="/v1/runs/<orphan>", key="root"),
    "an internal run by admin": Attack(404, "no_such_run", path="/v1/runs/<internal>/events", key="root"),
    # host and origin
    "rebound name": Attack(421, "wrong_host", key="ann", headers={"Host": "evil.example:<port>"}),
    "rebound name at the open door": Attack(421, "wrong_host", headers={"Host": "evil.example"}, door="open"),
    "a name that begins with ours": Attack(421, "wrong_host", headers={"Host": "localhost.evil.example:<port>"}),
    "a name that ends with ours": Attack(421, "wrong_host", headers={"Host": "evil.localhost:<port>"}),
    "our name with a dot": Attack(421, "wrong_host", headers={"Host": "localhost.:<port>"}),
    "another port": Attack(421, "wrong_host", headers={"Host": "127.0.0.1:1"}),
    "no port": Attack(421, "wrong_host", headers={"Host": "localhost"}),
    "a user before the host": Attack(421, "wrong_host", headers={"Host": "localhost:<port>@evil.example"}),
    "zero address": Attack(421, "wrong_host", headers={"Host": "0.0.0.0:<port>"}),
    "rebinding for health": Attack(421, "wrong_host", path="/healthz", headers={"Host": "evil.example"}),
    "foreign page asks": asking(403, "foreign_origin", "ann", Origin="https://evil.example"),
    "foreign page reads": Attack(403, "foreign_origin", key="ann", headers={"Origin": "https://evil.example"}),
    "foreign page at the open door": asking(403, "foreign_origin", door="open", Origin="https://evil.example"),
    "page without origin": asking(403, "foreign_origin", "ann", Origin="null"),
    "origin with an open bracket": asking(403, "foreign_origin", "ann", Origin="http://[::1"),
    "another app of this machine": asking(403, "foreign_origin", "ann", Origin="http://localhost:9999"),
    "an allowed origin as a prefix": asking(403, "foreign_origin", "ann", Origin=f"{APP}.evil.example"),
    "an allowed origin by another scheme": asking(403, "foreign_origin", "ann", Origin="http://app.example.org"),
    "foreign page's chat": asking(
        403, "insufficient_permissions", "ann", "/v1/chat/completions", CHAT, Origin="https://evil.example"
    ),
    "foreign page's image": Attack(403, "foreign_origin", key="ann", headers={"Sec-Fetch-Site": "cross-site"}),
    "a neighbour port's script": Attack(
        403, "foreign_origin", headers={"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, door="open"
    ),
    "foreign preflight": Attack(
        403,
        "foreign_origin",
        "OPTIONS",
        "/v1/runs",
        headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"},
    ),
    "simple request": Attack(415, "not_json", "POST", "/v1/runs", "ann", {"Content-Type": "text/plain"}, ASK),
    # methods and paths
    "method override": Attack(404, "no_such_run", key="eve", headers={"X-HTTP-Method-Override": "DELETE"}),
    "override of a cancel": Attack(
        405, "method_not_allowed", path="/v1/runs/<ann>/cancel", key="ann", headers={"X-HTTP-Method-Override": "POST"}
    ),
    "two slashes": Attack(404, "no_such_path", path="//v1/runs/<ann>"),
    "two slashes within": Attack(404, "no_such_path", path="/v1//runs/<ann>"),
    "coded letters": Attack(401, "no_key", path="/v1/%69ndex"),
    "dots to the index": Attack(404, "no_such_path", path="/v1/runs/../index"),
    "coded dots": Attack(404, "no_such_path", path="/v1/%2e%2e/metrics"),
    "coded slash": Attack(404, "no_such_path", path="/v1%2Findex"),
    "capitals": Attack(404, "no_such_path", path="/V1/INDEX"),
    "a slash behind": Attack(404, "no_such_path", path="/v1/index/"),
    "a semicolon": Attack(404, "no_such_path", path="/v1/index;a=b"),
    "a zero byte": Attack(404, "no_such_path", path="/v1/index%00"),
    "bytes that are no text": Attack(400, "bad_id", path="/v1/runs/%ff%fe", key="ann"),
    "a page behind a fragment": Attack(401, "no_key", path="/metrics?/healthz"),
    # bodies
    "NaN": asking(400, "not_json", "ann", body=b'{"question": "a", "deadline_s": NaN}'),
    "NaN in place of an object": asking(400, "not_json", "ann", body=b'{"question": 7, "a": NaN}'),
    "5,000 digits of a deadline": asking(
        400, "not_json", "ann", body=b'{"question":"a","deadline_s":' + b"1" * 5000 + b"}"
    ),
    "a huge exponent": asking(400, "not_json", "ann", body=b'{"question": "a", "deadline_s": 1e999999}'),
    "nested lists": asking(400, "not_json", "ann", body=b"[" * 20_000),
    "nested objects": asking(400, "not_json", "ann", body=b'{"question":' * 4000 + b"1" + b"}" * 4000),
    "nested chat": asking(
        400, "not_json", "ann", "/v1/chat/completions", b'{"model":"general","x":' + b"[" * 9000 + b"]" * 9000 + b"}"
    ),
    "lone surrogate as a name": asking(400, "not_json", "ann", body=b'{"question": "a", "\\udc00": 1}'),
    "byte order mark": asking(400, "not_json", "ann", body=b"\xef\xbb\xbf" + ASK),
    "UTF-16": asking(400, "not_json", "ann", body=ASK.decode().encode("utf-16")),
    "two values": asking(400, "not_json", "ann", body=ASK + ASK),
    "compressed": asking(415, "compressed", "ann", body=BOMB, Content_Encoding="gzip"),
    "compressed twice": asking(415, "compressed", "ann", body=BOMB, Content_Encoding="deflate, GZip"),
    "compressed chat": asking(415, "compressed", "ann", "/v1/chat/completions", BOMB, Content_Encoding="br"),
    "compressed without a key": asking(401, "no_key", body=BOMB, Content_Encoding="gzip"),
    "compressed and oversized": asking(413, "too_large", "ann", body=BOMB * 8, Content_Encoding="gzip"),
    "event id of 5,000 digits": Attack(
        400, "bad_event_id", path=EVENTS, key="ann", headers={"Last-Event-ID": "1" * 5000}
    ),
    "event id that is negative": Attack(400, "bad_event_id", path=f"{EVENTS}?after=-1", key="ann"),
    "unknown expectation": Attack(404, "no_such_run", key="eve", headers={"Expect": "the unexpected"}),
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
async def test_it_is_refused(http: aiohttp.ClientSession, world: World, attack: Attack) -> None:
    base = getattr(world, attack.door)
    headers = {name: world.filled(value) for name, value in attack.headers.items()}
    if attack.key:
        headers |= world.bearer(attack.key)
    url = URL(base + world.filled(attack.path), encoded=True)
    async with http.request(attack.method, url, headers=headers, data=attack.body) as response:
        said = json.loads(await response.read())
        told = said.get("error", said)
        assert (response.status, told["code"]) == (attack.status, attack.code), told
        text = told["message" if "error" in said else "detail"]
        assert text.isprintable()
        assert world.tokens["ann"] not in text
        assert ("WWW-Authenticate" in response.headers) == (attack.status == 401)
    assert await alive(http, base)


@pytest.mark.parametrize("key", ["", "wrong", "ann"])
@pytest.mark.parametrize("path", ["/v1/runs", "/v1/check", "/mcp", "/nothing"])
async def test_no_body_is_inflated(http: aiohttp.ClientSession, world: World, path: str, key: str) -> None:
    headers = JSON | {"Content-Encoding": "gzip"} | (world.bearer(key) if key else {})
    begun = time.process_time()
    for _ in range(10):
        async with http.post(world.locked + path, data=BOMB, headers=headers) as response:
            assert response.status in (401, 404, 415)
    assert time.process_time() - begun < 0.1


async def alive(http: aiohttp.ClientSession, base: str) -> bool:
    async with http.get(f"{base}/healthz") as response:
        return response.status == 200


#: Bytes on a separate connection, with `<to>` for the lines of a whole question, and the expected status.
RAW = {
    "two hosts": (b"GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n" + TO + b"\r\n", 400),
    "no host": (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
    "another host in the request line": (b"GET http://evil.example/healthz HTTP/1.1\r\n" + TO + b"\r\n", 421),
    "host of bytes": (b"GET /healthz HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n", 421),
    "two keys": (b"GET /v1/models HTTP/1.1\r\nAuthorization: Bearer x\r\n" + TO + b"\r\n", 401),
    "two origins": (
        b"GET /v1/models HTTP/1.1\r\nOrigin: http://127.0.0.1:<port>\r\nOrigin: null\r\n" + TO + b"\r\n",
        403,
    ),
    "origin of bytes": (b"GET /v1/models HTTP/1.1\r\nOrigin: \xff\xfe\r\n" + TO + b"\r\n", 403),
    "content type of bytes": (
        b"POST /v1/runs HTTP/1.1\r\n" + TO.replace(b"application/json", b"\xff\xfe") + b"Content-Length: 2\r\n\r\n{}",
        415,
    ),
    "event id of bytes": (b"GET /v1/runs/a/events HTTP/1.1\r\nLast-Event-ID: \xff\r\n" + TO + b"\r\n", 400),
    "two lengths": (
        b"POST /v1/runs HTTP/1.1\r\n" + TO + b"Content-Length: 2\r\nContent-Length: 25\r\n\r\n{}GET /metrics HTTP/1.1",
        400,
    ),
    "length and chunks": (
        b"POST /v1/runs HTTP/1.1\r\n" + TO + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    "zero in a header": (b"GET /healthz HTTP/1.1\r\nX: a\x00b\r\n" + TO + b"\r\n", 400),
    "control character in the key": (
        b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:<port>\r\nAuthorization: Bearer gw_\x07\r\n\r\n",
        400,
    ),
    "header of 9 kB": (b"GET /healthz HTTP/1.1\r\nX: " + b"a" * 9000 + b"\r\n" + TO + b"\r\n", 400),
    "a hundred headers": (b"GET /healthz HTTP/1.1\r\n" + b"X: a\r\n" * 100 + TO + b"\r\n", 400),
    "path of 9 kB": (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + TO + b"\r\n", 400),
    "path of bytes": (b"GET /\xff\xfe HTTP/1.1\r\n" + TO + b"\r\n", 400),
    "unknown method": (b"PROPFIND /v1/models HTTP/1.1\r\n" + TO + b"\r\n", 405),
    "a tunnel": (b"CONNECT evil.example:443 HTTP/1.1\r\n" + TO + b"\r\n", 421),
    "everything": (b"OPTIONS * HTTP/1.1\r\n" + TO + b"\r\n", 404),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 40 + b"\r\n\r\n", 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
}


@pytest.mark.parametrize(("sent", "status"), RAW.values(), ids=RAW.keys())
async def test_bytes_are_refused_in_one_line(
    http: aiohttp.ClientSession, world: World, caplog: pytest.LogCaptureFixture, sent: bytes, status: int
) -> None:
    port = world.locked.rpartition(":")[2]
    filled = sent.replace(b"<port>", port.encode()).replace(b"<ann>", world.tokens["ann"].encode())
    reader, writer = await asyncio.open_connection("127.0.0.1", int(port))
    writer.write(filled)
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
    body = await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split()[0]))
    writer.close()
    assert head.split()[1] == str(status).encode(), head + body
    assert b"application/problem+json" in head or b"/v1/models" in sent
    problem = json.loads(body)
    detail = problem["error"]["message"] if "error" in problem else problem["detail"]
    assert detail.isprintable()
    assert not any(each in detail for each in world.tokens.values() if each)
    told = [record for record in caplog.records if record.name.startswith(("aiohttp", "groundwire.edge"))]
    assert not told  # no client fills the log from outside
    assert await alive(http, world.locked)


@dataclass(frozen=True)
class Frame:
    """A socket's frame, its key, and the expected code of the error."""

    code: str
    sent: str
    key: str = "ann"


FRAMES = {
    "another's run resumed": Frame("no_such_run", '{"type":"resume","run_id":"<eve>"}'),
    "another's run cancelled": Frame("no_such_run", '{"type":"cancel","run_id":"<eve>"}'),
    "an internal run resumed": Frame("no_such_run", '{"type":"resume","run_id":"<internal>"}', "root"),
    "the open door's run resumed": Frame("no_such_run", '{"type":"resume","run_id":"<nobody>"}'),
    "a search key asks": Frame("no_scope", '{"question":"a"}', "searcher"),
    "a read key asks": Frame("no_scope", '{"question":"a"}', "reader"),
    "a read key cancels": Frame("no_scope", '{"type":"cancel","run_id":"<ann>"}', "reader"),
    "a search key resumes": Frame("no_scope", '{"type":"resume","run_id":"<ann>"}', "searcher"),
    "nested lists": Frame("not_json", "[" * 20_000),
    "a nested type": Frame("not_json", '{"type":' + "[" * 9000 + "]" * 9000 + "}"),
    "5,000 digits": Frame("not_json", '{"type":"resume","run_id":"a","after":' + "1" * 5000 + "}"),
    "30 digits": Frame("invalid", '{"type":"resume","run_id":"a","after":' + "1" * 30 + "}"),
    "before the beginning": Frame("invalid", '{"type":"resume","run_id":"<ann>","after":-1}'),
    "NaN": Frame("not_json", '{"question":7,"a":NaN}'),
    "lone surrogate": Frame("not_json", '{"question":"\\ud800"}'),
    "a type that is none": Frame("invalid", '{"type":"grant","key":"root"}'),
    "an access of its own": Frame("invalid", '{"question":"a","access":{"key":"root"}}'),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
async def test_a_frame_is_refused(http: aiohttp.ClientSession, world: World, frame: Frame) -> None:
    async with http.ws_connect(f"{world.locked}/v1/ws", headers=world.bearer(frame.key)) as socket:
        await socket.send_str(world.filled(frame.sent))
        error = (await socket.receive_json(timeout=30))["event"]
        assert (error["type"], error["code"]) == ("error", frame.code), error
        assert (await socket.receive_json(timeout=30))["event"] == {"type": "DONE"}


HANDSHAKES: dict[str, tuple[int, dict[str, str], tuple[str, ...]]] = {
    "wrong key as a subprotocol": (401, {}, ("groundwire", "groundwire.key.gw_00000000_" + "A" * 43)),
    "key as a bare subprotocol": (401, {}, ("<ann>",)),
    "foreign page with a key": (403, {"Origin": "https://evil.example"}, ("groundwire", "groundwire.key.<ann>")),
    "rebound page with a key": (
        421,
        {"Origin": "http://evil.example:<port>", "Host": "evil.example:<port>"},
        ("groundwire", "groundwire.key.<ann>"),
    ),
}


@pytest.mark.parametrize(("status", "headers", "protocols"), HANDSHAKES.values(), ids=HANDSHAKES.keys())
async def test_a_socket_is_refused(
    http: aiohttp.ClientSession, world: World, status: int, headers: dict[str, str], protocols: tuple[str, ...]
) -> None:
    filled = {name: world.filled(value) for name, value in headers.items()}
    offered = [each.replace("<ann>", world.tokens["ann"]) for each in protocols]
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await http.ws_connect(f"{world.locked}/v1/ws", headers=filled, protocols=offered)
    assert refused.value.status == status


async def test_page_sends_its_key_as_a_subprotocol(http: aiohttp.ClientSession, world: World) -> None:
    offered = ["groundwire", f"groundwire.key.{world.tokens['ann']}"]
    headers = {"Origin": world.locked}
    async with http.ws_connect(f"{world.locked}/v1/ws", protocols=offered, headers=headers) as socket:
        assert socket.protocol == "groundwire"
        await socket.send_json({"type": "resume", "run_id": world.runs["ann"]})
        assert '"token"' in await socket.receive_str(timeout=30)


async def test_socket_is_never_compressed(http: aiohttp.ClientSession, world: World) -> None:
    async with http.ws_connect(f"{world.locked}/v1/ws", headers=world.bearer("ann"), compress=15) as socket:
        assert socket.compress == 0
        await socket.send_str("x" * 66_000)
        message = await socket.receive(timeout=30)
        assert (message.type, socket.close_code) == (WSMsgType.CLOSE, 1009)
    assert await alive(http, world.locked)


async def test_nothing_that_was_refused_is_written(http: aiohttp.ClientSession, world: World, bus: Bus) -> None:
    before = (await bus.journal.usage("RUNS")).last
    for headers in ({}, world.bearer("searcher"), world.bearer("ann") | {"Origin": "https://evil.example"}):
        async with http.post(f"{world.locked}/v1/runs", json={"question": "a"}, headers=headers) as response:
            assert response.status in (401, 403)
    assert (await bus.journal.usage("RUNS")).last == before
