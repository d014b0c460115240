"""A model that works is never overruled, each failure of one is counted once, and `calls` are the requests of its engine."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from groundwire.wire import Turn
from msgspec.structs import replace

from actors.question.profile import PROFILES
from bus.runs.run_record import RunRecord
from bus.runs.story import story_of
from bus.wire.errors import BadReply, Failure, NoReply, OverQuota, Rejected, TooLong, Unavailable
from prompts.contracts import PROMPTS
from prompts.files import is_remembered, source_of
from runtime.engines.engine import Delta, Finished, Request
from runtime.telemetry.run_metrics import RunMetrics, counted
from tests.bench.bench_calls import ASKED, Competent
from tests.whole import Whole, whole

EVERY = {(profile, kind): question for profile, kind, question in ASKED}


@dataclass
class Model(Competent):
    """A competent model that counts its requests; `fails` gives the failure of a prompt, `says` another reply to one."""

    asked: list[str] = field(default_factory=list)
    fails: dict[str, Callable[[str], Failure]] = field(default_factory=dict)
    says: dict[str, str] = field(default_factory=dict)
    cut: str = ""

    def reply(self, request: Request) -> str:
        return self.says.get(request.variables.name) or super().reply(request)

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        name = request.variables.name
        self.asked.append(name)
        if name in self.fails:
            raise self.fails[name]("broken on purpose")
        async for event in super().generate(request):
            yield replace(event, cut=self.cut) if isinstance(event, Finished) else event


@pytest.fixture(scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Whole, Model]]:
    engine = Model()
    async with whole(tmp_path_factory.mktemp("overruled"), engine, cache_entries=0) as run:
        yield run, engine


async def asked(stack: tuple[Whole, Model], profile: str, kind: str, **fields: object) -> tuple[RunRecord, list[str]]:
    """The record, and the stages that /metrics counts as decided without the model, each as often as it does."""
    run, engine = stack
    engine.complex = kind == "complex"
    engine.asked.clear()
    _, record = await run.ask(EVERY[profile, kind], profile=profile, **fields)
    metrics, found = RunMetrics(), counted(story_of(await run.journal.run(record.run_id)))
    assert found is not None
    metrics.count(found)
    lines = [
        line for line in metrics.text().decode().splitlines() if line.startswith("groundwire_stage_fallbacks_total{")
    ]
    stages = [line.split('"')[1] for line in lines for _ in range(int(float(line.split()[-1])))]
    assert sorted(stages) == sorted(each.stage for each in record.stages if each.fallback)
    return record, stages


@pytest.mark.parametrize(("profile", "kind"), EVERY)
async def test_competent_model_is_never_overruled(stack: tuple[Whole, Model], profile: str, kind: str) -> None:
    record, overruled = await asked(stack, profile, kind)
    assert (record.outcome, overruled, record.calls) == ("answered", [], len(stack[1].asked))


def asked_twice(why: str) -> Failure:
    failure = BadReply(why)
    failure.calls = 2
    return failure


FAILURES = (NoReply, BadReply, TooLong, Rejected, OverQuota, Unavailable, asked_twice)
COMPLEX = ("classify_intent", "classify_query", "decompose_query", "judge_sufficiency", "select_evidence")


@pytest.mark.parametrize(
    ("kind", "prompt", "failure"),
    [*(("simple", "select_evidence", each) for each in FAILURES), *(("complex", each, BadReply) for each in COMPLEX)],
)
async def test_failure_counts_once_in_its_stage(
    stack: tuple[Whole, Model], kind: str, prompt: str, failure: Callable[[str], Failure]
) -> None:
    stack[1].fails = {prompt: failure}
    # In `general`, which lists no subjects, rules classify the intent.
    record, overruled = await asked(stack, "myopia" if prompt == "classify_intent" else "general", kind)
    stack[1].fails = {}
    assert (record.outcome, overruled) == ("answered", [prompt])
    assert record.calls == len(stack[1].asked) + (failure is asked_twice)


async def test_unread_verdict_counts_and_marks(stack: tuple[Whole, Model]) -> None:
    for says, fails in (({"verify_answer": "no JSON"}, {}), ({}, {"verify_answer": TooLong})):
        stack[1].says, stack[1].fails = says, fails
        record, overruled = await asked(stack, "general", "simple")
        stack[1].says, stack[1].fails = {}, {}
        assert (record.outcome, overruled) == ("answered", ["answer_simple"])
        assert record.calls == len(stack[1].asked)
        draft = story_of(await stack[0].journal.run(record.run_id)).draft
        assert draft is not None
        assert all("unverified" in {flag.kind for flag in one.flags} for one in draft.sentences if one.text.strip())
        assert record.re_gate == "caution"


#: The prompts whose replies are cached.
REMEMBERED = {name for name in (each.name for each in PROMPTS) if is_remembered(source_of(name))}


async def test_cached_replies_are_no_calls(tmp_path: Path) -> None:
    engine = Model()
    async with whole(tmp_path, engine) as run:
        for profile, kind in EVERY:
            first, _ = await asked((run, engine), profile, kind)
            again, _ = await asked((run, engine), profile, kind)
            assert again.calls == len(engine.asked) < first.calls
            assert REMEMBERED.isdisjoint(engine.asked)


async def test_cut_replies_are_marked_in_the_trace(stack: tuple[Whole, Model]) -> None:
    stack[1].cut = "$.reasoning"
    record, overruled = await asked(stack, "general", "simple")
    stack[1].cut = ""
    asks = story_of(await stack[0].journal.run(record.run_id)).asks
    cut = {ask.cut for ask in asks if ask.prompt != "classify_intent"}  # which rules answer
    assert (overruled, cut) == ([], {"$.reasoning"})


async def test_rewritten_question_is_remembered(tmp_path: Path) -> None:
    engine = Model()
    earlier = ({"role": "user", "content": "Do you pay refunds?"}, {"role": "assistant", "content": "Yes."})
    history = msgspec.convert(earlier, tuple[Turn, ...])
    async with whole(tmp_path, engine) as run:
        records = [(await asked((run, engine), "general", "simple", conversation_history=history))[0] for _ in range(2)]
    assert [each.calls for each in records][1] == len(engine.asked)
    assert "rewrite_query" not in engine.asked
    assert records[0].prompt_versions["rewrite_query"] == records[1].prompt_versions["rewrite_query"]


@pytest.mark.parametrize(("sure_from", "asks"), [(1.0, True), (0.0, False)])
async def test_sure_rules_save_a_call(
    stack: tuple[Whole, Model], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sure_from: float, asks: bool
) -> None:
    text = f'extends = "general"\ndescription = "Sure."\n[retrieval]\nsure_from = {sure_from}\n'
    (tmp_path / "sure.toml").write_text(text)
    monkeypatch.setattr(PROFILES, "folder", tmp_path)
    monkeypatch.setattr(PROFILES, "_read", {})
    _, record = await stack[0].ask(EVERY["general", "simple"], profile="sure")
    prompts = [ask.prompt for ask in story_of(await stack[0].journal.run(record.run_id)).asks]
    assert (record.outcome, "select_evidence" in prompts) == ("answered", asks)
