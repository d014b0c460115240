"""Words as they are compared: forms of one word meet, different words do not; kinds of questions in five languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.choosing.forms import holds, kind_of
from index.languages.folding import fold
from index.languages.words import grams, terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("opened", "opening"),
        ("libraries", "library"),
        ("Refunds", "refund"),
        ("planned", "planning"),
        ("étudiants", "etudiant"),
        ("remboursements", "remboursement"),
        ("도서관은", "도서관에서"),
        ("환불이", "환불을"),
        ("المكتبة", "مكتبة"),
        ("والكتب", "الكتب"),
        ("１９６４", "1964"),
        ("1,964", "1964"),
    ],
)
def test_forms_of_a_word_are_one_term(one: str, other: str) -> None:
    assert terms(one) == terms(other) != []


@pytest.mark.parametrize(
    ("one", "other"), [("opened", "closed"), ("도서관", "박물관"), ("مكتبة", "متحف"), ("1964", "1965")]
)
def test_different_words_stay_different(one: str, other: str) -> None:
    assert terms(one) != terms(other)


@pytest.mark.parametrize(
    "text", ["what is the", "qu'est-ce que c'est", "그것은 무엇인가요", "是什么", "ما هو", "", "…!?"]
)
def test_function_words_are_no_terms(text: str) -> None:
    assert terms(text) == []


def test_chinese_is_compared_by_pairs() -> None:
    assert terms("图书馆") == ["图书", "书馆"]


@given(st.text(max_size=80))
def test_any_text_is_read(text: str) -> None:
    assert all(terms(text))
    assert all(grams(text))
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who founded the school?", "person"),
        ("When does it start?", "time"),
        ("In what year was it built?", "time"),
        ("How many people came?", "count"),
        ("Where is the office?", "place"),
        ("Why did they leave?", "reason"),
        ("How does the pump work?", "manner"),
        ("What is myopia?", "definition"),
        ("Name the parts of a flower.", "other"),
        ("누가 학교를 세웠습니까?", "person"),
        ("언제 시작하나요?", "time"),
        ("몇 명이 왔나요?", "count"),
        ("며칠 안에 환불되나요?", "count"),
        ("사무실은 어디에 있나요?", "place"),
        ("왜 떠났습니까?", "reason"),
        ("谁创办了学校？", "person"),
        ("什么时候开始？", "time"),
        ("来了多少人？", "count"),
        ("办公室在哪里？", "place"),
        ("他们为什么离开？", "reason"),
        ("Qui a fondé l'école ?", "person"),
        ("Quand commence le cours ?", "time"),
        ("Combien de personnes sont venues ?", "count"),
        ("Où se trouve le bureau ?", "place"),
        ("Pourquoi sont-ils partis ?", "reason"),
        ("من أسس المدرسة؟", "person"),
        ("متى تبدأ الدروس؟", "time"),
        ("كم شخصا حضر؟", "count"),
        ("أين يقع المكتب؟", "place"),
        ("لماذا غادروا؟", "reason"),
    ],
)
def test_the_kind_of_thing_asked_for(question: str, kind: str) -> None:
    assert kind_of(question) == kind


@pytest.mark.parametrize(
    ("kind", "sentence", "question", "held"),
    [
        ("count", "Eight people came.", "How many people came?", True),
        ("count", "Many people came.", "How many people came?", False),
        ("count", "In 1964 people came.", "How many people came in 1964?", False),
        ("count", "사람이 세 명 왔다.", "몇 명이 왔나요?", True),
        ("count", "来了两个人。", "来了多少人？", True),
        ("count", "حضر ثلاثة أشخاص.", "كم شخصا حضر؟", True),
        ("time", "It was opened in May.", "When was it opened?", True),
        ("time", "It was opened by the mayor.", "When was it opened?", False),
        ("person", "The school was founded by Ellen Brandt.", "Who founded the school?", True),
        ("person", "The school was founded by sailors.", "Who founded the school?", False),
        ("reason", "They left because it rained.", "Why did they leave?", True),
        ("reason", "They left.", "Why did they leave?", False),
    ],
)
def test_new_content_of_a_kind_is_detected(kind: str, sentence: str, question: str, held: bool) -> None:
    assert holds(kind, sentence, question) is held  # type: ignore[arg-type]
