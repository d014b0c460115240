"""Relevance with verbatim excerpts, sufficiency by aspects, and the verifier's types."""

import pytest

from prompts.contracts import (
    Extract,
    GuardLanguage,
    JudgeRelevance,
    JudgeSufficiency,
    Relevance,
    SubQuery,
    VerifyAnswer,
)
from runtime.engines.extractive.judging import (
    guard_language,
    judge_relevance,
    judge_sufficiency,
    reworded,
    verify_answer,
)
from tests.runtime.engines.extractive.cases import ANSWERED, UNANSWERED, chunks, evidence


def judged(language: str, statement: str, focus: str = "") -> Relevance:
    return judge_relevance(
        JudgeRelevance(
            sub_query_id="sq_1",
            sub_query_statement=statement,
            sub_query_focus=focus,
            retrieved_chunks=chunks(language),
            language=language,
        )
    )


@pytest.mark.parametrize(("language", "question", "words"), ANSWERED)
def test_excerpts_are_verbatim_and_contain_the_answer(language: str, question: str, words: str) -> None:
    reply = judged(language, question)
    contents = {chunk.source_file: chunk.content for chunk in chunks(language)}
    assert any(words in extract.excerpt for extract in reply.relevant_extracts)
    assert all(extract.excerpt in contents[extract.source_file] for extract in reply.relevant_extracts)
    assert reply.sub_answer
    assert reply.confidence in ("high", "medium")


@pytest.mark.parametrize(("language", "question"), UNANSWERED)
def test_useless_passages_name_the_missing_aspect(language: str, question: str) -> None:
    reply = judged(language, question, "the thing asked for")
    assert reply.relevant_extracts == ()
    assert (reply.sub_answer, reply.confidence) == ("", "low")
    assert reply.missing_aspects == ("the thing asked for",)


def test_words_in_no_chunk_are_missing_aspects() -> None:
    reply = judged("en", "opening of the Harbour Library by submarine")
    assert reply.relevant_extracts
    assert reply.missing_aspects == ("submarine",)


def analysis(lane: str, *, found: bool) -> Relevance:
    extracts = (Extract(source_file="a", excerpt="x", relevance="high"),) if found else ()
    return Relevance(
        sub_query_id=lane,
        sub_query_statement="",
        relevant_extracts=extracts,
        sub_answer="",
        confidence="low",
        missing_aspects=(),
    )


@pytest.mark.parametrize(
    ("found", "sufficient", "confidence", "added"),
    [
        ((True, True), True, "high", 0),
        ((True, False), False, "medium", 1),
        ((False, False), False, "low", 2),
        ((False,) * 5, False, "low", 3),
    ],
)
def test_sufficient_when_every_aspect_is_covered(
    found: tuple[bool, ...], sufficient: bool, confidence: str, added: int
) -> None:
    subs = tuple(SubQuery(id=f"sq_{k}", statement=f"aspect {k} of things", focus="") for k in range(len(found)))
    reply = judge_sufficiency(
        JudgeSufficiency(
            original_query="?",
            sub_queries=subs,
            sub_query_analyses=tuple(analysis(f"sq_{k}", found=is_found) for k, is_found in enumerate(found)),
            language="en",
        )
    )
    assert (reply.is_sufficient, reply.confidence) == (sufficient, confidence)
    assert [a.id for a in reply.additional_sub_queries] == [f"sq_add_{k}" for k in range(1, added + 1)]
    assert all(a.statement != sub.statement for a, sub in zip(reply.additional_sub_queries, subs, strict=False))


def test_another_search_uses_the_content_words() -> None:
    assert reworded("the penalty for cheating in the examination") == "examination cheating penalty"


@pytest.mark.parametrize(
    ("text", "answer", "kind", "severity"),
    [
        ("The fee is $30.", "The fee is $40 [1].", "numeric_conflict", "critical"),
        ("The fee is $30.", "The fee is $30 [1].", None, None),
        ("She said “we are late”.", "She said “songs were sung” [1].", "unsupported_claim", "critical"),
        ("개봉한 제품은 환불할 수 없습니다.", "개봉한 제품은 환불할 수 있습니다 [1].", "direct_negation", "critical"),
        ("费用为30元。", "费用为40元[1]。", "numeric_conflict", "critical"),
        ("Les frais sont de 30 euros.", "Les frais sont de 40 euros [1].", "numeric_conflict", "critical"),
        ("الرسوم 30 دينارا.", "الرسوم 40 دينارا [1].", "numeric_conflict", "critical"),
    ],
)
def test_contradictions_are_typed(text: str, answer: str, kind: str | None, severity: str | None) -> None:
    reply = verify_answer(VerifyAnswer(answer=answer, evidence=evidence(text), language="en"))
    assert [(c.type, c.severity) for c in reply.contradictions][:1] == ([(kind, severity)] if kind else [])


def test_at_most_five_contradictions_gravest_first() -> None:
    answer = " ".join(f"The fee of hall {k} is {k}1 euros [1]." for k in range(2, 9)) + " You may not enter [1]."
    reply = verify_answer(
        VerifyAnswer(answer=answer, evidence=evidence("You may enter. The fee of the hall is 3 euros."), language="en")
    )
    assert len(reply.contradictions) == 5
    kinds = [c.type for c in reply.contradictions]
    order = ["direct_negation", "numeric_conflict", "unsupported_claim"]
    assert kinds == sorted(kinds, key=order.index)


def test_language_guard_does_not_translate() -> None:
    assert guard_language(GuardLanguage(text="Bonjour [1].", target_language="en")) == "Bonjour [1]."
