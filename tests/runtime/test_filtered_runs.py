"""A filter from a question on the bus to the sources of its answer: a real index, the whole pipeline, replay and fork."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from actors.pipeline import pipeline
from bus.powers.searching import SearchReply, SearchRequest
from bus.wire.messages import QuestionAsked, RunFinished
from bus.wire.subjects import key_of
from index.filters import Filter
from index.model import Document, Metadata
from runtime.forking.fork import fork
from runtime.replay.journal_traces import read_run
from runtime.replay.replayer import replay
from runtime.replay.trace import Trace
from tests.made_runs import live_over
from tests.whole import Whole, whole_over

REFUNDS = "Refunds are paid within {days} days of the return. The shop {town} opens at {hour} on Saturdays."
DOCUMENTS = [
    Document(
        source_id=f"{town}/refunds.md",
        title=f"Refunds in {town}",
        text=REFUNDS.format(days=days, town=town, hour=hour),
        metadata=Metadata(date=f"{year}-05-01", author="Kim", tags=(town,)),
    )
    for town, days, hour, year in (("oslo", 14, "nine", 2024), ("lima", 30, "ten", 2025), ("rome", 60, "noon", 2026))
]
SIMPLE = "How many days until refunds are paid?"
COMPLEX = "How many days until refunds are paid, and when does the shop open on Saturdays?"


@pytest.fixture(scope="module")
async def run(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Whole]:
    async with whole_over(tmp_path_factory.mktemp("filtered"), DOCUMENTS) as made:
        yield made


async def traced(run: Whole, run_id: str, **request: Any) -> Trace:
    """Publish a request as an integration does, and wait for its end."""
    body = msgspec.json.encode({"type": "question_asked", "deadline_s": 100, **request})
    await run.runs.client.publish(key_of(QuestionAsked, run_id).subject, body)
    await run.runs.client.flush()
    async for _ in run.runs.events(run_id):
        pass
    return await read_run(run.journal, run_id)


@pytest.mark.parametrize(
    ("wanted", "source"),
    [
        ({"path": "oslo/**"}, "oslo/refunds.md"),
        ({"tag": ["LIMA", "nowhere"]}, "lima/refunds.md"),
        ({"after": "2026-01-01"}, "rome/refunds.md"),
    ],
)
async def test_an_answer_cites_only_what_passes(run: Whole, wanted: dict[str, object], source: str) -> None:
    run_id = f"cites-{source.partition('/')[0]}"
    await traced(run, run_id, question=SIMPLE, filter=wanted)
    record = await run.runs.record(run_id)
    assert record is not None
    assert record.outcome == "answered"
    assert {c.source_id for c in record.citations} == {r.source_id for r in record.references} == {source}
    assert record.references[0].about is not None
    assert record.references[0].about.author == "Kim"


async def test_sub_queries_obey_the_filter_in_replay_and_fork(run: Whole) -> None:
    wanted = Filter(path="lima/**", language="en")
    trace = await traced(run, "complex-lima", question=COMPLEX, filter=wanted)
    searches = trace.story.searches
    assert len(searches) > 1
    assert {search.filter for search in searches} == {wanted}
    done = await replay(trace, pipeline())
    assert done.divergence is None
    assert done.finished

    heard: list[SearchRequest] = []

    async def find(request: SearchRequest) -> SearchReply:
        heard.append(request)
        return await run.find(request)

    live = live_over(find)
    forked = await fork(trace, pipeline(), "retrieve", "forked-lima", live, profile="library")
    assert {request.filter for request in heard} == {wanted}
    assert (await replay(forked, pipeline())).divergence is None


async def test_filter_without_matches_is_reported(run: Whole) -> None:
    for run_id, question in (("none-simple", SIMPLE), ("none-complex", COMPLEX)):
        trace = await traced(run, run_id, question=question, filter={"path": "paris/**"})
        ended = next(r.message for r in trace.records if isinstance(r.message, RunFinished))
        assert (ended.settled.outcome, ended.settled.reason) == ("refused", "no_results")
        assert "No document passes the filter of this question (path paris/**)" in ended.settled.answer
        assert (await replay(trace, pipeline())).divergence is None
