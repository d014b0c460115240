"""A comparison is recognised in six languages, and its shown units cover both sides."""

import pytest

from actors.choosing.asked import named_sides, read_question
from actors.choosing.choose import rank, to_show
from actors.choosing.weights import weights
from actors.question.resolved import resolved
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Collection
from index.languages.words import terms
from tests.actors.blocks import Piece, passages

FERRIES: tuple[Piece, ...] = (
    ("heading", "Ferries"),
    ("prose", "A ferry carries cars and people across the harbour. A ferry leaves every hour, and a ferry costs 30."),
    ("prose", "The harbour has eleven quays. On Sundays the quays are closed to all ships."),
    ("heading", "Flags"),
    ("prose", "A red flag warns of a storm."),
    ("heading", "Other ships"),
    ("prose", "A barge carries coal."),
)


@pytest.mark.parametrize(
    ("question", "one", "two"),
    [
        ("What is the difference between a ferry and a barge?", "ferry", "barge"),
        ("ferry vs barge", "ferry", "barge"),
        ("ferry or barge, which one is cheaper?", "ferry", "barge"),
        ("The ferry compared with the barge", "ferry", "barge"),
        ("quelle différence entre le bac et la péniche ?", "bac", "péniche"),
        ("bac ou péniche : lequel prendre ?", "bac", "péniche"),
        ("diferencia entre ferry y barcaza", "ferry", "barcaza"),
        ("ferry o barcaza, ¿cuál es mejor?", "ferry", "barcaza"),
        ("여객선이랑 바지선 뭐가 달라요?", "여객선", "바지선"),
        ("여객선과 바지선은 어떻게 다른가요?", "여객선", "바지선"),
        ("渡轮和驳船有什么区别？", "渡轮", "驳船"),
        ("渡轮还是驳船更好？", "渡轮", "驳船"),
        ("渡轮和驳船哪个更适合运煤？", "渡轮", "驳船"),
        ("选渡轮还是驳船？", "渡轮", "驳船"),
        ("ما الفرق بين العبارة والصندل؟", "العبارة", "الصندل"),
        ("العبارة ولا الصندل: أيهما أسرع؟", "العبارة", "الصندل"),
    ],
)
def test_two_sides_are_separated(question: str, one: str, two: str) -> None:
    asked = read_question(resolved(QuestionAsked(question=question)), Collection())
    assert len(asked.sides) == 2
    for side, name, other in zip(asked.sides, (one, two), (two, one), strict=True):
        assert set(terms(name)) & side
        assert not set(terms(other)) & side


def test_verb_of_choosing_is_no_part_of_a_side() -> None:
    assert named_sides("孩子应该选渡轮还是用驳船比较好？") == ("渡轮", "驳船")


@pytest.mark.parametrize("question", ["渡轮和驳船怎么选？", "渡轮和驳船哪个效果好？", "渡轮跟驳船该选哪个"])
def test_question_which_to_choose_compares(question: str) -> None:
    assert named_sides(question) == ("渡轮", "驳船")


def test_question_where_two_are_compares_nothing() -> None:
    assert named_sides("渡轮和驳船在哪个码头？") == ()


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("Compare the fee at Alder and at Birch", ("the fee at Alder", "the fee at Birch")),
        ("Compare the fee at Alder and Birch", ("the fee at Alder", "the fee at Birch")),
        ("compare le tarif chez Alder et chez Birch", ("le tarif chez Alder", "le tarif chez Birch")),
        ("diferencia entre la tarifa en Alder y en Birch", ("la tarifa en Alder", "la tarifa en Birch")),
        ("Alder와 Birch의 요금 차이가 뭐예요?", ("Alder의 요금", "Birch의 요금")),
        ("Alder和Birch的费用有什么区别？", ("Alder的费用", "Birch的费用")),
        ("قارن الرسوم في ألدر وفي بيرش", ("الرسوم في ألدر", "الرسوم في بيرش")),
        ("What is the difference between a loan and a grant?", ("a loan", "a grant")),
        ("Compare the bus with the train", ("the bus", "the train")),
        ("소프트 렌즈와 하드 렌즈의 차이는 무엇인가요?", ("소프트 렌즈", "하드 렌즈")),
        ("角膜塑形镜和离焦镜有什么区别？", ("角膜塑形镜", "离焦镜")),
        ("Quelle est la différence entre une bourse et un prêt ?", ("une bourse", "un prêt")),
        ("ما الفرق بين المنحة والقرض؟", ("المنحة", "القرض")),
        ("When is it paid?", ()),
    ],
)
def test_sides_are_named_each_with_the_topic(question: str, sides: tuple[str, ...]) -> None:
    assert named_sides(question) == sides


def test_each_side_speaks_of_the_topic() -> None:
    asked = read_question(resolved(QuestionAsked(question="Compare the fee at Alder and at Birch")), Collection())
    text = (
        ("prose", "Birch plants trees."),
        ("prose", "The fee at Alder is 30."),
        ("prose", "A fee of 40 is due at Birch."),
    )
    ranked = rank(asked, passages(*text), weights())
    shown = to_show(asked, sorted(ranked, key=lambda each: each.unit.order))
    assert [each.unit.text for each in shown] == [text[1][1], text[2][1]]


@pytest.mark.parametrize(
    "question",
    [
        "When does the ferry or the barge leave?",
        "Who built the harbour and the quay?",
        "부두는 언제 열어요?",
        "码头和港口在哪里？",
    ],
)
def test_what_compares_nothing_has_no_sides(question: str) -> None:
    assert read_question(resolved(QuestionAsked(question=question)), Collection()).sides == ()


def test_unlikely_second_side_is_shown() -> None:
    question = resolved(QuestionAsked(question="What is the difference between a ferry and a barge?"))
    asked = read_question(question, Collection())
    ranked = rank(asked, passages(*FERRIES), weights())
    shown = to_show(asked, ranked)
    assert {"ferry", "barge"} <= {word for each in shown for word in each.unit.text.lower().split()}


def test_side_of_its_own_comes_before_one_with_both() -> None:
    asked = read_question(
        resolved(QuestionAsked(question="What is the difference between a ferry and a barge?")), Collection()
    )
    both: Piece = ("prose", "The pilot of the ferry warns each barge.")
    ranked = rank(asked, passages(FERRIES[0], FERRIES[1], both, *FERRIES[2:]), weights())
    ferry, pilot, barge = (
        next(each for each in ranked if each.unit.text == text)
        for text in (FERRIES[1][1], both[1], "A barge carries coal.")
    )
    shown = to_show(asked, [ferry, pilot, barge])
    assert shown[:2] == [ferry, barge]
