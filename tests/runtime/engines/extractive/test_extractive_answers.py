"""Answers: verbatim sentences with their markers, nothing the gate would withhold, within every bound of the contract."""

import re

import msgspec
import pytest

from actors.gate.check import check_sentence, withholds
from index.languages import LANGUAGES, of
from index.text.citations import markers, strip_markers
from index.text.sentences import split
from prompts import notices
from prompts.contracts import AnswerHint, AnswerReport, AnswerSimple, AnswerStructured, AnswerSynthesis, Evidence
from prompts.vocabulary import Language
from runtime.engines.extractive.answers import (
    SYNTHESIS_CHARS,
    answer_hint,
    answer_report,
    answer_simple,
    answer_structured,
    answer_synthesis,
)
from runtime.engines.extractive.quoting import cite, shorten
from tests.runtime.engines.extractive.cases import ANSWERED, PASSAGES, SUBJECT_NAMED, UNANSWERED, evidence


def squeezed(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


@pytest.mark.parametrize(("language", "question", "words"), SUBJECT_NAMED)
def test_sentences_are_verbatim_cited_and_pass_the_gate(language: str, question: str, words: str) -> None:
    given = evidence(*PASSAGES[language])
    text = answer_simple(AnswerSimple(original_query=question, retrieved_chunks=given, language=language))
    sentences = [text[start:end] for start, end in split(text)]
    assert words in text
    assert 1 <= len(sentences) <= 4
    for sentence in sentences:
        (number,) = markers(sentence)[0].numbers
        assert squeezed(strip_markers(sentence)) in squeezed(given[number - 1].text)
        assert not withholds(check_sentence(sentence, given, language=language))


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_evidence_the_answer_admits_it(language: Language) -> None:
    reply = answer_simple(AnswerSimple(original_query="?", retrieved_chunks=(), language=language, safety_advice="X"))
    assert reply == notices.text("replies", "closest", language)


def test_sentences_in_the_question_language_come_first() -> None:
    given = evidence(PASSAGES["en"][0], PASSAGES["fr"][0])
    text = answer_simple(
        AnswerSimple(
            original_query="Quand la bibliothèque Harbour a été ouverte ?", retrieved_chunks=given, language="fr"
        )
    )
    assert {n for marker in markers(text) for n in marker.numbers} == {2}


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("It rains.", "It rains [3]."),
        ("It rains", "It rains [3]."),
        ("It rains!", "It rains! [3]"),
        ("下雨了？", "下雨了？[3]"),
        ("He said “no.”", "He said “no.” [3]."),
        ("# It  rains\nhere.", "It rains here [3]."),
        ("It rains[12].", "It rains [3]."),
        ("it rains.", "It rains [3]."),
        ("下雨了。", "下雨了[3]。"),
        ("下雨了", "下雨了[3]。"),
        ("df命令", "df命令[3]。"),
        ("비가 온다.", "비가 온다 [3]."),
        ("هل تمطر؟", "هل تمطر؟ [3]"),
        ("one:", "One [3]."),
    ],
)
def test_marker_precedes_the_full_stop_and_follows_other_marks(text: str, cited: str) -> None:
    assert cite(text, 3) == cited


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [
        ("One two three", 20, "One two three"),
        ("One two, three four five", 14, "One two"),
        ("One two three four", 12, "One two"),
        ("一二三四五，六七八九十", 8, "一二三四五"),
        ("abcdefghij", 4, "abcd"),
    ],
)
def test_long_sentence_is_cut_at_a_clause(text: str, limit: int, short: str) -> None:
    assert shorten(text, limit) == short


@pytest.mark.parametrize(("language", "question", "words"), SUBJECT_NAMED)
def test_synthesis_is_short_and_lists_its_sources(language: str, question: str, words: str) -> None:
    reply = answer_synthesis(AnswerSynthesis(query=question, evidence=evidence(*PASSAGES[language]), language=language))
    assert not reply.refused
    assert words in reply.answer
    assert len(reply.answer) <= SYNTHESIS_CHARS
    assert list(reply.used_citations) == sorted({n for m in markers(reply.answer) for n in m.numbers})


@pytest.mark.parametrize(("language", "question"), UNANSWERED)
def test_synthesis_refuses_in_the_question_language(language: str, question: str) -> None:
    reply = answer_synthesis(AnswerSynthesis(query=question, evidence=evidence(*PASSAGES[language]), language=language))
    assert reply.refused
    assert reply.answer == ""
    assert reply.refuse_reason == notices.text("replies", "closest", language)


def test_refusal_names_the_missing_kind() -> None:
    reply = answer_synthesis(
        AnswerSynthesis(
            query="How many books may readers borrow?",
            evidence=evidence("Readers may borrow books from the library."),
            language="en",
        )
    )
    assert reply.refuse_reason == of("en").phrases.refusals.no_number


@pytest.mark.parametrize("language", LANGUAGES)
def test_report_headings_use_the_question_language(language: Language) -> None:
    question = next(q for code, q, _ in ANSWERED if code == language)
    given = evidence(*PASSAGES[language])
    text = answer_report(
        AnswerReport(original_query=question, sub_query_analyses=(), evidence=given, language=language)
    )
    assert text.startswith("**TL;DR** ")
    assert (
        text.index(f"## {of(language).phrases.headings.conclusion}")
        < text.index(f"## {of(language).phrases.headings.arguments}")
        < text.index("1. **")
    )
    for start, end in split(text):
        sentence = text[start:end]
        assert not withholds(check_sentence(sentence, given, language=language)), sentence


def test_structured_answer_names_its_sources_once() -> None:
    reply = answer_structured(
        AnswerStructured(
            question="Who opened the Harbour Library?",
            contexts=(
                *evidence(PASSAGES["en"][0]),
                Evidence(n=2, source_id="s1", title="", text="Ellen Brandt opened the Harbour Library at noon."),
            ),
            language="en",
        )
    )
    assert "Ellen Brandt" in reply.summary
    assert reply.citations == ("s1",)
    assert len(reply.details) <= 3


def test_structured_answer_begins_with_the_chosen_sentence() -> None:
    text = "The Harbour Library has a reading room. Ellen Brandt opened it at noon."
    chosen = msgspec.structs.replace(evidence(text)[0], lead="Ellen Brandt opened it at noon.")
    reply = answer_structured(AnswerStructured(question="Who opened the library?", contexts=(chosen,), language="en"))
    assert reply.summary.startswith("Ellen Brandt opened it at noon")


def test_structured_answer_keeps_its_token_limit() -> None:
    contexts = evidence(*(f"The Harbour Library has a reading room number {k} for its readers." for k in range(1, 6)))
    asked = "What does the Harbour Library have for readers?"
    small = answer_structured(AnswerStructured(question=asked, contexts=contexts, language="en", max_tokens=40))
    large = answer_structured(AnswerStructured(question=asked, contexts=contexts, language="en", max_tokens=600))
    assert len(small.details) < len(large.details) == 3


@pytest.mark.parametrize(
    ("language", "question", "text", "result"),
    [
        ("en", "Calculate the area of a square with side 4.", "A square with side 4 has the area 16.", "16"),
        ("en", "Compute seven times 8.", "Seven times eight is fifty-six.", "fifty"),
        ("en", "Which gas do plants take in?", "Plants take in carbon dioxide from the air.", "carbon"),
        ("fr", "Calcule l'aire d'un carré de côté 4.", "Un carré de côté 4 a une aire de seize.", "seize"),
        ("fr", "Quel gaz les plantes absorbent-elles ?", "Les plantes absorbent le dioxyde de carbone.", "carbone"),
        ("ar", "احسب مساحة مربع ضلعه 4", "مساحة مربع ضلعه 4 تساوي 16.", "16"),
        ("ar", "ما الغاز الذي تمتصه النباتات؟", "تمتص النباتات ثاني أكسيد الكربون من الهواء.", "الكربون"),
        ("ko", "한 변이 4인 정사각형의 넓이를 구하세요", "한 변이 4인 정사각형의 넓이는 16이다.", "16"),
        ("zh", "求边长为4的正方形的面积", "边长为4的正方形的面积是十六。", "十六"),
        ("en", "Factorise x² − 5x + 6.", "It factorises as x² − 5x + 6 = (x − 2)(x − 3).", "− 3"),
        ("en", "Solve 2x + 3 = 7.", "The equation has the solution x = 2.", "x = 2"),
    ],
)
def test_a_hint_never_states_the_result(language: str, question: str, text: str, result: str) -> None:
    reply = answer_hint(AnswerHint(question=question, contexts=evidence(text), language=language))
    said = " ".join((reply.summary, *reply.details))
    assert result not in said
    assert reply.citations == ("s1",)


@pytest.mark.parametrize(
    ("asked", "text", "rule"),
    [
        (
            "Calculate the area of a rectangle of 4 by 6.",
            "The area of a rectangle is its length times its width. So 4 by 6 gives 24.",
            "length times its width",
        ),
        ("Solve 2x² + 3x − 5 = 0.", "The solutions are given by x = (−b ± √(b² − 4ac)) / 2a.", "√(b² − 4ac)) / 2a"),
    ],
)
def test_hint_gives_the_rule_without_the_result(asked: str, text: str, rule: str) -> None:
    (given,) = evidence(text)
    given = msgspec.structs.replace(given, title="Notes", section="Course › Rules")
    reply = answer_hint(AnswerHint(question=asked, contexts=(given,), language="en"))
    assert f"{rule} [1]" in reply.summary
    assert "24" not in reply.summary
    assert (reply.details[0], len(reply.details)) == ("Look there for **Rules**.", 2)


def test_hint_names_where_to_read() -> None:
    (given,) = evidence("Oxygen is released when plants make sugar.")
    given = msgspec.structs.replace(given, title="Notes", section="Course › Photosynthesis")
    asked = "Which gas is released by plants? (a) oxygen (b) nitrogen"
    reply = answer_hint(AnswerHint(question=asked, contexts=(given,), language="en"))
    assert (reply.summary, reply.details[0]) == ("Read **Notes** again [1].", "Look there for **Photosynthesis**.")


CLINIC = (
    "本药适用于4岁到16岁的儿童。每晚睡前滴一次。青光眼患者禁止使用。",
    "角膜塑形镜适用于8岁以上的人。每晚应佩戴8至10小时。感冒时必须停戴。",
)


def consulted(*leads: str) -> tuple[Evidence, ...]:
    given = evidence(*CLINIC)
    titled = zip(given, ("阿托品规范", "塑形镜须知"), leads, strict=True)
    assert len({each.source_id for each in given}) == len(given)
    return tuple(msgspec.structs.replace(each, title=t, section=f"{t} › 适用", lead=lead) for each, t, lead in titled)


def test_consultation_is_brief_and_names_its_sources() -> None:
    given = consulted("每晚睡前滴一次。", "每晚应佩戴8至10小时。")
    asked = "阿托品和角膜塑形镜什么时候用？"
    text = answer_simple(
        AnswerSimple(original_query=asked, retrieved_chunks=given, language="zh", safety_advice="请就医。")
    )
    said, source, advice = text.split("\n\n")
    assert len(split(said)) == 4
    assert "每晚睡前滴一次[1]。" in said
    assert "每晚应佩戴8至10小时[2]。" in said
    assert (source, advice) == ("来源：《阿托品规范》、《塑形镜须知》", "请就医。")


def test_report_of_a_comparison_speaks_of_both() -> None:
    given = consulted("本药适用于4岁到16岁的儿童。", "角膜塑形镜适用于8岁以上的人。")
    text = answer_report(
        AnswerReport(
            original_query="阿托品和角膜塑形镜有什么区别？",
            sub_query_analyses=(),
            evidence=given,
            language="zh",
            safety_advice="请就医。",
        )
    )
    summary, _, arguments = text.partition("## 结论")
    assert "4岁到16岁" in summary
    assert "8岁以上" in summary
    assert arguments.count("**适用**") in (3, 4, 5)
    assert arguments.count("来源：《阿托品规范》") >= 1
