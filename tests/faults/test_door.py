"""Attacks on the HTTP door, each refused: over real edges that share their keys, before a real nats-server."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest
from aiohttp import WSMsgType
from yarl import URL

from bus.access import Access, grant
from bus.messages import QuestionAsked
from bus.runs import Runs
from bus.searching import SearchReply, SearchRequest, serve_search
from bus.subjects import key_of
from runtime.edge.timeouts import Timeouts
from runtime.keys import KeyFile
from runtime.processes.edge import serve
from runtime.settings import AccessSettings, EdgeSettings, Settings
from tests.polling import until
from tests.runtime.edge.conftest import Bus, Pipeline, bus, bus_settings, pipeline, runs

__all__ = ["bus", "bus_settings", "pipeline", "runs"]  # fixtures

JSON = {"Content-Type": "application/json"}
ASK = b'{"question": "How long?"}'
APP = "https://app.example.org"
TIMES = Timeouts(keepalive_s=5.0, nats_s=60.0, headers_s=1.0, body_s=1.0)


@dataclass
class World:
    """Edges of one bus with the keys of some people, and runs of theirs. `locked`, `second` need a key, `open` needs none."""

    keys: KeyFile
    tokens: dict[str, str]
    locked: str
    second: str
    open: str
    runs: dict[str, str] = field(default_factory=dict)

    def filled(self, text: str) -> str:
        for name, run_id in self.runs.items():
            text = text.replace(f"<{name}>", run_id)
        return text.replace("<port>", self.locked.rpartition(":")[2])

    def bearer(self, name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[name]}"} if name else {}

    async def ask(self, http: aiohttp.ClientSession, name: str, edge: str = "", **fields: object) -> str:
        """The id of a new run of this person, once it is over."""
        body = {"question": "How long?"} | fields
        async with http.post(f"{edge or self.locked}/v1/runs", json=body, headers=self.bearer(name)) as response:
            assert response.status == 200, await response.text()
            await response.read()
            return response.headers["X-Run-Id"]


@contextlib.asynccontextmanager
async def edge(settings: Settings) -> AsyncIterator[str]:
    stop = asyncio.Event()
    listening: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve(settings, stop, timeouts=TIMES, listening=listening))
    await asyncio.wait([task, listening], return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        await task
    yield f"http://127.0.0.1:{listening.result()}"
    stop.set()
    await task


@pytest.fixture(scope="session")
async def world(
    bus: Bus, pipeline: Pipeline, runs: Runs, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[World]:
    state = tmp_path_factory.mktemp("door")
    keys = KeyFile(state / "keys.json")
    now = time.time()
    tokens = {
        "ann": keys.add("ann", ("ask", "search", "read"), now=now, groups=("sales",)),
        "eve": keys.add("eve", ("ask", "search", "read"), now=now, groups=()),
        "root": keys.add("root", ("admin",), now=now),
        "reader": keys.add("reader", ("read",), now=now, groups=()),
        "searcher": keys.add("searcher", ("search",), now=now, groups=()),
        "late": keys.add("late", ("admin",), now=now, expires_at=now - 1),
        "gone": keys.add("gone", ("admin",), now=now),
    }
    keys.revoke("gone")
    tokens["wrong"] = tokens["ann"][:-1] + ("A" if tokens["ann"][-1] != "A" else "B")
    tokens["prefix"] = tokens["ann"][:-8]
    tokens["longer"] = tokens["ann"] + "A"
    tokens["digest"] = keys.read().keys[0].digest
    tokens["id of another"] = tokens["eve"].replace(keys.read().keys[1].id, keys.read().keys[0].id)
    tokens["empty"] = ""
    tokens["name"] = "ann"
    locked = Settings(
        bus=bus.settings,
        edge=EdgeSettings(port=0, origins=f"{APP}, http://localhost:3000"),
        access=AccessSettings(required=True),
        state=str(state),
    )
    unlocked = Settings(bus=bus.settings, edge=EdgeSettings(port=0), state=str(state))
    async with edge(locked) as first, edge(locked) as second, edge(unlocked) as third:
        made = World(keys, tokens, first, second, third)
        async with aiohttp.ClientSession() as http:
            for name in ("ann", "eve"):
                made.runs[name] = await made.ask(http, name)
            made.runs["nobody"] = await made.ask(http, "", third)
        for name, run_id, access in (
            ("internal", "canary-1", Access(key="canary", groups=())),
            ("orphan", "orphan", Access()),
        ):
            made.runs[name] = run_id
            await grant(bus.journal, run_id, access)
            await bus.journal.write(key_of(QuestionAsked, run_id), QuestionAsked(question="are you there"))
        yield made


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@dataclass(frozen=True)
class Attack:
    """A request, by whose key it comes, and what it must get: a status and a code."""

    status: int
    code: str
    method: str = "GET"
    path: str = "/v1/runs/<ann>"
    key: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    door: str = "locked"


def asking(status: int, code: str, key: str = "", path: str = "/v1/runs", body: bytes = ASK, **headers: str) -> Attack:
    """A question; `_` in the names of headers is `-`."""
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return Attack(status, code, "POST", path, key, JSON | more, body)


CHAT = b'{"model": "general", "messages": [{"role": "user", "content": "How long?"}]}'
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
    "foreign page at the open door": Attack(
        403,
        "foreign_origin",
        "POST",
        "/v1/runs",
        headers=JSON | {"Origin": "https://evil.example"},
        body=ASK,
        door="open",
    ),
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
    "form": Attack(
        415, "not_json", "POST", "/v1/runs", "ann", {"Content-Type": "application/x-www-form-urlencoded"}, b"question=a"
    ),
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
    "5,000 digits": asking(400, "not_json", "ann", body=b'{"question": 7, "a": ' + b"1" * 5000 + b"}"),
    "5,000 digits of a deadline": asking(
        400, "not_json", "ann", body=b'{"question":"a","deadline_s":' + b"1" * 5000 + b"}"
    ),
    "a huge exponent": asking(400, "not_json", "ann", body=b'{"question": "a", "deadline_s": 1e999999}'),
    "nested lists": asking(400, "not_json", "ann", body=b"[" * 20_000),
    "nested lists, closed": asking(400, "not_json", "ann", body=b"[" * 20_000 + b"]" * 20_000),
    "nested objects": asking(400, "not_json", "ann", body=b'{"question":' * 4000 + b"1" + b"}" * 4000),
    "nested filter": asking(
        400, "not_json", "ann", body=b'{"question":"a","filter":' + b"[" * 9000 + b"]" * 9000 + b"}"
    ),
    "nested chat": asking(
        400, "not_json", "ann", "/v1/chat/completions", b'{"model":"general","x":' + b"[" * 9000 + b"]" * 9000 + b"}"
    ),
    "nested search": asking(400, "not_json", "ann", "/v1/search", b'{"query":' + b"[" * 9000 + b"]" * 9000 + b"}"),
    "lone surrogate": asking(400, "not_json", "ann", body=b'{"question": "\\ud83d"}'),
    "lone surrogate as a name": asking(400, "not_json", "ann", body=b'{"question": "a", "\\udc00": 1}'),
    "byte order mark": asking(400, "not_json", "ann", body=b"\xef\xbb\xbf" + ASK),
    "UTF-16": asking(400, "not_json", "ann", body=ASK.decode().encode("utf-16")),
    "two values": asking(400, "not_json", "ann", body=ASK + ASK),
    "oversized": asking(413, "too_large", "ann", body=b'{"question": "' + b"a" * 70_000 + b'"}'),
    "zip that is none": Attack(400, "bad_body", "POST", "/v1/runs", "ann", JSON | {"Content-Encoding": "gzip"}, ASK),
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


async def alive(http: aiohttp.ClientSession, base: str) -> bool:
    async with http.get(f"{base}/healthz") as response:
        return response.status == 200


#: Bytes on a connection of their own, `<to>` being the lines of a whole question, and the status that they get.
TO = b"Host: 127.0.0.1:<port>\r\nAuthorization: Bearer <ann>\r\nContent-Type: application/json\r\n"
RAW = {
    "two hosts": (b"GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n" + TO + b"\r\n", 400),
    "no host": (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
    "no host in HTTP/1.0": (b"GET /healthz HTTP/1.0\r\n\r\n", 400),
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
    "chunks by another name": (
        b"POST /v1/runs HTTP/1.1\r\n" + TO + b"Transfer-Encoding: xchunked\r\nContent-Length: 2\r\n\r\n{}",
        400,
    ),
    "chunked twice": (
        b"POST /v1/runs HTTP/1.1\r\n" + TO + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n",
        400,
    ),
    "chunk of no size": (
        b"POST /v1/runs HTTP/1.1\r\n" + TO + b"Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n",
        400,
    ),
    "length below zero": (b"POST /v1/runs HTTP/1.1\r\n" + TO + b"Content-Length: -2\r\n\r\n{}", 400),
    "length with a sign": (b"POST /v1/runs HTTP/1.1\r\n" + TO + b"Content-Length: +2\r\n\r\n{}", 400),
    "folded header": (b"GET /healthz HTTP/1.1\r\nX: a\r\n Host: b\r\n" + TO + b"\r\n", 400),
    "blank before the colon": (b"GET /healthz HTTP/1.1\r\nHost : evil.example\r\n" + TO + b"\r\n", 400),
    "header without a name": (b"GET /healthz HTTP/1.1\r\n: x\r\n" + TO + b"\r\n", 400),
    "zero in a header": (b"GET /healthz HTTP/1.1\r\nX: a\x00b\r\n" + TO + b"\r\n", 400),
    "control character in the key": (
        b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:<port>\r\nAuthorization: Bearer gw_\x07\r\n\r\n",
        400,
    ),
    "header of 9 kB": (b"GET /healthz HTTP/1.1\r\nX: " + b"a" * 9000 + b"\r\n" + TO + b"\r\n", 400),
    "a hundred headers": (b"GET /healthz HTTP/1.1\r\n" + b"X: a\r\n" * 100 + TO + b"\r\n", 400),
    "path of 9 kB": (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + TO + b"\r\n", 400),
    "path of bytes": (b"GET /\xff\xfe HTTP/1.1\r\n" + TO + b"\r\n", 400),
    "no method": (b"/v1/runs HTTP/1.1\r\n" + TO + b"\r\n", 400),
    "unknown method": (b"PROPFIND /v1/models HTTP/1.1\r\n" + TO + b"\r\n", 405),
    "a tunnel": (b"CONNECT evil.example:443 HTTP/1.1\r\n" + TO + b"\r\n", 421),
    "everything": (b"OPTIONS * HTTP/1.1\r\n" + TO + b"\r\n", 404),
    "no version": (b"GET /healthz\r\n\r\n", 400),
    "a version to come": (b"GET /healthz HTTP/9.9\r\n" + TO + b"\r\n", 400),
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
    assert not caplog.records  # nobody fills the log from outside
    assert await alive(http, world.locked)


@dataclass(frozen=True)
class Frame:
    """What a socket is sent, by whose key, and the code of the error that it gets."""

    code: str
    sent: str | bytes
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
    "a nested run": Frame("not_json", '{"type":"resume","run_id":' + "[" * 9000 + "]" * 9000 + "}"),
    "5,000 digits": Frame("not_json", '{"type":"resume","run_id":"a","after":' + "1" * 5000 + "}"),
    "30 digits": Frame("invalid", '{"type":"resume","run_id":"a","after":' + "1" * 30 + "}"),
    "before the beginning": Frame("invalid", '{"type":"resume","run_id":"<ann>","after":-1}'),
    "NaN": Frame("not_json", '{"question":7,"a":NaN}'),
    "lone surrogate": Frame("not_json", '{"question":"\\ud800"}'),
    "binary": Frame("not_json", b"\x00\xff"),
    "a type that is none": Frame("invalid", '{"type":"grant","key":"root"}'),
    "an access of its own": Frame("invalid", '{"question":"a","access":{"key":"root"}}'),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
async def test_a_frame_is_refused(http: aiohttp.ClientSession, world: World, frame: Frame) -> None:
    async with http.ws_connect(f"{world.locked}/v1/ws", headers=world.bearer(frame.key)) as socket:
        if isinstance(frame.sent, bytes):
            await socket.send_bytes(frame.sent)
        else:
            await socket.send_str(world.filled(frame.sent))
        error = json.loads(await socket.receive_str(timeout=30))
        assert (error["type"], error["code"]) == ("error", frame.code), error
        assert json.loads(await socket.receive_str(timeout=30)) == {"type": "DONE"}


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


async def test_a_page_gives_its_key_as_a_subprotocol(http: aiohttp.ClientSession, world: World) -> None:
    offered = ["groundwire", f"groundwire.key.{world.tokens['ann']}"]
    headers = {"Origin": world.locked}
    async with http.ws_connect(f"{world.locked}/v1/ws", protocols=offered, headers=headers) as socket:
        assert socket.protocol == "groundwire"
        await socket.send_json({"type": "resume", "run_id": world.runs["ann"]})
        assert '"token"' in await socket.receive_str(timeout=30)


async def test_a_frame_that_unpacks_to_megabytes_ends_the_socket(http: aiohttp.ClientSession, world: World) -> None:
    async with http.ws_connect(f"{world.locked}/v1/ws", headers=world.bearer("ann"), compress=15) as socket:
        await socket.send_str("x" * 10_000_000)
        message = await socket.receive(timeout=30)
        assert (message.type, socket.close_code) == (WSMsgType.CLOSE, 1009)
    assert await alive(http, world.locked)


# ---------------------------------------------------------------- runs and their owners


async def test_an_idempotency_key_belongs_to_a_key(http: aiohttp.ClientSession, world: World) -> None:
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


async def test_a_run_is_its_keys_at_every_edge_and_admins(http: aiohttp.ClientSession, world: World) -> None:
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


async def test_a_key_with_fewer_groups_has_nothing_of_what_it_asked_with_more(
    http: aiohttp.ClientSession, world: World
) -> None:
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


async def test_nothing_that_was_refused_is_written(http: aiohttp.ClientSession, world: World, bus: Bus) -> None:
    before = await bus.journal.last_sequence("RUNS")
    for headers in ({}, world.bearer("searcher"), world.bearer("ann") | {"Origin": "https://evil.example"}):
        async with http.post(f"{world.locked}/v1/runs", json={"question": "a"}, headers=headers) as response:
            assert response.status in (401, 403)
    assert await bus.journal.last_sequence("RUNS") == before


async def test_a_search_looks_only_where_the_key_may(http: aiohttp.ClientSession, world: World, bus: Bus) -> None:
    heard: list[SearchRequest] = []

    async def find(request: SearchRequest) -> SearchReply:
        heard.append(request)
        return SearchReply(snapshot="s")

    close = await serve_search(bus.client, find)
    await bus.client.flush()
    for name in ("ann", "searcher", "root"):
        body = {"query": "a"}
        async with http.post(f"{world.locked}/v1/search", json=body, headers=world.bearer(name)) as response:
            assert response.status == 200
    await close()
    assert [each.groups for each in heard] == [("sales",), (), None]


# ---------------------------------------------------------------- keys that go


async def test_a_revoked_key_is_refused_and_its_streams_are_cut(
    http: aiohttp.ClientSession, world: World, pipeline: Pipeline
) -> None:
    held = asyncio.Event()

    async def wait(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        await held.wait()

    pipeline.scripts["forever"] = wait
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
    held.set()


async def accepted(http: aiohttp.ClientSession, world: World, name: str) -> bool:
    """Whether every edge has read of the key."""
    for base in (world.locked, world.second):
        async with http.get(f"{base}/v1/models", headers=world.bearer(name)) as response:
            if response.status == 401:
                return False
    return True


async def test_a_file_that_breaks_lets_nobody_in_and_one_that_is_back_does(
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


async def test_a_rate_is_kept_and_the_wait_it_names_is_true(http: aiohttp.ClientSession, world: World) -> None:
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
    await asyncio.sleep(float(told))  # the wait is what is tested
    async with http.get(f"{world.second}/v1/models", headers=world.bearer("rated")) as response:
        assert response.status == 200


async def test_so_many_at_a_time_by_stream_and_socket(
    http: aiohttp.ClientSession, world: World, pipeline: Pipeline
) -> None:
    held = asyncio.Event()

    async def wait(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        await held.wait()

    pipeline.scripts["holding"] = wait
    world.tokens["one"] = world.keys.add("one", ("ask",), now=time.time(), concurrency=1)
    await until(lambda: accepted(http, world, "one"))
    body, headers = {"question": "holding"}, world.bearer("one")
    async with http.post(f"{world.locked}/v1/runs", json=body, headers=headers):
        async with http.post(f"{world.locked}/v1/runs", json=body, headers=headers) as second:
            assert second.status == 429
            assert int(second.headers["Retry-After"]) >= 1
        async with http.ws_connect(f"{world.locked}/v1/ws", headers=headers) as socket:
            await socket.send_json(body)
            assert json.loads(await socket.receive_str(timeout=30))["code"] == "too_many"
    await until(lambda: accepted_question(http, world, headers))
    held.set()


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


async def test_a_slow_body_is_refused(world: World) -> None:
    port = world.locked.rpartition(":")[2]
    reader, writer = await asyncio.open_connection("127.0.0.1", int(port))
    head = TO.replace(b"<port>", port.encode()).replace(b"<ann>", world.tokens["ann"].encode())
    writer.write(b"POST /v1/runs HTTP/1.1\r\n" + head + b"Content-Length: 100\r\n\r\n{")
    assert b" 408 " in await asyncio.wait_for(reader.readline(), 30)
    writer.close()


# ---------------------------------------------------------------- what is let in


async def test_an_allowed_page_may_ask_and_read(http: aiohttp.ClientSession, world: World) -> None:
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


async def test_names_of_the_setting_are_let_in(http: aiohttp.ClientSession, bus: Bus, tmp_path: Path) -> None:
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


async def test_what_needs_no_key_tells_nothing(http: aiohttp.ClientSession, world: World) -> None:
    for path in ("/healthz", "/", "/openapi.json", "/asyncapi.json"):
        async with http.get(f"{world.locked}{path}") as response:
            assert response.status == 200
    for key, told in (("", False), ("ann", False), ("wrong", False), ("root", True)):
        async with http.get(f"{world.locked}/readyz", headers=world.bearer(key)) as response:
            assert bool((await response.json())["checks"]) is told
    async with http.get(f"{world.open}/readyz") as response:
        assert (await response.json())["checks"]


async def test_at_the_open_door_a_key_is_that_key_and_anything_else_is_none(
    http: aiohttp.ClientSession, world: World
) -> None:
    for headers, status in (({}, 200), ({"Authorization": "Bearer none"}, 200), (world.bearer("ann"), 403)):
        async with http.get(f"{world.open}/metrics", headers=headers) as response:
            assert response.status == status


async def test_the_document_declares_the_key(http: aiohttp.ClientSession, world: World) -> None:
    needs = {}
    for base in (world.locked, world.open):
        async with http.get(f"{base}/openapi.json") as response:
            document = await response.json()
        assert document["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
        needs[base] = {path: each["security"] for path, item in document["paths"].items() for each in item.values()}
    assert needs[world.locked]["/v1/runs"] == [{"key": ["ask"]}]
    assert needs[world.open]["/v1/runs"] == [{}, {"key": ["ask"]}]
    assert needs[world.locked]["/healthz"] == []
    open_to_all = {path for path, security in needs[world.locked].items() if not security}
    assert open_to_all == {"/", "/favicon.ico", "/healthz", "/readyz", "/openapi.json", "/asyncapi.json"}


async def test_of_several_values_of_one_name_the_last_counts(http: aiohttp.ClientSession, world: World) -> None:
    body = b'{"question": "Never?", "question": "How long?"}'
    async with http.post(f"{world.open}/v1/runs", data=body, headers=JSON) as response:
        assert response.status == 200
        assert b'"How"' in await response.read()
