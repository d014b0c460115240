"""A competent, a careless and a broken model where the rules doubt: the model decides, and the rules only replace it."""

from collections.abc import AsyncIterator, Callable
from time import strftime

import msgspec
import pytest
from groundwire.wire import Turn

from actors.pipeline import pipeline
from actors.question import resolved as question_resolved
from prompts.contracts import (
    AnswerSimple,
    ClassifyQuery,
    Contradiction,
    EvidencePick,
    PickedSpan,
    SelectEvidence,
    StructuredAnswer,
    Verdict,
    VerifyAnswer,
)
from prompts.vocabulary import Release
from runtime.engines.engine import Request
from runtime.engines.scripted.engine import ScriptedEngine, default_script
from runtime.replay.journal_traces import read_run
from runtime.replay.replayer import replay
from tests.whole import Whole, whole

#: The rules doubt that anything answers it.
PROCEDURE = "환불 절차가 궁금합니다"
PICK = "배송비 3,000원은 환불되지 않습니다. 개봉한 소프트웨어는 반품할 수 없습니다."
ANSWER = "배송비 3,000원은 환불되지 않습니다 [1]."
DOUBTED = "개봉한 소프트웨어는 환불되지 않습니다 [1]."
LIE = "배송비 9,000원은 환불되지 않습니다 [1]."
VERDICT = (
    '{"contradictions":[{"type":"unsupported_claim","severity":"minor","claim":"소프트웨어는 환불되지 않습니다",'
    '"evidence_ref":"[1]","explanation":"근거에 없음"}]}'
)


RESULT = "La réponse est donc le prix d'une semaine entière de retard."
GIVEN_AWAY = Contradiction(
    type="direct_negation", severity="critical", claim=RESULT[:50], evidence_ref="", explanation="le résultat"
)


class Model(ScriptedEngine):
    """Answers with ANSWER or HINT; finds RESULT in a hint; `picks` is its reply to select_evidence; it objects to DOUBTED."""

    def __init__(self) -> None:
        super().__init__(self._reply)
        self.picks, self.answers = "", ANSWER

    def _reply(self, request: Request) -> str:
        name, asked = request.variables.name, request.variables
        if isinstance(asked, VerifyAnswer) and DOUBTED in asked.answer:
            return VERDICT
        if isinstance(asked, VerifyAnswer) and asked.exercise is True and RESULT in asked.answer:
            return msgspec.json.encode(Verdict(contradictions=(GIVEN_AWAY,))).decode()
        if isinstance(asked, ClassifyQuery) and asked.exercises is True:
            return EXERCISE
        replies = {"select_evidence": self.picks, "answer_simple": self.answers, "answer_hint": HINT}
        return replies.get(name) or default_script(request)


EXERCISE = (
    '{"query_type":"exercise","confidence":"high","reasoning":"an order to compute","suggested_search_term":"retard"}'
)
HINT = msgspec.json.encode(
    StructuredAnswer(
        summary="Le retard coûte 0,50 euro par jour [1].",
        details=("Combien de jours le livre est-il en retard ?", RESULT),
        citations=("bibliotheque.md",),
    )
).decode()


@pytest.fixture(scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Whole, Model]]:
    engine = Model()
    async with whole(tmp_path_factory.mktemp("decides"), engine, cache_entries=0) as made:
        yield made, engine


def picks(*texts: str) -> str:
    spans = tuple(PickedSpan(passage=1, text=text) for text in texts)
    return msgspec.json.encode(EvidencePick(spans=spans)).decode()


@pytest.mark.parametrize(
    ("reply", "outcome", "by_rules"),
    [
        (lambda: picks(PICK), "answered", False),
        (lambda: picks("환불은 99일 안에 됩니다.", PICK), "answered", False),
        (lambda: picks("환불은 99일 안에 됩니다."), "closest", False),
        (picks, "closest", False),
        (lambda: "no JSON", "closest", True),
    ],
    ids=["competent", "half careless", "careless", "refusing", "broken"],
)
async def test_model_is_asked_in_doubt(
    stack: tuple[Whole, Model], reply: Callable[[], str], outcome: str, by_rules: bool
) -> None:
    run, engine = stack
    engine.picks = reply()
    engine.requests.clear()
    _, record = await run.ask(PROCEDURE)
    assert [r.variables.name for r in engine.requests].count("select_evidence") == 1
    assert (record.outcome, record.answer if outcome == "answered" else "") == (
        outcome,
        ANSWER if outcome == "answered" else "",
    )
    assert any(stage.fallback for stage in record.stages) == by_rules
    if outcome == "answered":
        assert (record.probability, record.confidence) == (None, "medium")  # rules find it unlikely
        assert record.calls == len(engine.requests)


async def test_last_answer_is_made_anew(stack: tuple[Whole, Model], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is told that no model is connected; the model gets the last answer, and the passages of the question before.

    A replay on another day is told the day of the run.
    """
    run, engine = stack
    engine.picks = picks(PICK)
    engine.requests.clear()
    history = (Turn(role="user", content=PROCEDURE), Turn(role="assistant", content=f"앞의 답: {ANSWER}"))
    _, record = await run.ask("한 문장으로 요약해 줘", conversation_history=history)
    assert (record.outcome, record.answer) == ("answered", ANSWER)
    asked = {request.variables.name: request.variables for request in engine.requests}
    select, write = asked["select_evidence"], asked["answer_simple"]
    assert isinstance(select, SelectEvidence)
    assert isinstance(write, AnswerSimple)
    assert select.original_query == write.original_query
    assert select.original_query.startswith("한 문장으로 요약해 줘")
    assert select.original_query.endswith("앞의 답: 배송비 3,000원은 환불되지 않습니다.")
    assert select.today == write.today == strftime("%Y-%m-%d")
    trace = await read_run(run.journal, record.run_id)
    monkeypatch.setattr(question_resolved, "strftime", lambda form: "1999-12-31")
    done = await replay(trace, pipeline())
    assert (done.divergence, done.finished) == (None, True)


async def test_nothing_to_make_anew_is_unclear(stack: tuple[Whole, Model]) -> None:
    run, _ = stack
    _, record = await run.ask("요약해 줘")
    assert (record.outcome, record.detail) == ("declined", "unclear")


async def test_number_that_is_nowhere_stays_unverified(stack: tuple[Whole, Model]) -> None:
    """Whatever a verifier says that was talked into finding nothing."""
    run, engine = stack
    made_up = "소프트웨어 반품 문의는 38일 안에 하면 됩니다 [1]."
    engine.picks, engine.answers = picks(PICK), made_up
    _, record = await run.ask(PROCEDURE)
    engine.answers = ANSWER
    (place,) = record.unverified
    assert (place.text, [flag.kind for flag in place.flags]) == (made_up, ["fabricated_number"])


LONG = " ".join(
    f"{n} 문의에서도 배송비 3,000원은 환불되지 않습니다 [1]." for n in ("첫", "두", "세", "네", "다섯", "여섯")
)


async def test_batches_of_the_verifier_replay(stack: tuple[Whole, Model]) -> None:
    """A replay has every sentence at once, and forms the same batches."""
    run, engine = stack
    engine.picks, engine.answers = picks(PICK), LONG
    _, record = await run.ask(PROCEDURE)
    engine.answers = ANSWER
    trace = await read_run(run.journal, record.run_id)
    calls = [ask.prompt for each in trace.records if each.stage for ask in each.stage.asks]
    assert calls.count("verify_answer") == 3
    done = await replay(trace, pipeline())
    assert (done.divergence, done.finished) == (None, True)


@pytest.mark.parametrize("release", ["sentence", "draft", "token"])
async def test_each_sentence_has_its_standing(stack: tuple[Whole, Model], release: Release) -> None:
    """Verified, unverified and, where nothing was shown before the check, withheld; the same in a replay."""
    run, engine = stack
    lies = [LIE] if release != "token" else []
    engine.picks, engine.answers = picks(PICK), " ".join([ANSWER, DOUBTED, *lies])
    events, record = await run.ask(PROCEDURE, release=release)
    engine.answers = ANSWER
    assert (record.outcome, record.answer.strip().split(". ")) == ("answered", [ANSWER.removesuffix("."), DOUBTED])
    (place,) = record.unverified
    assert (place.text, record.answer[place.answer_start : place.answer_end]) == (DOUBTED, DOUBTED)
    assert [(flag.kind, flag.words) for flag in place.flags] == [("unverified", "소프트웨어는 환불되지 않습니다")]
    assert [each.text.strip() for each in record.withheld] == lies
    assert record.confidence == "low"
    tokens = [event for event in events if event["type"] == "token"]
    marked = "".join(str(event["content"]) for event in tokens if "unverified" in event)
    assert marked.strip() == ("" if release == "token" else DOUBTED)
    assert tokens[-1]["unverified_at"] == [[place.answer_start, place.answer_end]]
    trace = await read_run(run.journal, record.run_id)
    done = await replay(trace, pipeline())
    assert (done.divergence, done.finished, done.events) == (None, True, len(trace.lines))


@pytest.mark.parametrize("release", ["sentence", "draft"])
async def test_result_in_a_hint_is_withheld(stack: tuple[Whole, Model], release: Release) -> None:
    run, engine = stack
    engine.picks = picks("Le retard coûte 0,50 euro par jour.")
    exercise = "Calcule combien coûte un livre rendu avec 7 jours de retard."
    events, record = await run.ask(exercise, profile="tutor", release=release)
    assert record.outcome == "answered"
    assert [each.text.strip(" -") for each in record.withheld] == [RESULT]
    assert "Combien de jours" in record.answer
    assert not any("semaine entière" in str(event.get("content")) for event in events)
