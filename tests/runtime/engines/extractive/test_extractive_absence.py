"""Near misses over the demo documents, through a real index: refused, while the question next to them is answered."""

import pytest

from index.search.searcher import Searcher
from runtime.commands.demo import DemoQuestion, questions
from runtime.measure.answers import Answered, EvalQuestion, answer, retrieved

#: language, an unanswerable question, an answerable one, words of that answer
NEAR = [
    (
        "en",
        "When does the cafeteria close on Fridays?",
        "How often must a student meet the personal tutor?",
        "twice a semester",
    ),
    ("ko", "매장 영업시간은 몇 시까지인가요?", "얼마 이상 주문하면 배송비가 무료인가요?", "50,000원 이상"),
    ("zh", "近视手术后多久可以开车？", "阿托品药瓶开封后可以使用多少天？", "28天"),
    ("fr", "À quelle heure ferme la piscine ?", "Combien de semaines dure le stage de fin d'études ?", "10 semaines"),
    ("ar", "ما اسم مدير المعهد؟", "ما هي درجة النجاح في كل مادة؟", "50 من 100"),
]


def asked(searcher: Searcher, language: str, text: str) -> Answered:
    question = EvalQuestion(id=text, question=text, language=language)
    passages, collection = retrieved(searcher, question)
    return answer(question, passages, "simple", collection)


@pytest.mark.parametrize(("language", "near", "neighbour", "words"), NEAR)
def test_near_miss_is_refused_and_neighbour_answered(
    searcher: Searcher, language: str, near: str, neighbour: str, words: str
) -> None:
    assert asked(searcher, language, near).refused
    told = asked(searcher, language, neighbour)
    assert any(words in span.text for span in told.cited)


@pytest.mark.parametrize("question", [q for q in questions() if q.kind != "unanswerable"], ids=lambda q: q.id)
def test_every_demo_question_is_answered(searcher: Searcher, question: DemoQuestion) -> None:
    assert not asked(searcher, question.language, question.text).refused


def test_left_out_sources_are_not_retrieved(searcher: Searcher) -> None:
    whole = EvalQuestion(id="1", question="How much does the merit scholarship pay?", language="en")
    first = retrieved(searcher, whole)[0][0].source_id
    without = EvalQuestion(id="1", question=whole.question, language="en", source_ids=(first,))
    left, _ = retrieved(searcher, without, leave_out=True)
    assert left
    assert first not in {passage.source_id for passage in left}
