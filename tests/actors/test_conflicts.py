"""Two values for the same thing conflict, and so do two scopes; a sentence about another thing, time or condition does not."""

import msgspec
import pytest
from groundwire.wire import Block

from actors.answering.release import notice_of
from actors.evidence.conflicts import conflicts_in
from actors.evidence.standing import each_of_its_year
from actors.evidence.statements import amounts, audience_of
from bus.wire.messages import AnswerRequested
from bus.wire.parts import Conflict, Constraints, Question, Span
from index.languages.detection import detect

CONFLICTS = [
    ("en", "value", "The library lends each reader 8 books at a time.", "The library lends each reader 5 books at a time.",
     "8 books", "5 books"),
    ("en", "date", "The spring term of the evening school begins on 3 March 2026.",
     "Remember that the spring term of the evening school begins on 10 March 2026.", "3 March 2026", "10 March 2026"),
    ("en", "value", "Visitors pay an entrance fee of $12 on Sundays.", "On Sundays visitors pay an entrance fee of $15.", "$12",
     "$15"),
    ("ko", "value", "연체료는 하루에 한 권당 500원을 도서관이 받습니다.", "도서관은 연체료로 하루에 한 권당 300원을 받습니다.",
     "500원", "300원"),
    ("ko", "value", "수영장 정기권은 구입한 날부터 90일 동안 사용할 수 있습니다.",
     "수영장 정기권은 구입한 날부터 60일 동안 사용할 수 있습니다.", "90일", "60일"),
    ("zh", "value", "水库的最高蓄水位为175米。", "水库的最高蓄水位为一百七十二米。", "175米", "一百七十二米"),
    ("fr", "value", "La piscine municipale accueille au plus 120 baigneurs.",
     "La piscine municipale accueille au plus 150 baigneurs.", "120 baigneurs", "150 baigneurs"),
    ("fr", "date", "Le marché de Noël ouvre place du théâtre le 28 novembre 2025.",
     "Le marché de Noël ouvre place du théâtre le 5 décembre 2025.", "28 novembre 2025", "5 décembre 2025"),
    ("ar", "value", "تبلغ رسوم دخول المتحف للزوار الأجانب 50 ريالا.", "تبلغ رسوم دخول المتحف للزوار الأجانب ٧٠ ريالا.",
     "50 ريالا", "٧٠ ريالا"),
]  # fmt: skip
AGREE = [
    ("numbers of pictures", "清蒸鲈鱼的成品-预览图-2", "清蒸鲈鱼的成品-预览图-3"),
    ("numbers of pictures", "清蒸鲈鱼-预览图-2", "清蒸鲈鱼-预览图-3"),
    ("numbers of models", "The printer of the office is the Laser-200.", "The printer of the office is the Laser-300."),
    ("the same value", "The hall holds 1,200 people when all seats are taken.",
     "The hall holds 1200 people when all seats are taken."),
    ("the same in other words", "회의실 예약은 최대 세 시간까지 할 수 있습니다.",
     "회의실 예약은 최대 3시간까지 할 수 있습니다."),
    ("another day", "The reading room opens at 9 o'clock on weekdays.", "The reading room opens at 10 o'clock on weekends."),
    ("another subject", "Full-time students may borrow up to 10 books for four weeks.",
     "Part-time students may borrow up to 5 books for four weeks."),
    ("another year", "In 2010 the town had a population of 52,000 people.",
     "In 2015 the town had a population of 58,000 people."),
    ("another thing", "Le musée de la mer reçoit 40 000 visiteurs par an.",
     "Le musée du train reçoit 25 000 visiteurs par an."),
    ("another unit", "The path through the forest is 12 km long.", "The path through the forest takes 3 hours."),
    ("a number that names", "Room 101 is closed for repairs until further notice today.",
     "Room 102 is closed for repairs until further notice today."),
    ("little in common", "The fee is 10 euros.", "The fine is 20 euros."),
    ("another person", "张老师每周在实验室上课6小时。", "李老师每周在实验室上课8小时。"),
]  # fmt: skip
QUESTION = Question(
    text="q", asked="q", language="en", profile="general", style=None, release="sentence", events="default",
    constraints=Constraints(), contexts=(),
)  # fmt: skip


def spans(*texts: str, titles: tuple[str, ...] = (), source: str = "") -> tuple[Span, ...]:
    return tuple(
        Span(
            n=n, source_id=source or f"doc{n}.md", title=titles[n - 1] if titles else "", url="", text=text, source_start=0,
            source_end=len(text), language=detect(text), score=1.0,
        )
        for n, text in enumerate(texts, 1)
    )  # fmt: skip


@pytest.mark.parametrize(("language", "kind", "one", "other", "first", "second"), CONFLICTS)
def test_two_values_for_the_same_thing(language: str, kind: str, one: str, other: str, first: str, second: str) -> None:
    (found,) = conflicts_in(spans(one, other))
    assert (found.kind, found.first_n, found.second_n) == (kind, 1, 2)
    assert (found.first, found.second) == (first, second)
    assert found.subject


@pytest.mark.parametrize(("why", "one", "other"), AGREE)
def test_no_conflict_over(why: str, one: str, other: str) -> None:
    assert conflicts_in(spans(one, other)) == ()


def test_value_is_read_among_sentences_and_list_signs() -> None:
    one = "# Loans\n\n1. The library lends each reader 8 books at a time.\n2. Bring your card."
    other = "Please be quiet. The library lends each reader 5 books at a time. It has a café."
    assert [(c.first, c.second) for c in conflicts_in(spans(one, other))] == [("8 books", "5 books")]


def test_one_document_conflicts_only_word_for_word() -> None:
    same = spans(
        "The spring term of the evening school begins on 3 March 2026.",
        "The spring term of the evening school begins on 10 March 2026.",
        source="a.md",
    )
    assert len(conflicts_in(same)) == 1
    like = spans(
        "The spring term of the evening school begins on 3 March 2026.",
        "Remember, the spring term of the evening school soon begins on 10 March 2026.",
        source="a.md",
    )
    assert conflicts_in(like) == ()


def test_notice_names_each_value_with_its_source() -> None:
    evidence = spans(CONFLICTS[0][2], CONFLICTS[0][3], titles=("Loans [7]", "Old rules"))
    request = AnswerRequested(
        style="simple", question=QUESTION, evidence=evidence, analyses=(), conflicts=conflicts_in(evidence), snapshot="",
        rounds=1,
    )  # fmt: skip
    assert notice_of(request) == (
        "\n\nThe sources disagree:\n- 8 books according to Loans [1]\n- 5 books according to Old rules [2]"
    )


def test_notice_names_a_value_once() -> None:
    texts = [f"The library lends each reader {count} books at a time." for count in (8, 5, 3)]
    evidence = spans(*texts, titles=("Loans", "Old rules", "Oldest rules"))
    old = {span.source_id: evidence[0].source_id for span in evidence[1:]}
    request = AnswerRequested(
        style="simple", question=QUESTION, evidence=evidence, analyses=(), conflicts=conflicts_in(evidence, old), snapshot="",
        rounds=1,
    )  # fmt: skip
    assert notice_of(request).splitlines()[3:] == [
        "- 8 books according to Loans [1]",
        "- 5 books according to Old rules [2], which is out of date",
        "- 3 books according to Oldest rules [3], which is out of date",
    ]


def test_exercise_notice_has_no_values() -> None:
    conflict = Conflict(kind="value", subject="s", first_n=1, second_n=2, first="8", second="5")
    request = AnswerRequested(
        style="hint", question=QUESTION, evidence=spans("a", "b"), analyses=(), conflicts=(conflict,), snapshot="", rounds=1,
    )  # fmt: skip
    assert notice_of(request) == ""


@pytest.mark.parametrize(
    ("titles", "second", "count"),
    [
        (("", ""), "Evening school. Spring", 1),
        (("Prices 2024", "Prices 2025"), "Evening school. Spring", 1),
        (("Invoice 118", "Invoice 14"), "Evening school. Spring", 0),
        (("Prices", "Prices, Lyon"), "Evening school. Spring", 1),
        (("", ""), "Evening school. Summer", 0),
    ],
)
def test_rows_are_compared_whole(titles: tuple[str, str], second: str, count: int) -> None:
    texts = [
        "Course: Evening school. Spring | Entrance fee: 12 euros",
        f"Course: {second} | Entrance fee: 15 euros",
    ]
    spans = tuple(
        Span(n=n, source_id=f"{n}.md", title=titles[n - 1], url="", text=text, source_start=0, source_end=len(text), language="en",
             score=1.0, blocks=(Block(start=0, end=len(text), kind="table_row"),))
        for n, text in enumerate(texts, 1)
    )  # fmt: skip
    assert [one.subject for one in conflicts_in(spans)] == ["course evening school spring entrance fee"] * count


@pytest.mark.parametrize(
    ("question", "second", "apart"),
    [
        ("What did a bag cost in 2025?", "Prices 2026", True),
        ("What does a bag cost in 2026 and in 2025?", "Prices 2026", True),
        ("What does a bag cost?", "Prices 2026", False),
        ("What did a bag cost in 2025?", "Prices 2025, copy", False),
        ("What did a bag cost in 2025?", "Prices", False),
    ],
)
def test_a_question_for_a_year_takes_each_document_for_its_own(question: str, second: str, apart: bool) -> None:
    one, other = (
        msgspec.structs.replace(span(n, "A bag", "en", f"{n}.md"), title=title)
        for n, title in enumerate(("Prices 2025", second), 1)
    )
    assert each_of_its_year(one, other, question) is apart


PAIRS = [
    ("en", "All students may borrow laptops from the library desk.",
     "Only students in their second year may borrow laptops from the library desk."),
    ("es", "Todos los estudiantes pueden pedir un ordenador portátil en la biblioteca.",
     "Solo los estudiantes becados pueden pedir un ordenador portátil en la biblioteca."),
    ("fr", "Tous les étudiants peuvent emprunter un ordinateur portable à la bibliothèque.",
     "Seuls les étudiants boursiers peuvent emprunter un ordinateur portable à la bibliothèque."),
    ("ko", "모든 회원은 매장에서 무료 교환 서비스를 받을 수 있습니다.",
     "우수회원만 매장에서 무료 교환 서비스를 받을 수 있습니다."),
    ("zh", "所有学生都可以在图书馆借用笔记本电脑。", "仅限二年级学生可以在图书馆借用笔记本电脑。"),
    ("ar", "يمكن لجميع الطلاب استعارة حاسوب محمول من مكتب المكتبة.",
     "يمكن لطلاب السنة الثانية فقط استعارة حاسوب محمول من مكتب المكتبة."),
]  # fmt: skip


def span(n: int, text: str, language: str, source_id: str) -> Span:
    return Span(
        n=n, source_id=source_id, title=source_id, url="", text=text, source_start=0, source_end=len(text),
        language=language, score=1.0,
    )  # fmt: skip


@pytest.mark.parametrize(("language", "everybody", "some"), PAIRS)
def test_everybody_and_some_alone_disagree(language: str, everybody: str, some: str) -> None:
    found = conflicts_in((span(1, everybody, language, "a"), span(2, some, language, "b")))
    assert [(c.kind, c.first_n, c.second_n) for c in found] == [("scope", 1, 2)]
    assert found[0].first in everybody
    assert found[0].second in some


@pytest.mark.parametrize(("language", "everybody", "some"), PAIRS)
def test_equal_scope_or_one_document_is_no_conflict(language: str, everybody: str, some: str) -> None:
    assert conflicts_in((span(1, everybody, language, "a"), span(2, everybody, language, "b"))) == ()
    assert conflicts_in((span(1, everybody, language, "a"), span(2, some, language, "a"))) == ()


@pytest.mark.parametrize(
    ("language", "text"), [("ko", "배송비는 3만 원입니다."), ("en", "Refunds are paid."), ("xx", "all")]
)
def test_no_scope(language: str, text: str) -> None:
    assert audience_of(text, language) is None


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("Lego el piso de calle Ollerías 12 a mi hija.", []), ("The flat at High Street 27 goes to Ruth.", []),
        ("Il habite 14, rue Sainte.", []), ("La place est limitée à 12 élèves.", ["12 élèves"]),
        ("第3条街道有12家店", ["12家"]), ("The street is 12 km long.", ["12 km"]),
        ("Employee quillop7 earns a lot.", []),
    ],
)  # fmt: skip
def test_number_of_a_house_or_in_a_name_is_no_amount(sentence: str, found: list[str]) -> None:
    assert [amount.text for amount in amounts(sentence)] == found
