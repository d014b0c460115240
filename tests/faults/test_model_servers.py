"""Hostile and broken model servers: replies are bounded, redirects elsewhere refused, and what they say stays in the log."""

import asyncio
import contextlib
import gzip
import json
import logging
import re
import resource
import socket
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from bus.wire.errors import BadReply, Failure, Unavailable
from index.embedders.embedder import OpenAIEmbedder
from index.embedders.model_server import place, without_secrets
from index.embedders.reranker import RerankServer
from index.errors import IndexProblem
from runtime.engines.openai import wire
from runtime.engines.openai.engine import OpenAIEngine
from tests.runtime.engines.fake_server import Answer, says
from tests.runtime.engines.sample import collect, render, request
from tests.web_servers import served

KEY = "sk-live-0123456789abcdef"


class Server:
    """Answers every path with `answer`; `seen` are the paths and the keys that came with them."""

    def __init__(self) -> None:
        self.answer: Answer
        self.seen: list[tuple[str, str]] = []
        self.url = ""

    async def handle(self, asked: web.Request) -> web.StreamResponse:
        self.seen.append((asked.path, asked.headers.get("Authorization", "")))
        return await self.answer(asked)


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    server = Server()
    async with served(web.route("*", "/{path:.*}", server.handle)) as address:
        server.url = f"{address}/v1"
        yield server


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving() as made:
        yield made


def endless(piece: bytes, kind: str) -> Answer:
    """The same piece for ever, as fast as it is taken."""

    async def answer(asked: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": kind})
        await response.prepare(asked)
        with contextlib.suppress(ConnectionError):
            while True:
                await response.write(piece)
        return response

    return answer


async def told(server: Server, *, attempts: int = 1) -> Failure:
    """What asking the server for an answer fails with."""
    engine = OpenAIEngine(server.url, "m", api_key=KEY, attempts=attempts)
    try:
        with pytest.raises(Failure) as failed:
            await collect(engine, request(rendered=render(), seconds=60))
    finally:
        await engine.close()
    return failed.value


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.parametrize(
    ("piece", "kind"),
    [
        (b"x" * 2**16, "text/event-stream"),
        (b"\n" * 2**16, "text/event-stream"),
        (b'data: {"choices":[{"delta":{"content":"word "}}]}\n\n' * 500, "text/event-stream"),
        (b"[" * 2**16, "application/json"),
        (b"x" * 2**16, "text/html"),
    ],
    ids=["a line", "empty lines", "tokens", "brackets", "a page"],
)
async def test_a_reply_without_end_is_cut(
    server: Server, monkeypatch: pytest.MonkeyPatch, piece: bytes, kind: str
) -> None:
    monkeypatch.setattr(wire, "MOST_BYTES", 2**20)
    server.answer = endless(piece, kind)
    before = megabytes()
    failure = await told(server)
    assert "sends more than 1 MiB" in str(failure)
    assert megabytes() - before < 200


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_elsewhere_is_not_followed(server: Server, status: int) -> None:
    async with serving() as other:
        other.answer = says(200, "{}")
        server.answer = says(status, "", Location=f"{other.url}/chat/completions")
        failure = await told(server)
        assert "redirects to http://127.0.0.1" in str(failure)
        assert other.seen == []


async def test_redirect_on_the_same_server_is_followed(server: Server) -> None:
    async def answer(asked: web.Request) -> web.Response:
        if not asked.path.startswith("/new"):
            return web.Response(status=307, headers={"Location": f"/new{asked.path}"})
        return web.Response(status=401, text="{}", content_type="application/json")

    server.answer = answer
    assert "refuses the key" in str(await told(server))
    assert [path for path, _ in server.seen] == ["/v1/chat/completions", "/new/v1/chat/completions"]


async def test_a_compressed_reply_is_refused(server: Server) -> None:
    async def bomb(asked: web.Request) -> web.Response:
        assert asked.headers["Accept-Encoding"] == "identity"
        body = gzip.compress(b"data: " + b" " * 50_000_000)
        return web.Response(body=body, headers={"Content-Type": "text/event-stream", "Content-Encoding": "gzip"})

    server.answer = bomb
    assert "compressed" in str(await told(server))


ODD = {
    "a list": "[]",
    "text": '"text"',
    "a number": "7",
    "null": "null",
    "choices as text": '{"choices": "abc"}',
    "choices of numbers": '{"choices": [7]}',
    "content as a number": '{"choices": [{"delta": {"content": 7}}]}',
    "content as a list": '{"choices": [{"delta": {"content": ["a"]}}]}',
    "delta as text": '{"choices": [{"delta": "a"}]}',
    "a reason as a list": '{"choices": [{"delta": {}, "finish_reason": []}]}',
    "counts as text": '{"choices": [], "usage": {"prompt_tokens": "many"}}',
    "counts as a list": '{"choices": [], "usage": []}',
    "a model as a number": '{"choices": [], "model": 7}',
    "an error as text": '{"error": "a"}',
    "brackets": "[" * 100_000,
    "closed brackets": '{"choices": ' + "[" * 100_000 + "]" * 100_000 + "}",
}


@pytest.mark.parametrize("event", ODD.values(), ids=ODD.keys())
async def test_event_of_a_wrong_type_is_named(server: Server, event: str) -> None:
    server.answer = says(200, f"data: {event}\n\ndata: [DONE]\n\n", "text/event-stream")
    failure = str(await told(server))
    assert re.search("unreadable event|failed during the answer|closed the stream", failure), failure


async def test_deeply_nested_json_is_no_reply(server: Server) -> None:
    piece = {"choices": [{"delta": {"content": "[" * 100_000 + "]" * 100_000}, "finish_reason": "stop"}]}
    server.answer = says(200, f"data: {json.dumps(piece)}\n\ndata: [DONE]\n\n", "text/event-stream")
    engine = OpenAIEngine(server.url, "m")
    with pytest.raises(BadReply, match="nested too deeply"):
        await collect(engine, request(rendered=render(schema={"type": "object"}), seconds=60))
    await engine.close()


ECHOES = [
    says(401, json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}})),
    says(404, json.dumps({"error": {"message": f"no model for Bearer {KEY}"}})),
    says(400, json.dumps({"error": f"password=hunter2 {KEY}"})),
    says(500, f"<html>{KEY}", "text/html"),
    says(200, f"<html>{KEY}", "text/html"),
    says(200, f'data: {{"error": {{"message": "{KEY} ran out of memory"}}}}\n\n', "text/event-stream"),
    says(429, f'{{"error": "{KEY}"}}', **{"Retry-After": "3600"}),
]


@pytest.mark.parametrize("answer", ECHOES)
async def test_server_message_is_logged_without_the_key(
    server: Server, caplog: pytest.LogCaptureFixture, answer: Answer
) -> None:
    server.answer = answer
    with caplog.at_level(logging.DEBUG, "groundwire"):
        failure = str(await told(server))
    for word in (KEY, "hunter2", "Incorrect", "ran out"):
        assert word not in failure
    assert KEY not in caplog.text
    assert "hunter2" not in caplog.text
    assert "said: " in caplog.text


async def test_password_in_the_address_is_not_printed() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        engine = OpenAIEngine(
            f"http://ann:hunter2@127.0.0.1:{bound.getsockname()[1]}/v1/secret?token=x", "m", attempts=1
        )
        with pytest.raises(Unavailable) as failed:
            await engine.start()
    assert "cannot be reached" in str(failed.value)
    for word in ("hunter2", "ann:", "token", "secret"):
        assert word not in str(failed.value)


@pytest.mark.parametrize("what", ["endless", "elsewhere", "echo"])
async def test_embedder_and_reranker_have_the_same_limits(
    server: Server, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving() as other:
        other.answer = says(200, "{}")
        server.answer = {
            "endless": endless(b"[" * 2**16, "application/json"),
            "elsewhere": says(307, "", Location=f"{other.url}/embeddings"),
            "echo": says(401, f"Incorrect key {KEY}"),
        }[what]

        def embed() -> object:
            return OpenAIEmbedder(server.url, "m", api_key=KEY)

        def rerank() -> object:
            return RerankServer(server.url, "m", api_key=KEY, timeout_s=20).scores("q", ["a"])

        for ask in (embed, rerank):
            with pytest.raises(IndexProblem) as failed:
                await asyncio.to_thread(ask)
            says_it = {"endless": "sends more than", "elsewhere": "redirects to", "echo": "401 Unauthorized"}[what]
            assert says_it in str(failed.value)
            assert KEY not in str(failed.value) + caplog.text
        assert other.seen == []


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("http://ann:pw@models.example:8000/v1?key=x", "http://models.example:8000"),
        ("https://[::1]/v1", "https://[::1]"),
        ("https://models.example/v1/", "https://models.example"),
    ],
)
def test_address_is_named_by_its_host(url: str, named: str) -> None:
    assert place(url) == named


@pytest.mark.parametrize(
    "said",
    [
        "Authorization: Bearer abc.def-ghi",
        "api_key=abc.def-ghi&x=1",
        'the "api-key": "abc.def-ghi" is wrong',
        "see http://u:abc.def-ghi@host/",
        "own key abc.def-ghi",
    ],
)
def test_secrets_are_struck_out(said: str) -> None:
    found = without_secrets(f"{said}\n\x1b[31mred", "abc.def-ghi" if "own" in said else "")
    assert "abc.def-ghi" not in found
    assert "\x1b" not in found
    assert "\n" not in found
