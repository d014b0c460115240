"""All searches of a run find what one snapshot holds, while newer ones are published."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from actors.pipeline import pipeline
from bus.powers.searching import SearchReply, SearchRequest
from bus.wire.messages import PassagesRetrieved, QuestionAsked
from index.model import Document, Metadata
from index.search.local_backend import LocalSnapshots
from index.search.searcher import Searcher
from index.snapshot import snapshot
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.processes.kept_index import KeptIndex
from runtime.processes.search import EARLIER, Threads
from runtime.replay.replayer import replay
from tests.index.conftest import update
from tests.whole import whole

GATE, DOOR = "The gate opens at {} on weekdays.", "The door of the hall closes at {} in winter."


def pages(hour: str, *groups: str) -> list[Document]:
    return [
        Document(source_id=name, title="", text=text.format(hour), language="en", metadata=Metadata(groups=groups))
        for name, text in (("gate.md", GATE), ("door.md", DOOR))
    ]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    update(tmp_path / "index", pages("six"))
    return tmp_path / "index"


@pytest.fixture
def kept(index: Path) -> Iterator[KeptIndex]:
    made = KeptIndex(LocalSnapshots(index), lambda name: Searcher.open(index, name, earlier=EARLIER))
    made.look()
    yield made
    made.close()


@pytest.fixture
def threads(kept: KeptIndex) -> Iterator[Threads]:
    with closing(Threads(kept.searcher, 2, on_broken=kept.suspect)) as made:
        yield made


def asked(run: str = "", named: str = "", groups: tuple[str, ...] | None = None) -> SearchRequest:
    return SearchRequest(query="when does the gate open", language="en", k=1, run=run, snapshot=named, groups=groups)


def told(reply: SearchReply) -> str:
    assert {passage.snapshot for passage in reply.passages} <= {reply.snapshot}
    return reply.snapshot


async def test_run_keeps_its_first_snapshot(index: Path, kept: KeptIndex, threads: Threads) -> None:
    first = told(await threads.find(asked("one")))
    second = update(index, pages("seven")).snapshot
    assert kept.look()
    again = await threads.find(asked("one"))
    assert (told(again), "six" in again.passages[0].text) == (first, True)
    assert told(await threads.find(asked("two"))) == second
    assert told(await threads.find(asked())) == second
    assert told(await threads.find(asked("three", named=first))) == first
    assert told(await threads.find(asked("three"))) == second


async def test_missing_snapshot_is_replaced_by_the_newest(index: Path, kept: KeptIndex, threads: Threads) -> None:
    first = told(await threads.find(asked("one")))
    for hour in range(EARLIER + 1):
        assert told(await threads.find(asked("one"))) == first
        update(index, pages(str(hour)))
        assert kept.look()
    assert told(await threads.find(asked("one"))) == kept.snapshot != first
    assert told(await threads.find(asked("two", named="s000099-00000000"))) == kept.snapshot


def test_unused_snapshot_is_closed_and_prunable(index: Path, kept: KeptIndex) -> None:
    first = kept.snapshot
    for hour in range(snapshot.KEEP):
        update(index, pages(str(hour)))
        assert first in snapshot.names(index)
        kept.look()
    held = kept.snapshot
    update(index, pages("noon"))
    assert first not in snapshot.names(index)
    kept.look()
    kept.searcher().forget(100.0)
    with kept.searcher().pinned(held) as searcher:
        assert searcher.snapshot == held
    kept.searcher().forget()
    with kept.searcher().pinned(held) as searcher:
        assert searcher.snapshot == kept.snapshot != held


async def test_group_run_avoids_a_more_permissive_snapshot(index: Path, kept: KeptIndex, threads: Threads) -> None:
    first = told(await threads.find(asked("one", groups=())))
    update(index, pages("six", "board"))
    assert kept.look()
    hidden = await threads.find(asked("one", groups=()))
    assert (hidden.passages, hidden.snapshot) == ((), kept.snapshot)
    assert told(await threads.find(asked("one", named=first, groups=("sales",)))) == kept.snapshot
    assert told(await threads.find(asked("one"))) == first


async def test_lanes_of_a_run_share_a_snapshot(index: Path, kept: KeptIndex, threads: Threads, tmp_path: Path) -> None:
    began = kept.snapshot
    swapping = asyncio.Lock()
    searches: list[SearchRequest] = []

    async def find(request: SearchRequest) -> SearchReply:
        async with swapping:
            reply = await threads.find(request)
            searches.append(request)
            if len(searches) == 1:
                await asyncio.to_thread(update, index, pages("seven"))
                assert await asyncio.to_thread(kept.look)
            return reply

    async with whole(tmp_path, ExtractiveEngine(), find=find) as run:
        question = "When does the gate open on weekdays, and when does the door of the hall close in winter?"
        trace = await run.traced(QuestionAsked(question=question, deadline_s=100.0))
        lanes = [one.message for one in trace.records if isinstance(one.message, PassagesRetrieved)]
    assert len(searches) >= 2
    assert kept.snapshot != began
    assert {request.run for request in searches} == {trace.run_id}
    assert {lane.snapshot for lane in lanes} == {began}
    assert all("seven" not in passage.text for lane in lanes for passage in lane.passages)
    assert (await replay(trace, pipeline())).divergence is None
