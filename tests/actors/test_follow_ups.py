"""A question is read alone and with the words of its conversation: the chosen reading, and its certainty."""

import msgspec
import pytest

from actors.choosing.choose import Choice, choose
from actors.choosing.follow_ups import as_asked, choose_follow_up, points_back
from actors.question.resolved import resolved
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Collection, Question
from tests.actors.blocks import passages

LIBRARY = "The library is open from eight to nine on weekdays."
LAUNDRY = "A wash in the laundry costs two euros."
POOL = "The opening hours of the pool are on its door."


def asked(text: str, topic: str = "") -> Question:
    return msgspec.structs.replace(resolved(QuestionAsked(question=text, language="en")), topic=topic)


def readings(text: str, topic: str, *paragraphs: str) -> tuple[Choice, Choice, Choice]:
    """The choice, and those by itself and within the conversation."""
    found = passages(*(("prose", each) for each in paragraphs))
    every = (
        choose_follow_up(asked(text, topic), found, Collection()),
        choose(asked(text), found, Collection()),
        choose(asked(text, topic), found, Collection()),
    )
    chosen, alone, within = every
    assert chosen is not None
    assert alone is not None
    assert within is not None
    return chosen, alone, within


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Who is the rector?", "library open weekdays"),
        ("What does a wash in the laundry cost?", "library open weekdays"),
    ],
)
def test_conversation_words_never_replace_question_words(text: str, topic: str) -> None:
    chosen, alone, _ = readings(text, topic, LIBRARY, LAUNDRY)
    assert chosen.shown[0].unit == alone.shown[0].unit
    assert set(chosen.leads) <= set(alone.leads)


def test_back_reference_is_read_within_the_conversation() -> None:
    chosen, alone, within = readings("And how long on Fridays?", "library open weekdays", LAUNDRY, LIBRARY)
    assert within.probability > alone.probability
    assert chosen == within


def test_missing_part_lowers_the_probability() -> None:
    chosen, alone, within = readings("Is the library heated?", "open weekdays eight", LAUNDRY, POOL, LIBRARY)
    assert alone.probability < chosen.probability < within.probability


@pytest.mark.parametrize(
    ("language", "text", "points"),
    [
        ("en", "And for children?", True),
        ("en", "Is it heated?", True),
        ("en", "When are tuition fees due?", False),
        ("fr", "Est-elle obligatoire ?", True),
        ("fr", "Quand les rend-il ?", True),
        ("fr", "Combien d'étudiants peut-il accueillir ?", True),
        ("fr", "Y a-t-il un parking ?", False),
        ("fr", "Les chiens sont-ils admis ?", False),
        ("fr", "L'examen est-il long ?", False),
        ("fr", "Air France rembourse-t-elle des billets ?", False),
        ("ko", "안전화는요?", True),
        ("ko", "안전화는 언제 교체하나요?", False),
    ],
)
def test_pronoun_or_beginning_refers_back(language: str, text: str, points: bool) -> None:
    question = msgspec.structs.replace(asked(text), language=language)
    assert points_back(question) is points


def test_parts_keep_the_words_that_ask_for_them() -> None:
    text = "How do I open the valve, what do I do before the start and what does it cost?"
    assert list(as_asked(text, ("open the valve", "do before the start", "cost of the start"))) == [
        "How do I open the valve",
        "what do I do before the start",
        "cost of the start",
    ]
