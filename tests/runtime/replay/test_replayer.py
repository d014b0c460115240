"""Runs recorded by the real worker replay identically; anything changed since is named, with stage and place."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator

import msgspec
import pytest
from groundwire.wire import Source

from actors import judge_relevance, judge_sufficiency, retrieve, stream_references
from actors.answering import drafting, sentence_check
from actors.choosing import choose
from actors.outcome import settling
from actors.pipeline import ACTORS, pipeline
from actors.question.resolved import Defaults
from bus.delivery.graph import Graph
from bus.delivery.worker import Worker
from bus.powers.asker import digest
from bus.powers.events import Done
from bus.wire.errors import BadReply, Busy, Failure, NoReply, Unavailable
from bus.wire.messages import QuestionAsked, stage_names
from prompts import notices
from prompts.contracts import Chunk, Evidence, VerifyAnswer
from runtime.engines.engine import Delta, Finished, Request
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.replay.recorded_powers import digests
from runtime.replay.replayer import Divergence, replay
from runtime.replay.trace import Trace
from tests.polling import until
from tests.runtime.replay.conftest import LADDERS, QUESTIONS, REFUNDS, Recorder, given
from tests.whole import Whole


async def diverged(trace: Trace, graph: Graph | None = None) -> Divergence:
    found = (await replay(trace, graph or pipeline())).divergence
    assert found is not None
    return found


@pytest.mark.parametrize("name", QUESTIONS)
async def test_a_recorded_run_replays_identical(traces: dict[str, Trace], name: str) -> None:
    done = await replay(traces[name], pipeline())
    assert done.divergence is None
    assert done.finished
    assert done.unfinished == ()
    assert done.events == len(traces[name].lines) > 0


def test_the_runs_pass_every_way(traces: dict[str, Trace]) -> None:
    """Otherwise the test above would prove less than it claims."""
    types = {name: {r.key.type for r in trace.records} for name, trace in traces.items()}
    assert {record.key.lane for record in traces["complex"].records} >= {"round2", "sq_1", "sq_add_1"}
    assert "query_decomposed" not in types["simple"]
    assert "answer_requested" in types["draft"]
    assert "answer_requested" not in types["refused"]
    assert "question_ready" not in types["declined"]
    assert any(not frame.fenced for frame in traces["all events"].frames)


async def test_stage_without_powers_has_one_line(traces: dict[str, Trace]) -> None:
    def stripped(trace: Trace) -> Trace:
        able = [actor for actor in ACTORS if {"ask", "search"} & set(actor.powers)]
        asked = {name for actor in able for name in stage_names(actor.name, actor.takes)}
        records = tuple(
            r if r.stage is None or r.stage.actor in asked else dataclasses.replace(r, data=r.data.partition(b"\n")[0])
            for r in trace.records
        )
        assert records != trace.records
        return dataclasses.replace(trace, records=records)

    for trace in traces.values():
        assert (await replay(stripped(trace), pipeline())).divergence is None


CHANGES = [
    (drafting, "shortened", lambda text, most: text[:20], "draft", "answer_synthesis", "sentences"),
    (judge_relevance, "keep", lambda passages, extracts: passages[::-1], "complex", "judge_relevance", "passages"),
    (judge_sufficiency, "usable_lanes", lambda proposed, prefix, most: (), "complex", "judge_sufficiency", "type"),
    (choose, "to_show", lambda asked, ranked, most: ranked[-1:], "simple", "select_evidence", "type"),
    (settling, "citations_of", lambda *given: (), "simple", "settle_answer", "settled"),
    (retrieve, "given", lambda contexts: (), "simple", "retrieve", "passages"),
    (stream_references, "closing", lambda settled, ended: [Done()], "simple", "stream_references", "events["),
    (notices, "text", lambda *given: "nothing there", "nothing given", "classify_intent", "settled.answer"),
    (judge_relevance, "chunks_of", lambda passages, *, to_model: (Chunk(source_file="x", score=0.0, content="y"),), "complex",
     "judge_relevance", "asks[0]"),
    (sentence_check, "_is_prose", lambda text: False, "simple", "answer_simple", "asks"),
]  # fmt: skip


@pytest.mark.parametrize(("module", "name", "value", "run", "stage", "path"), CHANGES)
async def test_change_is_named_by_its_stage(
    traces: dict[str, Trace],
    monkeypatch: pytest.MonkeyPatch,
    module: object,
    name: str,
    value: object,
    run: str,
    stage: str,
    path: str,
) -> None:
    monkeypatch.setattr(module, name, value)
    found = await diverged(traces[run])
    assert (found.stage, found.path[: len(path)]) == (stage, path)
    assert (found.part == "ask") == path.startswith("asks")
    assert found.recorded != found.now


async def test_progress_events_are_compared_with_the_record(
    traces: dict[str, Trace], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieve, "Source", lambda **fields: Source(**{**fields, "title": "another"}))
    found = await diverged(traces["all events"])
    assert (found.stage, found.part, found.path) == ("retrieve", "event", "items[0].title")
    assert (found.recorded, found.now) == ('"Refunds"', '"another"')


async def test_last_event_alone_is_not_compared(traces: dict[str, Trace]) -> None:
    whole = traces["all events"]
    last = [frame for frame in whole.frames if not frame.fenced][-1:]
    assert last
    assert (await replay(dataclasses.replace(whole, frames=tuple(last)), pipeline())).divergence is None


async def test_an_actor_that_breaks_is_named(traces: dict[str, Trace], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("plan")

    monkeypatch.setattr(judge_sufficiency, "ready", broken)
    found = await diverged(traces["complex"])
    assert (found.stage, found.part, found.now) == ("judge_sufficiency", "error", "KeyError: 'plan'")


async def test_message_without_an_actor_is_reported(traces: dict[str, Trace]) -> None:
    graph = pipeline()
    graph.actors = tuple(actor for actor in graph.actors if actor.name != "settle_answer")
    found = await diverged(traces["simple"], graph)
    assert (found.stage, found.recorded) == ("settle_answer", "took answer_verified")


class Faulty(ExtractiveEngine):
    """Fails where it is set to: `faults` maps a prompt to what to raise, and after how many pieces."""

    def __init__(self, **faults: tuple[Exception, int]) -> None:
        self.faults = faults

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        failure, after = self.faults.get(request.variables.name, (None, 0))
        count = 0
        async for part in super().generate(request):
            if failure is not None and count >= after:
                raise failure
            count += 1
            yield part


SIMPLE = QUESTIONS["simple"]
FAULTS = {
    "no answer": (SIMPLE, {"answer_simple": (Unavailable("the model is gone"), 0)}),
    "in mid-answer": (
        QuestionAsked(question="How many days until refunds are paid?", contexts=given(REFUNDS), release="token"),
        {"answer_simple": (NoReply("too slow"), 1)},
    ),
    "judges": (QUESTIONS["complex"], {"judge_relevance": (BadReply("no JSON"), 0)}),
    "verifier": (SIMPLE, {"verify_answer": (BadReply("no JSON"), 0)}),
    "everything": (
        SIMPLE,
        {name: (Unavailable("gone"), 0) for name in ("classify_intent", "classify_query", "select_evidence")},
    ),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_recorded_failures_replay_as_failures(recorder: Recorder, name: str) -> None:
    question, faults = FAULTS[name]
    async with recorder(Faulty(**faults)) as record:
        trace = await record.traced(question)
    assert any(ask.failure for r in trace.records if r.stage for ask in r.stage.asks)
    done = await replay(trace, pipeline())
    assert done.divergence is None
    assert done.finished


async def test_a_reply_outside_its_schema_replays(recorder: Recorder) -> None:
    class Talking(ExtractiveEngine):
        async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
            async for part in super().generate(request):
                if request.variables.name == "judge_relevance" and isinstance(part, Finished):
                    yield msgspec.structs.replace(part, text='{"nonsense": true}')
                else:
                    yield part

    async with recorder(Talking()) as record:
        trace = await record.traced(QUESTIONS["complex"])
    assert any("BadReply" in r.stage.fallback for r in trace.records if r.stage)
    assert (await replay(trace, pipeline())).divergence is None


@pytest.mark.parametrize("settings", [Defaults(numeric_promote=True), Defaults(voice="helpful")])
async def test_a_run_under_other_settings_replays(recorder: Recorder, settings: Defaults) -> None:
    """The settings of the process that recorded the run are in the trace; those of this one do not count."""
    async with recorder(ExtractiveEngine(), defaults=settings) as record:
        trace = await record.traced(SIMPLE)
    assert trace.defaults == settings._replace(masked=False, languages=(), today="")
    assert (await replay(trace, pipeline())).divergence is None


async def test_the_languages_that_a_model_wrote_words_in_are_in_the_trace(recorder: Recorder) -> None:
    settings = Defaults(has_model=True, languages=("en", "es", "ko"))
    async with recorder(ExtractiveEngine(), defaults=settings) as record:
        trace = await record.traced(QuestionAsked(question="How many days until refunds are paid?"))
    assert trace.defaults.languages == settings.languages
    assert [each.language for each in trace.story.searches] == ["en", "en", "es", "ko"]
    assert (await replay(trace, pipeline())).divergence is None


EVIDENCE = Evidence(n=1, source_id="pool.md", title="Pool", text="The pool is free.", date="2024-05-01")


def test_asks_from_before_each_optional_field_are_known() -> None:
    asked = VerifyAnswer(
        answer="It is free [1].",
        evidence=(EVIDENCE,),
        language="en",
        question="How much?",
        before="There is a pool [1].",
    )
    without = []
    for evidence in (EVIDENCE, msgspec.structs.replace(EVIDENCE, date=msgspec.UNSET)):
        without.append(msgspec.structs.replace(asked, evidence=(evidence,)))
        without.append(msgspec.structs.replace(without[-1], before=msgspec.UNSET))
        without.append(msgspec.structs.replace(without[-1], question=msgspec.UNSET))
    known = digests("verify_answer", msgspec.json.encode(asked))
    assert known == tuple(digest(msgspec.json.encode(each)) for each in without)


async def test_remembered_answers_replay(recorder: Recorder) -> None:
    async with recorder(ExtractiveEngine(), cache_entries=10) as record:
        await record.traced(SIMPLE)
        trace = await record.traced(SIMPLE)
    assert any(ask.cached for r in trace.records if r.stage for ask in r.stage.asks)
    assert (await replay(trace, pipeline())).divergence is None


class Stalling(ExtractiveEngine):
    """Answers in two sentences, the first of which the gate flags, and stops between them once, until asked again."""

    name = "stalling"

    def __init__(self) -> None:
        self.asked_again = asyncio.Event()

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        if not request.variables.name.startswith("answer_"):
            async for part in super().generate(request):
                yield part
            return
        parts = ["Ladders are kept by the foreman. ", "Ladders must be checked every 6 months [1]."]
        text = "".join(parts)
        if request.already_shown:
            assert text.startswith(request.already_shown)
            yield Delta(text[len(request.already_shown) :])
        else:
            yield Delta(parts[0])
            await self.asked_again.wait()
        yield Finished(text=text, finish_reason="stop", engine="stalling", model="stalling")


LONG = QuestionAsked(
    question="What is said about ladders?", contexts=given(LADDERS, REFUNDS), release="token", style="simple"
)


async def until_shown(record: Whole, run_id: str) -> None:
    """The first piece of the answer has reached the client."""
    await until(lambda: record.journal.frames(run_id), what="the first piece")


async def test_cancelled_run_replays_up_to_its_end(recorder: Recorder) -> None:
    engine = Stalling()
    async with recorder(engine) as record:
        task = asyncio.create_task(record.traced(LONG, "cancelled-run"))
        await until_shown(record, "cancelled-run")
        await record.runs.cancel("cancelled-run")
        trace = await task
    done = await replay(trace, pipeline())
    assert done.divergence is None
    assert done.finished
    assert done.unfinished == ("answer_simple",)
    assert done.events == len(trace.lines)


async def test_answer_continued_by_a_second_worker_replays(recorder: Recorder) -> None:
    engine = Stalling()
    async with recorder(engine) as record:
        task = asyncio.create_task(record.traced(LONG, "went-on"))
        await until_shown(record, "went-on")
        drop(record.worker, "went-on")
        trace = await task
    stages = [r.stage for r in trace.records if r.stage and r.stage.actor == "answer_simple"]
    assert [stage.attempt for stage in stages] == [2]
    drafts = [r.message for r in trace.records if r.key.type == "answer_drafted"]
    assert (
        drafts[0].sentences[0].flags == ()
    )  # read off the stream; an attempt that began at the beginning would flag it
    assert (await replay(trace, pipeline())).divergence is None


class Breaking(Stalling):
    """As Stalling, but it fails in the middle; asked again, it continues, or starts `anew` with other words."""

    def __init__(self, failure: Failure, anew: str = "") -> None:
        super().__init__()
        self.shown = asyncio.Event()
        self.failure, self.anew = failure, anew

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        if request.already_shown and self.anew:
            yield Delta(self.anew)
            yield Finished(text=self.anew, finish_reason="stop", engine="breaking", model="breaking")
            return
        async for part in super().generate(request):
            yield part
            if request.variables.name.startswith("answer_") and not request.already_shown:
                await self.shown.wait()
                raise self.failure


@pytest.mark.parametrize(
    "engine",
    [
        Breaking(Unavailable("the device broke")),  # the actor begins again, and reads off the stream what it had shown
        Breaking(Busy("another one is free")),  # the bus asks again, and the actor does not notice
        Breaking(Busy("another one is free"), anew="Refunds are paid within 14 days [2]."),
    ],
    ids=["unavailable", "busy", "anew"],
)
async def test_answer_with_a_broken_device_replays(
    recorder: Recorder, engine: Breaking, request: pytest.FixtureRequest
) -> None:
    run_id = f"broke-{request.node.callspec.id}"
    async with recorder(engine) as record:
        task = asyncio.create_task(record.traced(LONG, run_id))
        await until_shown(record, run_id)
        engine.shown.set()
        trace = await task
    (stage,) = [r.stage for r in trace.records if r.stage and r.stage.actor == "answer_simple"]
    assert stage.attempt == 1
    (ask,) = stage.asks
    assert ask.already_shown.startswith("Ladders are kept")
    assert ask.said.startswith(ask.already_shown)
    assert (await replay(trace, pipeline())).divergence is None


def drop(worker: Worker, run_id: str) -> None:
    """Drop a run's work as a killed process would: no ack, and the server delivers it again."""
    worker._stopping = True
    for delivery in tuple(worker._in_flight[run_id]):
        delivery.task.cancel()
        delivery.task.add_done_callback(lambda _: setattr(worker, "_stopping", False))


async def test_a_run_without_its_events_replays(traces: dict[str, Trace]) -> None:
    for trace in traces.values():
        done = await replay(dataclasses.replace(trace, frames=()), pipeline())
        assert done.divergence is None
