"""A filter by every way into the edge, as the pipeline and the search receive it."""

from datetime import date

import aiohttp
import msgspec
import pytest

from bus.powers.events import Done, Emitter, References, TokensEnd, tokens_of
from bus.powers.searching import SearchReply, SearchRequest, serve_search
from bus.wire.messages import About, QuestionAsked, RunFinished, Settled
from bus.wire.subjects import finished, key_of
from index.filters import Filter
from tests.runtime.edge.conftest import SOURCE, Bus, Pipeline
from tests.runtime.edge.test_edge_websocket import until_done

SENT = {"path": "guide/**", "tag": ["billing", "환불"], "language": "ko", "after": "2026-01-31"}
MEANT = Filter(path="guide/**", tag=("billing", "환불"), language="ko", after=date(2026, 1, 31))


async def asked(bus: Bus, run_id: str) -> QuestionAsked:
    (record,) = await bus.journal.latest([key_of(QuestionAsked, run_id).subject])
    assert isinstance(record.message, QuestionAsked)
    return record.message


async def test_with_a_run(http: aiohttp.ClientSession, bus: Bus, pipeline: Pipeline) -> None:
    async with http.post("/v1/runs", json={"question": "환불은 며칠", "filter": SENT}) as response:
        assert (await asked(bus, response.headers["X-Run-Id"])).filter == MEANT


async def test_over_the_socket(http: aiohttp.ClientSession, bus: Bus, pipeline: Pipeline) -> None:
    async with http.ws_connect("/v1/ws") as socket:
        await socket.send_json({"question": "환불은 며칠", "filter": SENT})
        frames = await until_done(socket)
    run_id = msgspec.json.decode(frames[0])["run_id"]
    assert (await asked(bus, run_id)).filter == MEANT


async def test_with_a_chat(http: aiohttp.ClientSession, bus: Bus, pipeline: Pipeline) -> None:
    body = {"model": "general", "messages": [{"role": "user", "content": "환불은 며칠"}]}
    async with http.post("/v1/chat/completions", json=body | {"filter": SENT}) as response:
        assert (await asked(bus, response.headers["X-Run-Id"])).filter == MEANT
    async with http.post("/v1/chat/completions", json=body | {"filter": {"after": "May"}}) as response:
        assert response.status == 400
        assert (await response.json())["error"]["message"] == "filter.after: expected a date like 2026-01-31"


@pytest.mark.parametrize("none_passes", [True, False])
async def test_with_a_search(http: aiohttp.ClientSession, bus: Bus, none_passes: bool) -> None:
    heard: list[SearchRequest] = []

    async def find(request: SearchRequest) -> SearchReply:
        heard.append(request)
        return SearchReply(snapshot="s1", none_passes=none_passes)

    close = await serve_search(bus.client, find)
    await bus.client.flush()
    async with http.post("/v1/search", json={"query": "환불", "filter": SENT}) as response:
        found = await response.json()
    await close()
    assert [request.filter for request in heard] == [MEANT]
    told = "no document passes the filter (path guide/**, tag billing / 환불, language ko, after 2026-01-31)"
    assert found == {"hits": [], "snapshot": "s1"} | ({"detail": told} if none_passes else {})


async def test_source_shows_its_metadata(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
    source = msgspec.structs.replace(SOURCE, about=About(author="김", date="2026-01-31", recognized=True))

    async def dated(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id)
        await emitter.tokens(tokens_of("Yes [1]."))
        settled = Settled(outcome="answered", question=question.question, answer="Yes [1].", references=(source,))
        await pipeline.bus.journal.write(finished(run_id), RunFinished(settled=settled))
        await emitter.events(TokensEnd(), References(items=(source,)), Done())

    pipeline.scripts["dated"] = dated
    async with http.post(
        "/v1/runs", json={"question": "dated source"}, headers={"Accept": "application/json"}
    ) as reply:
        record = await reply.json()
    assert record["references"][0]["about"] == {"author": "김", "date": "2026-01-31", "recognized": True}
