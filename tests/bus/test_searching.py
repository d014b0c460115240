"""The power `search` from both ends over a real nats-server; loops and asks stay within what their actor declares."""

import asyncio
import time
from datetime import date

import msgspec
import pytest

from actors.pipeline import ACTORS, pipeline
from bus.delivery.actor import Actor, actor
from bus.delivery.graph import Graph
from bus.journal.records import SearchRecord
from bus.powers.searching import Finder, SearchClient, SearchReply, SearchRequest, answers, serve_search
from bus.transport.settings import BusSettings
from bus.wire.errors import Unavailable
from bus.wire.messages import QueryDecomposed, QuestionAsked, RunFinished
from bus.wire.subjects import SEARCH
from index.filters import Filter
from tests.bus.toys import answered, ask, done, ended, working
from tests.bus.wires import Wire, search_process
from tests.message_samples import passage, question

HITS = SearchReply(passages=(passage(), passage("opening.md", "문은 아홉 시에 열립니다.")), snapshot="s1")


def searcher(wire: Wire, deadline_s: float = 60.0) -> Finder:
    return Finder(SearchClient(wire.client, time.time() + deadline_s))


def asks(query: str, *, language: str = "en", k: int = 1, bm25_k: int = 5, vector_k: int = 5) -> SearchRequest:
    return SearchRequest(query=query, language=language, k=k, bm25_k=bm25_k, vector_k=vector_k)


async def test_hits_are_returned_and_recorded(wire: Wire) -> None:
    async with search_process(wire.client, HITS) as heard:
        search = searcher(wire)
        assert await search(asks("환불 기간", language="ko", k=7, bm25_k=3, vector_k=4)) == HITS
        assert heard == [SearchRequest(query="환불 기간", language="ko", k=7, bm25_k=3, vector_k=4)]
        (record,) = search.records
        assert answers(record, asks("환불 기간", language="ko", k=7, bm25_k=3, vector_k=4))
        assert not answers(record, asks("환불", language="ko", k=7, bm25_k=3, vector_k=4))
        assert not answers(record, asks("환불 기간", language="en", k=7, bm25_k=3, vector_k=4))
        assert not answers(record, asks("환불 기간", language="ko", k=8, bm25_k=3, vector_k=4))
        assert not answers(record, msgspec.structs.replace(heard[0], rerank=False))
        assert msgspec.json.decode(record.hits, type=SearchReply) == HITS


async def test_filter_is_sent_and_part_of_the_record(wire: Wire) -> None:
    async with search_process(wire.client, SearchReply(snapshot="s1", none_passes=True)) as heard:
        search = searcher(wire)
        only = Filter(path="guide/**", tag=("a", "b"), language="ko", after=date(2026, 1, 31))
        request = msgspec.structs.replace(asks("x"), filter=only)
        assert (await search(request)).none_passes
        assert heard == [request]
        (record,) = search.records
        kept = msgspec.json.decode(msgspec.json.encode(record), type=SearchRecord)
        assert answers(kept, request)
        assert not answers(kept, asks("x"))
        assert not answers(kept, msgspec.structs.replace(request, filter=Filter(path="guide/**")))


async def test_index_problem_is_unavailable(wire: Wire) -> None:
    async with search_process(wire.client, Unavailable("the index is half written; build it again")):
        search = searcher(wire)
        with pytest.raises(Unavailable, match="build it again"):
            await search(asks("x", language="en", k=1))
        assert search.records == []


async def test_missing_search_process_is_unavailable(wire: Wire) -> None:
    with pytest.raises(Unavailable, match="groundwire up"):
        await searcher(wire, deadline_s=0.1)(asks("x", language="en", k=1))


async def test_late_search_process_is_used(wire: Wire) -> None:
    asked = asyncio.create_task(searcher(wire)(asks("x", language="en", k=1)))
    await wire.client.flush()
    async with search_process(wire.client, HITS):
        assert await asked == HITS


@pytest.mark.parametrize("late", [HITS, Unavailable("timeout: no node of the cluster answers")])
async def test_slow_reply_of_a_search_process_is_taken(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, late: SearchReply | Unavailable
) -> None:
    monkeypatch.setattr("bus.powers.searching.TRY_S", 0.05)
    asked_again, over = asyncio.Event(), asyncio.Event()
    waiting: list[SearchRequest] = []

    async def find(request: SearchRequest) -> SearchReply:
        waiting.append(request)
        if len(waiting) == 1:
            await asked_again.wait()
            if isinstance(late, Unavailable):
                raise late
            return late
        asked_again.set()
        await over.wait()
        return SearchReply()

    close = await serve_search(wire.client, find)
    asked = asyncio.wait_for(searcher(wire)(asks("x")), 20.0)  # and not at the deadline
    if isinstance(late, Unavailable):
        with pytest.raises(Unavailable, match="no node of the cluster answers"):
            await asked
    else:
        assert await asked == late
    over.set()
    await close()


async def test_searches_run_side_by_side(wire: Wire) -> None:
    both = asyncio.Event()
    waiting: list[str] = []

    async def find(request: SearchRequest) -> SearchReply:
        waiting.append(request.query)
        if len(waiting) == 2:
            both.set()
        await both.wait()
        return SearchReply(snapshot=request.query)

    close = await serve_search(wire.client, find)
    replies = await asyncio.gather(*(searcher(wire)(asks(query, language="en", k=1)) for query in ("a", "b")))
    assert [reply.snapshot for reply in replies] == ["a", "b"]
    await close()


async def test_unreadable_search_is_refused(wire: Wire) -> None:
    async with search_process(wire.client, HITS) as heard:
        msg = await wire.client.request(SEARCH, b"nonsense", timeout=60)
        assert "cannot be read" in msgspec.json.decode(msg.data, type=SearchReply).problem
    assert heard == []


def rounds(wanted: int, bound: int) -> tuple[Actor, Actor]:
    """Actors that go round a loop so many times."""

    @actor()
    async def intake(message: QuestionAsked) -> QueryDecomposed:
        return QueryDecomposed(lane="round0", question=question(), sub_queries=())

    @actor(bound=bound)
    async def again(message: QueryDecomposed) -> QueryDecomposed | RunFinished:
        n = int(message.lane.removeprefix("round"))
        if n == wanted:
            return answered()
        return QueryDecomposed(lane=f"round{n + 1}", question=question(), sub_queries=())

    return intake, again


@pytest.mark.parametrize(("wanted", "bound"), [(0, 1), (1, 1), (3, 3)])
async def test_loop_ends_at_its_bound(own_settings: BusSettings, own_wire: Wire, wanted: int, bound: int) -> None:
    async with working(own_settings, *rounds(wanted, bound)):
        assert (await ended(own_wire, await ask(own_wire))).outcome == "answered"


@pytest.mark.parametrize("bound", [1, 2])
async def test_and_no_more_often(own_settings: BusSettings, own_wire: Wire, bound: int) -> None:
    async with working(own_settings, *rounds(bound + 1, bound), bugs=True) as worker:
        run_id = await ask(own_wire)
        assert (await ended(own_wire, run_id)).detail == "internal error in again: BoundReached"
    assert [str(bug) for bug in worker.bugs] == [
        f"again would send the run round its loop again, but its bound is {bound}"
    ]
    assert len([r for r in await own_wire.journal.run(run_id) if r.key.type == "query_decomposed"]) == 1 + bound


def test_only_what_leads_back_is_counted() -> None:
    graph = Graph((*rounds(1, 1), done))
    assert [[message.__name__ for message in graph.again(each)] for each in graph.actors] == [
        [],
        ["QueryDecomposed"],
        [],
    ]
    judges = [(a.name, graph_again) for a in ACTORS if (graph_again := pipeline().again(a)) and a.bound]
    assert judges == [("judge_sufficiency", (QueryDecomposed,))]
