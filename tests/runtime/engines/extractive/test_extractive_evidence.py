"""Evidence: the sentence that answers, verbatim, and nothing at all for a question that the passages do not answer."""

import pytest

from prompts.contracts import Chunk, SelectEvidence
from runtime.engines.extractive.answerable import lack, odds
from runtime.engines.extractive.doubts import doubt
from runtime.engines.extractive.judging import select_evidence
from runtime.engines.extractive.ranking import rank, says_nothing
from tests.runtime.engines.extractive.cases import ANSWERED, PASSAGES, UNANSWERED, chunks


def _names_its_subject(row: tuple[str, str, str]) -> bool:
    """Whether the answering sentence names its subject, and not only "it"."""
    return row[2] not in {"Quay Street", "Mondays", "월요일", "شارع البحر"}


@pytest.mark.parametrize(("language", "question", "words"), ANSWERED)
def test_answering_sentence_is_among_the_spans(language: str, question: str, words: str) -> None:
    passages = chunks(language)
    spans = select_evidence(SelectEvidence(original_query=question, retrieved_chunks=passages, language=language)).spans
    assert any(words in span.text for span in spans)
    assert all(span.text in passages[span.passage - 1].content for span in spans)


@pytest.mark.parametrize(("language", "question", "words"), [row for row in ANSWERED if _names_its_subject(row)])
def test_the_best_sentence_holds_the_answer(language: str, question: str, words: str) -> None:
    assert words in rank(question, PASSAGES[language]).ranked[0].text


@pytest.mark.parametrize(("language", "question"), UNANSWERED)
def test_unrelated_question_has_no_evidence(language: str, question: str) -> None:
    reply = select_evidence(
        SelectEvidence(original_query=question, retrieved_chunks=chunks(language), language=language)
    )
    assert reply.spans == ()


@pytest.mark.parametrize(
    ("question", "passage", "lacking"),
    [
        ("How many books may readers borrow?", "Readers may borrow books. Cards are free of charge.", "kind"),
        ("How many books may readers borrow?", "Readers may borrow nine books. Cards are free of charge.", ""),
        ("회원은 책을 몇 권까지 빌릴 수 있나요?", "회원은 책을 빌릴 수 있다. 회원증은 무료이다.", "kind"),
        ("What colour is the moon?", "Readers may borrow nine books.", "subject"),
        ("체육관 회원 탈의실 사물함 열쇠 분실 신고 방법", "신고 서류는 창구에 낸다. 식당은 12시에 연다.", "subject"),
    ],
)
def test_missing_aspect_is_named(question: str, passage: str, lacking: str) -> None:
    assert lack(rank(question, (passage,))) == lacking


@pytest.mark.parametrize(
    ("asked", "turned"),
    [
        ("Which dogs are allowed in the park?", "Which dogs are not allowed in the park?"),
        ("When was the bridge first opened?", "When was the bridge last closed?"),
        ("What did Mayor Brandt open in 1964?", "What did Mayor Brandt open in 1971?"),
        ("What did Ellen Brandt open in Norwick?", "What did Peter Olsen open in Norwick?"),
    ],
)
def test_a_turned_question_is_doubted_more(asked: str, turned: str) -> None:
    passage = (
        "Ellen Brandt, the mayor of Norwick, opened the bridge in 1964. The bridge was first opened for carts. "
        "Small dogs are allowed in the park beside it. A fair is held there."
    )
    assert odds(doubt(rank(turned, (passage,)))) > odds(doubt(rank(asked, (passage,))))


def test_both_parts_of_a_question_get_evidence() -> None:
    spans = select_evidence(
        SelectEvidence(
            original_query="Who opened the Harbour Library, and on which day is the museum shop closed?",
            retrieved_chunks=chunks("en"),
            language="en",
        )
    ).spans
    text = " ".join(span.text for span in spans)
    assert "Ellen Brandt" in text
    assert "Mondays" in text


def test_neighbouring_sentences_are_one_span() -> None:
    text = "The tower is 40 metres high. The tower was built in 1901. Its bell is small."
    spans = select_evidence(
        SelectEvidence(
            original_query="How high is the tower that was built in 1901?",
            retrieved_chunks=(Chunk(source_file="a", score=1.0, content=text), *chunks("en")),
            language="en",
        )
    ).spans
    assert [span.text for span in spans] == ["The tower is 40 metres high. The tower was built in 1901."]


@pytest.mark.parametrize("passages", [(), ("",), ("   \n ",), ("……", "!!!")])
def test_no_text_is_no_evidence(passages: tuple[str, ...]) -> None:
    given = tuple(Chunk(source_file="a", score=1.0, content=text) for text in passages)
    assert select_evidence(SelectEvidence(original_query="Who?", retrieved_chunks=given, language="en")).spans == ()


@pytest.mark.parametrize(
    ("sentence", "nothing"),
    [
        ("## Opening hours", True),
        ("Merit scholarship", True),
        ("제5조 (상담원의 의무)", True),
        ("第16条 不良反应", True),
        ("المادة 3: قاعة الامتحان", True),
        ("When does it open?", True),
        ("多少度算高度近视？", True),
        ("It opens at nine.", False),
        ("Length | 40 pages", False),
        ("Opening hours: 9 to 18", False),
        ("안전모 24개월", False),
        ("The warden, who has held the office for many years, opens it", False),
    ],
)
def test_headings_and_questions_say_nothing(sentence: str, nothing: bool) -> None:
    assert says_nothing(sentence) is nothing


def test_a_heading_is_no_answer() -> None:
    text = "Merit scholarship\nThe office is closed. It pays 2,500 euros a year to the best of each class."
    best = rank("How much does the merit scholarship pay?", (text,)).best()
    assert best[0].text.startswith("It pays 2,500 euros")


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "What time does the swimming pool open on Sundays?"),
        ("ko", "수영장 입장권은 어디에서 살 수 있습니까?"),
        ("zh", "游泳池星期日几点开门？"),
        ("fr", "À quelle heure ouvre la piscine municipale de Rennes ?"),
        ("ar", "متى يفتح المسبح البلدي أبوابه للأطفال؟"),
    ],
)
def test_unanswerable_question_near_the_subject_is_refused(language: str, question: str) -> None:
    reply = select_evidence(
        SelectEvidence(original_query=question, retrieved_chunks=chunks(language), language=language)
    )
    assert reply.spans == ()
