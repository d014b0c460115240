"""Passages given with a question: the unit that answers is chosen, and nothing for a question that they do not answer."""

import pytest
from groundwire.wire import Context, ContextMetadata

from actors.choosing.choose import Choice, choose, statistics
from actors.choosing.units import units_of
from actors.choosing.weights import SHOWN_FROM
from actors.evidence.lanes import given
from actors.question.resolved import resolved
from bus.wire.messages import QuestionAsked
from runtime.engines.extractive.ranking import lack, rank, says_nothing
from tests.runtime.engines.extractive.cases import ANSWERED, PASSAGES, SUBJECT_NAMED, UNANSWERED, chunks, evidence


def _choice(question: str, *texts: str) -> Choice | None:
    contexts = tuple(Context(content=text, metadata=ContextMetadata(source_id=f"s{n}")) for n, text in enumerate(texts))
    asked, passages = resolved(QuestionAsked(question=question, contexts=contexts)), given(contexts)
    return choose(asked, passages, statistics((question,), units_of(passages)))


def _shown(question: str, *texts: str) -> str:
    """What is shown as the answer; empty when that is not probable enough."""
    choice = _choice(question, *texts)
    if choice is None or choice.probability < SHOWN_FROM["strict"]:
        return ""
    return " ".join(each.unit.text for each in choice.shown)


@pytest.mark.parametrize(("language", "question", "words"), ANSWERED)
def test_answering_sentence_is_shown(language: str, question: str, words: str) -> None:
    assert words in _shown(question, *PASSAGES[language])


@pytest.mark.parametrize(("language", "question", "words"), SUBJECT_NAMED)
def test_answering_sentence_is_ranked_first(language: str, question: str, words: str) -> None:
    assert words in rank(question, language, chunks(language))[0].text


@pytest.mark.parametrize(("language", "question"), UNANSWERED)
def test_unrelated_question_has_no_answer(language: str, question: str) -> None:
    assert not _shown(question, *PASSAGES[language])
    assert not _shown(question, PASSAGES[language][0])


@pytest.mark.parametrize(
    ("question", "passage", "lacking"),
    [
        ("How many books may readers borrow?", "Readers may borrow books. Cards are free of charge.", "kind"),
        ("How many books may readers borrow?", "Readers may borrow nine books. Cards are free of charge.", ""),
        ("회원은 책을 몇 권까지 빌릴 수 있나요?", "회원은 책을 빌릴 수 있다. 회원증은 무료이다.", "kind"),
        ("What colour is the moon?", "Readers may borrow nine books.", "subject"),
    ],
)
def test_missing_aspect_is_named(question: str, passage: str, lacking: str) -> None:
    assert lack(rank(question, "en", evidence(passage)), question) == lacking


def test_a_question_turned_into_its_negation_is_less_probable() -> None:
    text = "Small dogs are allowed in the park. A fair is held there. The bridge was first opened for carts."
    asked = _choice("Which dogs are allowed in the park?", text)
    turned = _choice("Which dogs are not allowed in the park?", text)
    assert asked is not None
    assert turned is not None
    assert turned.probability < asked.probability


def test_scores_of_the_caller_only_order_the_passages() -> None:
    asked = resolved(QuestionAsked(question="Who opened the Harbour Library?"))
    chances = set()
    for score in (0.01, 17.0):
        contexts = (Context(content=PASSAGES["en"][0], metadata=ContextMetadata(source_id="s"), score=score),)
        passages = given(contexts)
        with_contexts = resolved(QuestionAsked(question=asked.text, contexts=contexts))
        choice = choose(with_contexts, passages, statistics((asked.text,), units_of(passages)))
        chances.add(choice and choice.probability)
    assert len(chances) == 1


@pytest.mark.parametrize("passages", [(), ("",), ("   \n ",), ("……", "!!!")])
def test_no_text_is_no_choice(passages: tuple[str, ...]) -> None:
    assert not _shown("Who?", *passages)


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
    best = rank("How much does the merit scholarship pay?", "en", evidence(text))
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
def test_question_near_the_subject_has_no_answer(language: str, question: str) -> None:
    assert not _shown(question, *PASSAGES[language])
