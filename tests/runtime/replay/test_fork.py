"""Forks: records before the forked stage are kept, everything from it on runs again, and the fork itself replays."""

import pytest

from actors.choosing import choose
from actors.evidence.lanes import given as given_passages
from actors.pipeline import STAGES, pipeline
from bus.journal.journal import Journal
from bus.journal.records import Record, encode
from bus.powers.searching import SearchReply, SearchRequest
from bus.wire.errors import Unavailable
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import Key
from runtime.engines.engine import Request
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.engines.scripted.engine import ScriptedEngine
from runtime.forking.fork import NothingToFork, fork, keep
from runtime.forking.live_powers import Live, NotRecorded, replies_of
from runtime.replay.difference import parting
from runtime.replay.journal_traces import latest_runs, read_run
from runtime.replay.replayer import replay
from runtime.replay.trace import Trace, dump, load
from tests.made_runs import live_over
from tests.runtime.replay.conftest import QUESTIONS, Recorder
from tests.runtime.replay.test_replayer import Faulty


@pytest.mark.parametrize("name", QUESTIONS)
async def test_fork_with_the_same_engine_is_identical(traces: dict[str, Trace], name: str) -> None:
    trace = traces[name]
    for stage in STAGES:
        try:
            forked = await fork(trace, pipeline(), stage, "forked", live_over())
        except NothingToFork:
            continue
        assert parting(trace, forked, pipeline()) is None, stage
        assert forked.lines == trace.lines
        again = load(list(dump(forked)), name="fork")
        assert (again.parent, again.forked_at) == (trace.run_id, stage)
        done = await replay(again, pipeline())
        assert done.divergence is None
        assert done.finished


async def test_fork_with_another_profile_differs_from_its_stage(traces: dict[str, Trace]) -> None:
    trace = traces["simple"]
    forked = await fork(trace, pipeline(), "select_evidence", "forked", live_over(), profile="library")
    found = parting(trace, forked, pipeline())
    assert found is not None
    assert (found.stage, found.difference.path) == ("select_evidence", "its input's question.profile")
    assert (trace.record.profile, forked.record.profile) == ("general", "library")
    assert "answer_requested" in {record.key.type for record in forked.records}
    done = await replay(forked, pipeline())
    assert done.divergence is None
    assert done.inherited == 3


async def test_fork_names_the_first_difference(traces: dict[str, Trace], monkeypatch: pytest.MonkeyPatch) -> None:
    trace = traces["simple"]
    monkeypatch.setattr(choose, "to_show", lambda asked, ranked, most: ranked[-1:])
    forked = await fork(trace, pipeline(), "retrieve", "forked", live_over())
    found = parting(trace, forked, pipeline())
    assert found is not None
    assert found.stage == "select_evidence"


async def test_recorded_replies_go_before_the_engine(traces: dict[str, Trace]) -> None:
    trace = traces["complex"]
    forked = await fork(trace, pipeline(), "classify_intent", "forked", Live(replies=replies_of(trace)))
    assert parting(trace, forked, pipeline()) is None


@pytest.mark.parametrize("prompt", ["answer_simple", "judge_relevance", "verify_answer"])
async def test_recorded_failures_fail_again(recorder: Recorder, prompt: str) -> None:
    question = QUESTIONS["complex" if prompt == "judge_relevance" else "simple"]
    async with recorder(Faulty(**{prompt: (Unavailable("the model is gone"), 0)})) as record:
        trace = await record.traced(question)
    forked = await fork(trace, pipeline(), "classify_intent", "forked", Live(replies=replies_of(trace)))
    assert parting(trace, forked, pipeline()) is None


def nobody(request: Request) -> str:
    raise Unavailable("this engine answers nothing")


async def test_fork_without_replies_uses_fallbacks(traces: dict[str, Trace]) -> None:
    live = live_over(engine=ScriptedEngine(nobody))
    forked = await fork(traces["simple"], pipeline(), "classify_query", "forked", live)
    assert (forked.record.outcome, forked.record.reason) == ("failed", "model_unavailable")
    assert (await replay(forked, pipeline())).divergence is None


async def test_hits_come_from_trace_or_index(traces: dict[str, Trace]) -> None:
    asked = Record(Key("question_asked", "asked"), 1, 0.0, encode(QuestionAsked(question="When are refunds paid?")), {})
    searched: list[str] = []

    async def find(request: SearchRequest) -> SearchReply:
        searched.append(request.query)
        return SearchReply(passages=given_passages(QUESTIONS["simple"].contexts or ()), snapshot="s1")

    first = live_over()
    first.find = find
    trace = await fork(Trace("asked", (asked,)), pipeline(), "classify_intent", "first", first)
    assert searched
    assert (await replay(trace, pipeline())).divergence is None
    second = live_over()
    second.hits = trace.story.searches
    assert parting(trace, await fork(trace, pipeline(), "retrieve", "second", second), pipeline()) is None
    with pytest.raises(NotRecorded, match="no hits for 'When are refunds paid\\?'"):
        await fork(trace, pipeline(), "retrieve", "third", live_over())


async def test_fork_at_a_stage_not_reached_is_refused(traces: dict[str, Trace]) -> None:
    with pytest.raises(NothingToFork, match=r"never reached answer_hint; it reached classify_intent, stream_answer"):
        await fork(traces["declined"], pipeline(), "answer_hint", "forked", live_over())


async def test_workers_ignore_a_fork_in_the_journal(recorder: Recorder) -> None:
    engine = ScriptedEngine()
    async with recorder(engine) as record:
        trace = await record.traced(QUESTIONS["simple"])
        forked = await fork(trace, pipeline(), "select_evidence", "kept-fork", live_over())
        asked = len(engine.requests)
        await keep(record.journal, forked)
        kept = await read_run(record.journal, "kept-fork")
        # The worker has seen all of it once a question that was asked after it is answered.
        await record.traced(QUESTIONS["declined"])
        assert "kept-fork" not in {request.request_id.partition(".")[0] for request in engine.requests[asked:]}
        assert await read_run(record.journal, "kept-fork") == kept
        runs = await latest_runs(record.journal, 2)
    assert kept.parent == trace.run_id
    assert kept.lines == forked.lines
    assert parting(forked, kept, pipeline()) is None
    assert (await replay(kept, pipeline())).divergence is None
    assert [(run.run_id == "kept-fork", run.parent) for run in runs] == [(False, ""), (True, trace.run_id)]


async def test_later_worker_ignores_a_fork(recorder: Recorder, journal: Journal) -> None:
    async with recorder(ExtractiveEngine()) as record:
        trace = await record.traced(QUESTIONS["simple"])
    forked = await fork(trace, pipeline(), "select_evidence", "kept-alone", live_over())
    await keep(journal, forked)
    kept = await read_run(journal, "kept-alone")
    engine = ScriptedEngine()
    async with recorder(engine) as record:
        await record.traced(QUESTIONS["declined"])
        assert await read_run(record.journal, "kept-alone") == kept
    assert "kept-alone" not in {request.request_id.partition(".")[0] for request in engine.requests}
