"""Second questions over the demo documents, through a real index: one about something else takes nothing of the first."""

import msgspec
import pytest

from actors.choosing.choose import Choice
from actors.choosing.follow_ups import choose_parts
from actors.choosing.weights import shows
from actors.question.resolved import resolved
from bus.wire.messages import QuestionAsked
from index.search.searcher import Searcher
from prompts.contracts import RewriteQuery, Turn
from runtime.engines.extractive.rewriting import rewrite_query
from runtime.processes.served import collection_of, passage_of

#: language, first question, words of its answer, a question about something else, words of the answer to that
SWITCHES = [
    (
        "en",
        "How long does the mathematics exam last?",
        "150 min",
        "How late may coursework be handed in?",
        "10 days late",
    ),
    ("fr", "Combien de semaines dure le stage ?", "10 semaines", "Quand commence le rattrapage ?", "22 juin 2026"),
    ("es", "¿Cuándo se devuelve la fianza?", "La fianza es", "¿Cuánto cuesta un lavado?", "lavado cuesta 2,50"),
    ("ar", "هل الآلة الحاسبة مسموحة؟", "الآلة الحاسبة", "متى تُعلن النتائج؟", "14 يومًا"),
    ("ko", "제주도 추가 배송비는 얼마인가요?", "4,000원", "비상구 폭은 얼마여야 하나요?", "1.2m 이상"),
    ("zh", "座位多久调换一次？", "每两周", "看电视的距离是多少？", "对角线的4倍"),
]
#: language, first question, its answer, a question that no document answers
UNANSWERED = [
    ("en", "What must everyone wear in the laboratory?", "Safety goggles.", "When does the swimming pool open?"),
    ("fr", "Quelle est la longueur du mémoire ?", "40 à 60 pages.", "Les chiens sont-ils admis ?"),
    ("es", "¿Cuándo se devuelve la fianza?", "En 30 días.", "¿Hay aparcamiento?"),
    ("ar", "كم ساعة ينام الطالب ليلة الامتحان؟", "8 ساعات.", "هل يوجد موقف سيارات؟"),
    ("ko", "제주도 추가 배송비는 얼마인가요?", "4,000원입니다.", "사장은 누구인가요?"),
    ("zh", "急诊电话是多少？", "0900-5566。", "停车费多少钱？"),
]
#: language, first question, its answer, a question that is about the same without saying so, words of the answer to that
FOLLOW_UPS = [
    (
        "en",
        "What is the longest leave for health?",
        "4 semesters.",
        "Which document is needed?",
        "Doctor's certificate",
    ),
    ("fr", "Quand a lieu l'examen d'analyse I ?", "Le 14 janvier 2026.", "Dans quelle salle ?", "Lavoisier"),
    ("es", "¿Cómo se reservan las salas de grupo?", "En la web.", "¿Por cuántas horas?", "3 horas"),
    ("ar", "كم رسم السكن الجامعي؟", "٤٥٠ درهمًا في الشهر.", "والتأمين؟", "٩٠٠ درهم"),
    ("ko", "제주도 배송은 며칠 걸리나요?", "3일 ~ 4일입니다.", "추가 배송비는 얼마예요?", "제주도"),
    ("zh", "低浓度阿托品的起始浓度是多少？", "0.01%。", "忘记滴了怎么办？", "照常滴一滴"),
]


def chosen(searcher: Searcher, language: str, text: str, *before: str) -> tuple[Choice, list[str]]:
    """The units chosen for a question after a question and its answer, with their text."""
    question = resolved(QuestionAsked(question=text, language=language))
    if before:
        history = tuple(Turn(role=role, content=said) for role, said in zip(("user", "assistant"), before, strict=True))
        reply = rewrite_query(RewriteQuery(current_query=text, conversation_history=history, language=language))
        question = msgspec.structs.replace(question, text=reply.rewritten_query, topic=reply.topic)
    words = f"{question.text} {question.topic}".strip()
    hits = searcher.search(question.text, topic=question.topic, language=language, k=10, bm25_k=5, vector_k=5)
    collection = collection_of(searcher, words, language)
    choice = choose_parts(question, (), tuple(map(passage_of, hits)), collection)
    assert choice is not None
    return choice, [each.unit.text for each in choice.shown]


@pytest.mark.parametrize(("language", "first", "said", "second", "wanted"), SWITCHES, ids=[row[0] for row in SWITCHES])
def test_new_subject_ignores_the_previous_answer(
    searcher: Searcher, language: str, first: str, said: str, second: str, wanted: str
) -> None:
    _, before = chosen(searcher, language, first)
    told = next(text for text in before if said in text)
    choice, shown = chosen(searcher, language, second, first, told)
    assert shows(choice.probability, "strict")
    assert wanted in shown[0]
    assert told not in shown


@pytest.mark.parametrize(("language", "first", "said", "second"), UNANSWERED, ids=[row[0] for row in UNANSWERED])
def test_unanswerable_follow_up_does_not_repeat_the_answer(
    searcher: Searcher, language: str, first: str, said: str, second: str
) -> None:
    choice, _ = chosen(searcher, language, second, first, said)
    assert not shows(choice.probability, "strict")


@pytest.mark.parametrize(
    ("language", "first", "said", "second", "wanted"), FOLLOW_UPS, ids=[row[0] for row in FOLLOW_UPS]
)
def test_follow_up_without_subject_is_answered(
    searcher: Searcher, language: str, first: str, said: str, second: str, wanted: str
) -> None:
    choice, shown = chosen(searcher, language, second, first, said)
    assert shows(choice.probability, "strict")
    assert wanted in shown[0]
