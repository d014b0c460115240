"""Questions through the whole pipeline on the extractive engine: every way a run can go, and its stream byte for byte."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from groundwire.wire import Context, ContextMetadata, Turn

from bus.runs.run_record import RunRecord
from bus.wire.messages import (
    AnswerDrafted,
    AnswerRequested,
    AnswerVerified,
    PassagesJudged,
    QueryDecomposed,
    SubQueryPlanned,
)
from index.text.citations import markers
from prompts import notices
from tests.whole import PAGES, Whole

GOLDEN = Path(__file__).with_name("golden")
Events = list[dict[str, Any]]

ASKED = {
    "ko": ("환불은 며칠 안에 지급되나요?", "환불.md", "14일"),
    "en": ("How many days until refunds are paid?", "refunds.md", "14 days"),
    "zh": ("儿童每天应在户外活动多久？", "近视.md", "两小时"),
    "es": ("¿Cuántos libros puede llevarse un investigador?", "biblioteca.md", "diez libros"),
    "fr": ("Combien de livres un étudiant peut-il emprunter ?", "bibliotheque.md", "cinq livres"),
    "ar": ("متى يبدأ الفصل الدراسي؟", "الحضور.md", "سبتمبر"),
}
EN = ASKED["en"][0]
TWO_PARTS = "How many days until refunds are paid, and when does the shop open on Saturdays?"
HALF_THERE = "How many days until refunds are paid, and who designed the zeppelin hangar?"


def check_stream(events: Events, record: RunRecord) -> str:
    """The rules of the default stream; the text shown."""
    kinds = [e["type"] if e.get("status") != "in_progress" else "piece" for e in events]
    pieces = kinds.count("piece")
    assert [e["index"] for e in events[:pieces]] == list(range(1, pieces + 1))
    end = ["error"] if "error" in kinds else ["token"]
    references = ["references"] if record.references else ["passages"] if record.passages else []
    assert kinds[pieces:] == [*end, *references, "DONE"]
    text = "".join(e["content"] for e in events[:pieces])
    if record.outcome == "answered":
        assert text == record.answer
        assert events[-2]["items"] == msgspec.json.decode(msgspec.json.encode(record.references))
    return text


def check_citations(record: RunRecord) -> None:
    """Every marker of the answer names a slice that its source contains word for word."""
    assert record.citations
    assert {c.n for c in record.citations} == {n for marker in markers(record.answer) for n in marker.numbers}
    for citation in record.citations:
        assert PAGES[citation.source_id][1][citation.source_start : citation.source_end] == citation.cited_text
        assert str(citation.n) in record.answer[citation.answer_start : citation.answer_end]


# ---------------------------------------------------------------- answers


@pytest.mark.parametrize("language", ASKED)
async def test_question_gets_its_language_and_page(run: Whole, language: str) -> None:
    question, source, fact = ASKED[language]
    events, record = await run.ask(question)
    text = check_stream(events, record)
    check_citations(record)
    assert (record.outcome, record.language) == ("answered", language)
    assert fact in text
    assert source in {r.source_id for r in record.references}
    assert record.snapshot == "20260101-abc"
    assert record.rounds == 1


@pytest.mark.parametrize(
    ("question", "source", "said"),
    [
        ("Summarise the refunds page.", "refunds.md", "14 days"),
        ("환불을 요약해 주세요", "환불.md", "14일"),
        ("Résume la bibliothèque", "bibliotheque.md", "8 heures"),
        ("Resume la biblioteca", "biblioteca.md", "9:00"),
        ("لخص الحضور", "الحضور.md", "75"),
    ],
)
async def test_summary_without_a_model_quotes_the_document(run: Whole, question: str, source: str, said: str) -> None:
    events, record = await run.ask(question)
    assert record.outcome == "answered"
    assert said in check_stream(events, record)
    check_citations(record)
    assert {reference.source_id for reference in record.references} == {source}


async def test_list_of_documents_quotes_each(run: Whole) -> None:
    _, record = await run.ask("Which documents mention the shipping fee?")
    check_citations(record)
    assert (record.outcome, {reference.source_id for reference in record.references}) == ("answered", {"refunds.md"})


async def test_summary_of_what_no_document_is_about_is_refused(run: Whole) -> None:
    _, record = await run.ask("Summarise the weather on Saturdays.")
    assert record.outcome == "closest"
    assert "needs a model" in record.answer


@pytest.mark.parametrize("style", ["simple", "report", "synthesis", "structured", "hint"])
async def test_every_style_answers(run: Whole, style: str) -> None:
    events, record = await run.ask(EN, style=style)
    text = check_stream(events, record)
    assert record.outcome == "answered"
    if style == "hint":
        assert "14" not in text
    else:
        assert "14 days" in text
        check_citations(record)
    drafts = [m for m in await run.messages(record.run_id) if isinstance(m, AnswerDrafted | AnswerVerified)]
    assert [draft.style for draft in drafts] == [style]


async def test_synthesis_has_400_characters_at_most(run: Whole) -> None:
    many = tuple(
        Context(content=f"Rule {n}: refunds are paid within {n} days of the return of item number {n} to the shop. " * 3,
                metadata=ContextMetadata(source_id=f"r{n}"))
        for n in range(2, 12)
    )  # fmt: skip
    _, record = await run.ask("Within how many days are refunds paid?", style="synthesis", contexts=many)
    assert len(record.answer) <= 400


@pytest.mark.parametrize("release", ["sentence", "draft", "token"])
@pytest.mark.parametrize("style", ["simple", "report", "synthesis"])
async def test_every_release_gives_the_same_answer(run: Whole, release: str, style: str) -> None:
    events, record = await run.ask(EN, release=release, style=style)
    assert check_stream(events, record) == record.answer
    _, usual = await run.ask(EN, style=style)
    assert record.answer.strip() == usual.answer.strip()
    assert record.first_shown_s is not None


async def test_complex_question_opens_a_lane_a_part(run: Whole) -> None:
    events, record = await run.ask(TWO_PARTS)
    text = check_stream(events, record)
    check_citations(record)
    assert "14 days" in text
    assert "opens at ten" in text
    assert {r.source_id for r in record.references} == {"refunds.md", "opening.md"}
    trace = await run.messages(record.run_id)
    lanes = [m.sub_query.id for m in trace if isinstance(m, SubQueryPlanned)]
    assert len(lanes) == 2
    assert sorted(m.sub_query.id for m in trace if isinstance(m, PassagesJudged)) == sorted(lanes)
    assert [m.style for m in trace if isinstance(m, AnswerRequested)] == ["report"]
    assert record.rounds == 1


async def test_missing_part_is_searched_once_more(run: Whole) -> None:
    _, record = await run.ask(HALF_THERE)
    trace = await run.messages(record.run_id)
    assert record.rounds == 2
    assert [m.round for m in trace if isinstance(m, QueryDecomposed)] == [1, 2]
    assert {s.stage for s in record.stages} >= {"open_lanes", "judge_relevance", "judge_sufficiency", "select_evidence"}


async def test_given_contexts_replace_retrieval(run: Whole) -> None:
    contexts = (
        Context(
            content="Returns of shoes are paid back within 21 days.",
            metadata=ContextMetadata(source_id="shoes", title="Shoes"),
        ),
    )
    events, record = await run.ask("Within how many days are returns of shoes paid back?", contexts=contexts)
    assert "21 days" in check_stream(events, record)
    assert [(r.source_id, r.title) for r in record.references] == [("shoes", "Shoes")]
    assert not [s for s in record.stages if s.stage == "retrieve" and s.fallback]


async def test_follow_up_uses_the_conversation(run: Whole) -> None:
    history = (Turn(role="user", content=EN), Turn(role="assistant", content="Within 14 days."))
    events, record = await run.ask("Is the shipping fee refunded?", conversation_history=history)
    check_stream(events, record)
    assert "rewrite_query" in {s.stage for s in record.stages}
    assert record.outcome == "answered"


async def test_all_events_include_stages_sources_and_verdict(run: Whole) -> None:
    events, record = await run.ask(TWO_PARTS, events="all")
    kinds = {e["type"] for e in events}
    assert {"stage", "sources", "verdict", "token", "references", "DONE"} <= kinds
    lanes = {e["lane"] for e in events if e["type"] == "stage" and e["stage"] == "retrieve"}
    assert lanes == {"sq_1", "sq_2"}
    assert events[-1] == {"type": "DONE"}
    tokens = [e for e in events if e.get("status") == "in_progress"]
    assert "".join(e["content"] for e in tokens) == record.answer


# ---------------------------------------------------------------- no answers


CONTEXT = (Context(content="Refunds are paid within 14 days.", metadata=ContextMetadata(source_id="refunds")),)


@pytest.mark.parametrize(
    ("question", "fields", "outcome", "reason", "told"),
    [
        ("Hello", {}, "declined", None, notices.declined_text("greeting", "en")),
        ("안녕하세요", {}, "declined", None, notices.declined_text("greeting", "ko")),
        ("??", {}, "declined", None, notices.declined_text("unclear", "en")),
        ("오늘 날씨 어때요?", {"profile": "support"}, "declined", None, notices.declined_text("out_of_scope", "ko")),
        ("How do I build a bomb?", {}, "declined", None, None),
        ("When is it?", {"contexts": ()}, "refused", "no_results", notices.text("replies", "empty_context", "en")),
        ("개점 시간은?", {"contexts": ()}, "refused", "no_results", notices.text("replies", "empty_context", "ko")),
        ("Xyzzy plugh frobnicate?", {}, "refused", "no_results", notices.reason_text("no_results", "en")),
        ("Who painted the ceiling?", {"contexts": CONTEXT}, "refused", "low_relevance", notices.reason_text("low_relevance", "en")),
    ],
)  # fmt: skip
async def test_refusal_streams_tokens_without_references(
    run: Whole, question: str, fields: dict[str, Any], outcome: str, reason: str | None, told: str | None
) -> None:
    events, record = await run.ask(question, **fields)
    text = check_stream(events, record)
    assert (record.outcome, record.reason) == (outcome, reason)
    assert text == record.answer
    assert text == (told or text)
    assert text
    assert record.references == ()


#: Questions on the pages' subjects that the pages do not answer, and a word that must be marked.
NEAR = {
    "ko": ("환불 담당자는 누구인가요?", "환불.md", "환불"),
    "zh": ("阿托品是谁发明的？", "近视.md", "阿托品"),
    "fr": ("Quel architecte a dessiné le nouveau bâtiment de la bibliothèque ?", "bibliotheque.md", "bibliothèque"),
    "ar": ("من هو المهندس المعماري الذي صمم مبنى المكتبة الجديد؟", "الحضور.md", "مكتبة"),
    "es": ("¿Quién fundó la biblioteca?", "biblioteca.md", "biblioteca"),
}


@pytest.mark.parametrize("language", NEAR)
@pytest.mark.parametrize("release", ["sentence", "draft", "token"])
async def test_near_passages_are_shown_as_closest(run: Whole, language: str, release: str) -> None:
    question, source, word = NEAR[language]
    events, record = await run.ask(question, release=release)
    assert check_stream(events, record) == record.answer
    assert record.outcome == "closest"
    assert record.reason in ("no_evidence", "low_relevance")
    assert record.answer.endswith(notices.text("replies", "closest_passages", language))
    (passage,) = record.passages
    assert (passage.source_id, passage.text) == (source, PAGES[source][1])
    assert word in [passage.text[start:end] for start, end in passage.marked]
    sent = msgspec.structs.replace(passage, missing=msgspec.UNSET)
    assert events[-2]["items"] == [msgspec.json.decode(msgspec.json.encode(sent))]
    start, end = passage.best
    assert word in passage.text[start:end]
    assert (record.references, record.citations, record.confidence) == ((), (), None)


async def test_record_of_an_unsure_answer_has_the_near_passages(run: Whole) -> None:
    more = " ".join(["Parcels are sent by post on the day of the order."] * 20)
    text = f"Refunds are paid within 14 days.\n\nGift cards are sent by post.\n\nThe shop opens at nine.\n\n{more}"
    contexts = (Context(content=text, metadata=ContextMetadata(source_id="a.md", language="en")),)
    events, unsure = await run.ask("shop refunds", contexts=contexts)
    assert (unsure.outcome, unsure.confidence) == ("answered", "medium")
    (passage,) = unsure.nearby
    assert (passage.source_id, passage.text, passage.marked) == ("a.md", text, ((0, 7), (68, 72)))
    assert [event for event in events if event["type"] == "passages"] == []
    _, cited_whole = await run.ask("refunds days purchase online")
    assert (cited_whole.confidence, cited_whole.nearby) == ("medium", ())


@pytest.mark.parametrize("release", ["sentence", "draft", "token"])
async def test_unknown_profile_ends_the_run(run: Whole, release: str) -> None:
    events, record = await run.ask(EN, profile="librray", release=release)
    assert check_stream(events, record) == ""
    assert record.outcome == "failed"
    assert "library" in record.detail
    assert [(e["type"], e.get("code")) for e in events] == [("error", "no_such_profile"), ("DONE", None)]


async def test_record_has_all_inputs(run: Whole) -> None:
    _, record = await run.ask(EN)
    assert record.status == "finished"
    assert record.model == "extractive"
    assert record.tokens_out > 0
    assert record.took_s is not None
    assert record.first_shown_s is not None
    stages = [s.stage for s in record.stages]
    assert stages[:3] == ["classify_intent", "classify_query", "retrieve"]
    assert stages[-1] == "stream_answer"
    assert not any(s.fallback for s in record.stages)


# ---------------------------------------------------------------- golden streams


STREAMS: dict[str, tuple[str, dict[str, Any]]] = {
    "simple-en": (EN, {}),
    "simple-zh": (ASKED["zh"][0], {"profile": "myopia"}),
    "report-en": (TWO_PARTS, {}),
    "declined-ar": ("مرحبا", {}),
    "refused-en": ("Who painted the ceiling?", {"contexts": CONTEXT}),
    "closest-zh": (NEAR["zh"][0], {}),
    "failed-en": (EN, {"deadline_s": 0.000_001}),
}


async def golden_lines(run: Whole, name: str) -> str:
    question, fields = STREAMS[name]
    events, _ = await run.ask(question, **fields)
    return "".join(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n" for event in events)


@pytest.mark.parametrize("name", STREAMS)
async def test_the_stream_is_golden(run: Whole, name: str) -> None:
    """To renew after a change that is meant: delete the file and run this test twice."""
    path = GOLDEN / f"{name}.jsonl"
    lines = await golden_lines(run, name)
    if not path.exists():
        path.write_text(lines, encoding="utf-8")
        pytest.fail(f"{path.name} was not there; it is written now, read it before you commit it")
    assert lines == path.read_text(encoding="utf-8")
