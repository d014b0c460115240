"""The same sentence occurs once in an answer, with all its evidence."""

import pytest

from actors.evidence.repeated import repeats
from prompts.contracts import AnswerSimple, AnswerSynthesis, Evidence, Unit
from runtime.engines.extractive.answers import answer_simple, answer_synthesis
from runtime.engines.extractive.chosen import quote_chosen
from runtime.engines.extractive.quoted import Quoted, said_once
from runtime.engines.extractive.quoting import laid_out

MONTHLY = "The tax may be paid by direct debit in ten monthly parts."
ASK = "Ask the office for the form."


def evidence(n: int, text: str) -> Evidence:
    return Evidence(n=n, source_id=f"{n}.md", title="", text=text)


def quoted(n: int, *sentences: str, positions: tuple[int, ...] = (0,)) -> Quoted:
    text = " ".join(sentences)
    cited = " ".join(f"{sentence[:-1]} [{n}]." for sentence in sentences)
    return Quoted(evidence(n, text), text, cited, positions[0], positions)


REPEATS = [
    (MONTHLY, MONTHLY + " [2]"),
    (MONTHLY, "The tax may also be paid by direct debit in ten monthly parts."),
    ("환불은 상품을 받은 날부터 칠일 이내에 신청합니다.", "환불은 상품을 받은 날부터 칠일 이내에 신청합니다"),
    ("يُحرم الطالب من الامتحان النهائي.", "يحرم الطالب من الامتحان النهائي"),
]
SAYS_MORE = [
    (MONTHLY, "The tax may be paid by direct debit in two monthly parts."),
    (MONTHLY, "The tax may not be paid by direct debit in ten monthly parts."),
    (MONTHLY, "The tax may be paid by direct debit in ten monthly parts of 300 euros."),
    (MONTHLY, ASK),
    ("Keller defeated Morgan in the final of the cup.", "Morgan defeated Keller in the final of the cup."),
]


@pytest.mark.parametrize(("one", "other"), REPEATS)
def test_sentence_with_little_new_is_a_repetition(one: str, other: str) -> None:
    assert repeats(one, other)
    assert repeats(other, one)


@pytest.mark.parametrize(("one", "other"), SAYS_MORE)
def test_sentence_with_new_content_is_no_repetition(one: str, other: str) -> None:
    assert not repeats(one, other)


def test_three_equal_sentences_become_one_with_three_markers() -> None:
    (one,) = said_once([quoted(2, MONTHLY), quoted(3, MONTHLY), quoted(1, MONTHLY)])
    assert one.cited == f"{MONTHLY[:-1]} [1][2][3]."
    assert [e.n for e in one.cites] == [2, 3, 1]


def test_each_section_is_a_paragraph() -> None:
    found = [quoted(1, MONTHLY), quoted(1, ASK, positions=(3,)), quoted(2, "It is free.")]
    assert laid_out(found, by_section=True).split("\n\n") == [f"{found[0].cited} {found[1].cited}", found[2].cited]


def test_paragraph_loses_only_repeated_sentences() -> None:
    found = said_once([quoted(1, MONTHLY), quoted(2, MONTHLY, ASK)])
    assert (
        laid_out(found)
        == "The tax may be paid by direct debit in ten monthly parts [1]. Ask the office for the form [2]."
    )


def test_sentence_of_a_longer_part_is_not_repeated() -> None:
    found = said_once([quoted(1, ASK, positions=(3,)), quoted(1, MONTHLY, ASK, positions=(2, 3))])
    assert [one.positions for one in found] == [(2, 3)]


def test_the_answers_cite_both_documents() -> None:
    question = "how may the tax be paid by direct debit?"
    both = (evidence(1, MONTHLY), evidence(2, MONTHLY))
    simple = answer_simple(AnswerSimple(original_query=question, retrieved_chunks=both, language="en"))
    assert simple == f"{MONTHLY[:-1]} [1][2]."
    synthesis = answer_synthesis(AnswerSynthesis(query=question, evidence=both, language="en"))
    assert (synthesis.answer, synthesis.used_citations) == (simple, (1, 2))


def test_chinese_sentences_have_no_space_between() -> None:
    found = [
        quoted_as(n, text)
        for n, text in ((1, "镜片每年更换一次[1]。"), (2, "镜片有缺口时停止使用[2]。"), (3, "Wear it at night [3]."))
    ]
    assert laid_out(found) == "镜片每年更换一次[1]。镜片有缺口时停止使用[2]。Wear it at night [3]."


def test_what_only_introduces_is_left_out() -> None:
    text = "A deposit is due.\n\nIt is useful if:"
    units = (Unit(start=0, end=17, kind="prose"), Unit(start=19, end=len(text), kind="prose"))
    one = Evidence(n=1, source_id="1.md", title="", text=text, units=units, lead="A deposit is due.")
    assert [q.cited for q in quote_chosen("Is a deposit due?", (one,))] == ["A deposit is due [1]."]
    alone = Evidence(
        n=1,
        source_id="1.md",
        title="",
        text="It is useful if:",
        units=(Unit(start=0, end=16, kind="prose"),),
        lead="It",
    )
    assert [q.cited for q in quote_chosen("Is it useful?", (alone,))] == ["It is useful if [1]."]


def quoted_as(n: int, cited: str) -> Quoted:
    return Quoted(evidence(n, cited), cited, cited, 0, (0,))
