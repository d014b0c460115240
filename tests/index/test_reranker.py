"""A real server that scores passages by the words they share, in every dialect, from one request to a search over the bus."""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from click.testing import CliRunner

from bus.powers.searching import SearchClient, SearchRequest
from bus.transport.connection import connect
from bus.transport.health import health_of
from index.embedders.reranker import PAUSE_S, Away, RerankApi, Reranking, RerankServer
from index.errors import IndexProblem
from index.search.searcher import Searcher
from runtime.commands.doctor import doctor_command
from runtime.commands.search import search_command
from runtime.processes.supervisor import Stack
from runtime.settings import IndexSettings, Settings
from tests.index.brought_in import bring_in
from tests.web_servers import served_beside

TEXTS = ["Ladders are checked every year.", "A refund is paid within three days.", "Is a refund a gift? No."]
Served = dict[str, Any]


def overlap(query: str, text: str) -> float:
    """A logit, below 0 for a text without a word of the query."""
    return 4.0 * len(set(query.lower().split()) & set(text.lower().rstrip(".").split())) - 2.0


def best_first(body: Served, score: str, texts: str = "documents") -> list[Served]:
    scored = [{"index": n, score: overlap(body["query"], text)} for n, text in enumerate(body[texts])]
    return sorted(scored, key=lambda one: -one[score])


def refuse(status: int, said: str) -> web.Response:
    return web.json_response({"message": said}, status=status)


def cohere(body: Served) -> web.Response:
    if body.keys() != {"model", "query", "documents", "top_n"}:
        return refuse(422, f"unknown or missing fields: {sorted(body)}")
    return web.json_response({"id": "1", "results": best_first(body, "relevance_score"), "meta": {"billed_units": 1}})


def jina(body: Served) -> web.Response:
    """Also vLLM: the documents come back with the scores."""
    results = best_first(body, "relevance_score")
    for one in results:
        one["document"] = {"text": body["documents"][one["index"]]}
    return web.json_response({"model": body["model"], "usage": {"total_tokens": 9}, "results": results})


def llama(body: Served) -> web.Response:
    """Without a model's name; `texts` in the request turns its reply into the other form."""
    assert "texts" not in body
    results = sorted(best_first(body, "relevance_score"), key=lambda one: one["index"])
    return web.json_response({"object": "list", "results": results[: body["top_n"]]})


def tei(body: Served) -> web.Response:
    if "texts" not in body:
        return refuse(422, "missing field `texts`")
    return web.json_response(best_first(body, "score", "texts"))


def short(body: Served) -> web.Response:
    return web.json_response({"results": best_first(body, "relevance_score")[:-1]})


def no_number(body: Served) -> web.Response:
    return web.Response(text='{"results": [{"index": 0, "relevance_score": NaN}]}', content_type="application/json")


def page(body: Served) -> web.Response:
    return web.Response(text="<html>", content_type="text/html")


def cut_off(body: Served) -> web.Response:
    return web.Response(text='{"results": [', content_type="application/json")


def too_long(body: Served) -> web.Response:
    return refuse(500, "input is too large;\nincrease the batch size")


def moody(body: Served) -> web.Response:
    return refuse(503, "later") if "later" in body["query"] else tei(body)


DIALECTS = (cohere, jina, llama, tei, moody, short, no_number, page, cut_off, too_long)


class Server:
    """The dialects below `/NAME/rerank`; `asked` are the bodies, `keys` their Authorization headers."""

    def __init__(self) -> None:
        self.asked: list[Served] = []
        self.keys: list[str] = []
        self.url = ""

    def handler(self, dialect: Callable[[Served], web.Response]) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            self.asked.append(await request.json())
            self.keys.append(request.headers["Authorization"])
            return dialect(self.asked[-1])

        return handle


async def hang(request: web.Request) -> web.Response:
    await asyncio.Event().wait()
    return web.Response()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    routes = [web.post(f"/{dialect.__name__}/rerank", server.handler(dialect)) for dialect in DIALECTS]
    with served_beside(*routes, web.post("/hang/rerank", hang)) as server.url:
        yield server


@pytest.fixture
def nowhere() -> str:
    """An address without a server."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{bound.getsockname()[1]}/v1"


@pytest.mark.parametrize(
    ("path", "api", "model"),
    [("cohere", "cohere", "m"), ("jina", "cohere", "m"), ("llama", "cohere", ""), ("tei", "tei", "")],
)
def test_every_dialect_returns_scores_in_order(server: Server, path: str, api: RerankApi, model: str) -> None:
    asked = RerankServer(f"{server.url}/{path}", model, api=api, api_key="secret")
    assert asked.scores("refund paid", TEXTS) == [-2.0, 6.0, 2.0]
    assert server.keys[-1] == "Bearer secret"
    assert ("model" in server.asked[-1]) is bool(model)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("tei", "answered 422 Unprocessable Entity; check its model, key and form"),
        ("short", "scored 2 of 3 passages"),
        ("no_number", "scored 0 of 3 passages"),
        ("page", "gave no list of scores"),
        ("cut_off", "gave no list of scores"),
        ("too_long", "answered 500 Internal Server Error"),
        ("missing", "404 Not Found"),
    ],
)
def test_invalid_reply_is_one_line(server: Server, path: str, says: str) -> None:
    with pytest.raises(IndexProblem, match="the reranker http://127") as raised:
        RerankServer(f"{server.url}/{path}", "m").scores("refund", TEXTS)
    assert says in str(raised.value)
    assert "batch size" not in str(raised.value)  # the server's words
    assert "\n" not in str(raised.value)
    assert not isinstance(raised.value, Away)


def test_an_address_must_be_one() -> None:
    with pytest.raises(IndexProblem, match=r"index\.rerank_url"):
        RerankServer("localhost:8080", "m")


def test_absent_server_is_reported_once_and_paused(server: Server, nowhere: str) -> None:
    now, told = [100.0], list[str]()
    reranking = Reranking(RerankServer(nowhere, "m"), told.append, clock=lambda: now[0])
    assert reranking.state == ""
    assert [reranking.scores("refund", TEXTS) for _ in range(3)] == [None] * 3
    now[0] += PAUSE_S
    assert reranking.scores("refund", TEXTS) is None
    assert len(told) == 1
    assert told[0].startswith(f"searching without the reranker: no scores from the reranker {nowhere[:-3]} (")
    assert reranking.state.startswith("4 of 4 searches without the reranker: no scores from")
    reranking._server = RerankServer(f"{server.url}/jina", "m")
    assert reranking.scores("refund", TEXTS) is None
    now[0] += PAUSE_S
    assert reranking.scores("refund", TEXTS) is not None
    assert reranking.state == "5 of 6 searches without the reranker"


def test_hanging_server_is_absent_but_refusing_is_not(server: Server) -> None:
    told = list[str]()
    hanging = Reranking(RerankServer(f"{server.url}/hang", timeout_s=0.05), told.append, clock=lambda: 0.0)
    assert hanging.scores("refund", TEXTS) is None
    refusing = Reranking(RerankServer(f"{server.url}/tei"), told.append, clock=lambda: 0.0)
    before = len(server.asked)
    assert [refusing.scores("refund", TEXTS) for _ in range(2)] == [None, None]
    assert len(server.asked) == before + 2
    assert len(told) == 2


class Fixed:
    """A reranker that prefers short texts."""

    def __init__(self) -> None:
        self.read: Sequence[str] = ()

    def scores(self, query: str, texts: Sequence[str]) -> list[float] | None:
        self.read = texts
        return [-float(len(text)) for text in texts]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reranked")
    pages = folder / "pages"
    pages.mkdir()
    (pages / "long.md").write_text(
        "# Refunds\n\nA refund of a refund is a refund, and every refund is paid as a refund.\n"
    )
    (pages / "short.md").write_text("# Money back\n\nA refund is paid.\n")
    (pages / "other.md").write_text("# Ladders\n\nA ladder is checked, then paid.\n")
    bring_in(folder / "index", pages)
    return folder / "index"


@pytest.mark.parametrize("sides", [{}, {"vector_k": 0}, {"bm25_k": 0, "threshold": -1.0}])
def test_candidates_are_scored_before_the_cut(index: Path, sides: dict[str, Any]) -> None:
    reranker = Fixed()
    plain, reranked = Searcher.open(index), Searcher.open(index, reranker=reranker)
    fused = plain.search("how is a refund paid", k=3, **sides)
    best = reranked.search("how is a refund paid", k=1, **sides)
    assert fused[0].source_id == "long.md"
    assert [hit.source_id for hit in best] == ["short.md"]
    assert len(reranker.read) == len(fused)
    read = reranker.read[[hit.source_id for hit in fused].index("short.md")]
    assert "Money back" in read
    assert best[0].rerank_score == -len(read)
    same = next(hit for hit in fused if hit.source_id == "short.md")
    assert (best[0].score, best[0].score_type, same.rerank_score) == (same.score, same.score_type, None)
    assert reranked.search("how is a refund paid", k=3, rerank=False, **sides) == fused
    plain.close()
    reranked.close()


def test_without_scores_the_order_stays(index: Path) -> None:
    class Silent:
        def scores(self, query: str, texts: Sequence[str]) -> None:
            return None

    plain, silent = Searcher.open(index), Searcher.open(index, reranker=Silent())
    assert silent.search("refund", k=2) == plain.search("refund", k=2)
    plain.close()
    silent.close()


def test_the_search_command_shows_the_score(
    server: Server, nowhere: str, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDWIRE_INDEX_RERANK_URL", f"{server.url}/jina")
    monkeypatch.setenv("GROUNDWIRE_INDEX_RERANK_MODEL", "tiny")
    arguments = ["--index", str(index), "-k", "1", "ladder checked"]
    found = CliRunner().invoke(search_command, arguments)
    assert found.exit_code == 0, found.output
    assert ", reranked " in found.output
    hit = json.loads(CliRunner().invoke(search_command, [*arguments, "--json"]).output)
    assert (hit["source_id"], hit["score_type"], hit["rerank_score"]) == ("other.md", "fusion", 2.0)
    assert server.asked[-1]["model"] == "tiny"
    monkeypatch.setenv("GROUNDWIRE_INDEX_RERANK_URL", nowhere)
    without = CliRunner().invoke(search_command, arguments)
    assert without.exit_code == 0
    assert without.stdout.startswith("1. ")
    assert without.stderr.startswith("searching without the reranker: no scores from")
    assert without.stderr.count("\n") == 1


def test_doctor_asks_the_reranker(server: Server, nowhere: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("GROUNDWIRE_INDEX_RERANK_URL", f"{server.url}/llama")
    assert "scores a passage in" in CliRunner().invoke(doctor_command).output
    monkeypatch.setenv("GROUNDWIRE_INDEX_RERANK_URL", nowhere)
    assert "is it up? — until then searches go on without it" in CliRunner().invoke(doctor_command).output


async def test_bus_search_is_reranked_or_counted(server: Server, index: Path, tmp_path: Path) -> None:
    settings = Settings(index=IndexSettings(dir=str(index), rerank_url=f"{server.url}/moody", rerank_api="tei"))
    stack = Stack(settings, tmp_path / "state", ("search",), sync_always=False)
    await stack.start()
    try:
        await stack.ready()
        client = await connect(stack.settings.bus, name="test")
        search = SearchClient(client, asyncio.get_running_loop().time() + 1e12)
        reranked, _ = await search(SearchRequest(query="ladder checked", language="en", k=1))
        plain, _ = await search(SearchRequest(query="later", topic="ladder checked", language="en", k=1))
        health = await health_of(client, "search", timeout_s=5.0)
        await client.close()
    finally:
        await stack.stop()
    assert [(reply.passages[0].source_id, reply.passages[0].rerank_score) for reply in (reranked, plain)] == [
        ("other.md", 2.0),
        ("other.md", None),
    ]
    assert health is not None
    assert "; 1 of 2 searches without the reranker: " in health.detail
    assert stack.log("search").read_text().count("searching without the reranker") == 1
