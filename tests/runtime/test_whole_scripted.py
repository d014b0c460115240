"""The whole pipeline on an engine scripted to lie, refuse, fail and hang: what the client sees of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
import pytest
from groundwire.wire import Context, ContextMetadata

from bus.wire.errors import BadReply, NoReply, OverQuota, Rejected, TooLong, Unavailable
from bus.wire.parts import Constraints
from prompts import notices
from prompts.contracts import StructuredAnswer, Synthesis
from runtime.engines.engine import Delta, Finished, Request
from runtime.engines.scripted.engine import ScriptedEngine, default_script
from tests.whole import Whole, whole

GOOD = "Refunds are paid within 14 days of the return [1]."
FEES = "The shipping fee of 3,000 won is not refunded [1]."
LIE = "Refunds are paid within 30 days of the return [1]."
LIE2 = "The shipping fee of 9,000 won is not refunded [1]."
CONTEXTS = (
    Context(
        content="Refunds are paid within 14 days of the return. The shipping fee of 3,000 won is not refunded.",
        metadata=ContextMetadata(source_id="refunds.md", title="Refunds"),
    ),
)
Events = list[dict[str, Any]]


class Engine(ScriptedEngine):
    """`script`: the reply to one prompt, as its text or as what an engine generates."""

    def __init__(self) -> None:
        super().__init__(lambda request: self.script.get(request.variables.name) or default_script(request))
        self.script: dict[str, Any] = {}

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        told = self.script.get(request.variables.name)
        if callable(told):
            self.requests.append(request)
        async for part in told(request) if callable(told) else super().generate(request):
            yield part


@pytest.fixture(scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Whole, Engine]]:
    engine = Engine()
    async with whole(tmp_path_factory.mktemp("whole"), engine) as made:
        yield made, engine


#: Asks a new question over CONTEXTS, with a script for the engine.
type Ask = Callable[..., Any]


@pytest.fixture
async def ask(stack: tuple[Whole, Engine], request: pytest.FixtureRequest) -> AsyncIterator[Ask]:
    run, engine = stack
    engine.script = {}
    count = 0

    async def asks(script: dict[str, Any], question: str = "", **fields: object) -> tuple[Events, Any]:
        nonlocal count
        count += 1
        engine.script = script
        return await run.ask(
            question or f"How long, in {request.node.name} {count}?", **{"contexts": CONTEXTS, **fields}
        )

    yield asks
    engine.script = {}


def text_of(events: Events) -> str:
    return "".join(e["content"] for e in events if e.get("status") == "in_progress")


def kinds(events: Events) -> list[str]:
    return [e["type"] for e in events if e.get("status") != "in_progress"]


async def test_lie_in_the_middle_is_withheld_and_recorded(ask: Ask) -> None:
    events, record = await ask({"answer_simple": f"{GOOD} {LIE} {FEES}"})
    assert text_of(events) == record.answer == f"{GOOD} {FEES}"
    assert (record.outcome, record.re_gate, record.confidence) == ("answered", "low_confidence", "low")
    assert [w.text.strip() for w in record.withheld] == [LIE]
    assert {flag.kind for flag in record.withheld[0].flags} == {"fabricated_number"}
    assert record.withheld_share == pytest.approx(1 / 3, abs=0.001)


@pytest.mark.parametrize(
    ("release", "answer", "shown", "end"),
    [
        ("sentence", f"{GOOD} {LIE} {LIE2}", f"{GOOD} ", ["error", "DONE"]),
        ("token", f"{GOOD} {LIE} {LIE2}", f"{GOOD} {LIE} {LIE2}", ["error", "DONE"]),
        ("draft", f"{GOOD} {LIE} {LIE2}", notices.reason_text("grounding_failed", "en"), ["token", "DONE"]),
        ("sentence", f"{LIE} {LIE2}", notices.reason_text("grounding_failed", "en"), ["token", "DONE"]),
    ],
)
async def test_answer_of_two_lies_is_refused(ask: Ask, release: str, answer: str, shown: str, end: list[str]) -> None:
    events, record = await ask({"answer_simple": answer}, release=release)
    assert (record.outcome, record.reason, record.re_gate) == ("refused", "grounding_failed", "refuse(grounding)")
    assert text_of(events).strip() == shown.strip()
    assert kinds(events) == end
    if "error" in end:
        assert events[-2]["content"] == notices.text("replies", "withdrawn", "en")


@pytest.mark.parametrize(("listed", "outcome"), [("refunds.md", "answered"), ("nowhere.md", "refused")])
async def test_listed_source_must_exist(ask: Ask, listed: str, outcome: str) -> None:
    bare = GOOD.replace(" [1]", "")
    reply = StructuredAnswer(summary=bare, details=(), citations=(listed,))
    events, record = await ask({"answer_structured": told(reply)}, style="structured")
    assert (record.outcome, bare in text_of(events)) == (outcome, outcome == "answered")
    assert (record.structured.citations if record.structured else None) == (
        (listed,) if outcome == "answered" else None
    )
    assert kinds(events) == ["token", *["references"] * (outcome == "answered"), "DONE"]


@pytest.mark.parametrize(
    ("profile", "prompt"), [("general", "simple"), ("library", "synthesis"), ("support", "structured")]
)
async def test_own_words_for_the_form_reach_the_model(ask: Ask, profile: str, prompt: str) -> None:
    seen: list[str] = []

    async def told_form(request: Request) -> AsyncIterator[Delta | Finished]:
        seen.append(request.variables.style)  # type: ignore[attr-defined]
        async for part in ScriptedEngine().generate(request):
            yield part

    await ask({f"answer_{prompt}": told_form}, profile=profile, constraints=Constraints(style="as a short table"))
    assert seen == ["as a short table"]


async def test_withheld_summary_is_empty(ask: Ask) -> None:
    reply = StructuredAnswer(summary=LIE, details=(GOOD,), citations=("refunds.md",))
    _, record = await ask({"answer_structured": told(reply)}, style="structured")
    assert record.structured is not None
    assert (record.structured.summary, record.structured.details) == ("", (GOOD.replace(" [1]", ""),))


@pytest.mark.parametrize(("listed", "confidence"), [((1,), "high"), ((1, 3), "low")])
async def test_listed_citations_agree_with_the_answer(ask: Ask, listed: tuple[int, ...], confidence: str) -> None:
    reply = Synthesis(answer=GOOD, used_citations=listed, confidence="high", refused=False, refuse_reason="")
    question = "Within how many days of the return are refunds paid" + "?" * len(listed)
    _, record = await ask({"answer_synthesis": told(reply)}, question, style="synthesis")
    assert record.confidence == confidence


def told(reply: Any) -> str:
    return msgspec.json.encode(reply).decode()


def raises(failure: Exception) -> Callable[[Request], AsyncIterator[Delta | Finished]]:
    async def generate(request: Request) -> AsyncIterator[Delta | Finished]:
        raise failure
        yield Delta("")

    return generate


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (Unavailable("no model is loaded"), "model_unavailable"),
        (BadReply("no JSON"), "model_malformed"),
        (TooLong("no room"), "model_too_long"),
        (Rejected("wrong key"), "model_rejected"),
        (OverQuota("no tokens left"), "model_over_quota"),
        (NoReply("late"), "timeout"),
    ],
)
async def test_missing_answer_model_fails_the_run(ask: Ask, failure: Exception, reason: Any) -> None:
    events, record = await ask({"answer_simple": raises(failure)})
    assert (record.outcome, record.reason) == ("failed", reason)
    assert [(e["type"], e.get("code")) for e in events] == [("error", reason), ("DONE", None)]
    assert events[0]["content"] == notices.reason_text(reason, "en")


@pytest.mark.parametrize("goes_on", [True, False])
async def test_dead_device_repeats_no_word(ask: Ask, goes_on: bool) -> None:
    """Whether the next device continues after the shown text or repeats all of it."""
    seen: list[str] = []

    async def dies_once(request: Request) -> AsyncIterator[Delta | Finished]:
        seen.append(request.already_shown)
        whole_text = f"{GOOD} {LIE} {FEES}"
        if len(seen) == 1:
            yield Delta(f"{GOOD} {LIE} The shipping")
            raise Unavailable("the device died")
        yield Delta(f"{LIE} {FEES}" if goes_on else whole_text)
        yield Finished(text=whole_text, finish_reason="stop", engine="scripted", model="script")

    events, record = await ask({"answer_simple": dies_once})
    assert seen == ["", f"{GOOD} "]
    assert text_of(events) == record.answer == f"{GOOD} {FEES}"
    assert [w.text.strip() for w in record.withheld] == [LIE]


async def test_concurrent_questions_each_end_once(ask: Ask, stack: tuple[Whole, Engine]) -> None:
    run, engine = stack
    engine.script = {"answer_simple": f"{GOOD} {FEES}"}
    limit = asyncio.Semaphore(16)

    async def one(n: int) -> tuple[Events, Any]:
        async with limit:
            return await run.ask(f"How long does question {n} take?", contexts=CONTEXTS)

    for events, record in await asyncio.gather(*(one(n) for n in range(24))):
        assert text_of(events) == record.answer == f"{GOOD} {FEES}"
        assert kinds(events) == ["token", "references", "DONE"]


# ---------------------------------------------------------------- answers that are kept


async def twice(run: Whole, engine: Engine, script: dict[str, Any], question: str) -> tuple[list[str], list[Any]]:
    engine.script = script
    engine.requests.clear()
    texts, cached = [], []
    for _ in range(2):
        _, record = await run.ask(question, contexts=CONTEXTS)
        trace = await run.journal.run(record.run_id)
        asks = [a for r in trace if r.stage for a in r.stage.asks if a.prompt.startswith("answer_")]
        cached.append([a.cached for a in asks])
        texts.append(f"{record.outcome} {record.answer}")
    return texts, cached


async def test_a_failure_is_not_kept(stack: tuple[Whole, Engine]) -> None:
    run, engine = stack
    question = "How long do failures take?"
    texts, _ = await twice(run, engine, {"answer_simple": raises(BadReply("no JSON"))}, question)
    assert all(text.startswith("failed") for text in texts)
    assert [request.variables.name for request in engine.requests].count("answer_simple") == 2
    texts, cached = await twice(run, engine, {"answer_simple": GOOD}, question)
    assert texts == [f"answered {GOOD}"] * 2
    assert cached == [[False], [True]]
