"""Two documents that say the same thing of everybody and of only some conflict in scope."""

import pytest

from actors.evidence.conflicts import conflicts_in
from actors.evidence.statements import audience_of
from bus.wire.messages import Span

PAIRS = [
    (
        "en",
        "All students may borrow laptops from the library desk.",
        "Only students in their second year may borrow laptops from the library desk.",
    ),
    (
        "es",
        "Todos los estudiantes pueden pedir un ordenador portátil en la biblioteca.",
        "Solo los estudiantes becados pueden pedir un ordenador portátil en la biblioteca.",
    ),
    (
        "fr",
        "Tous les étudiants peuvent emprunter un ordinateur portable à la bibliothèque.",
        "Seuls les étudiants boursiers peuvent emprunter un ordinateur portable à la bibliothèque.",
    ),
    (
        "ko",
        "모든 회원은 매장에서 무료 교환 서비스를 받을 수 있습니다.",
        "우수회원만 매장에서 무료 교환 서비스를 받을 수 있습니다.",
    ),
    ("zh", "所有学生都可以在图书馆借用笔记本电脑。", "仅限二年级学生可以在图书馆借用笔记本电脑。"),
    (
        "ar",
        "يمكن لجميع الطلاب استعارة حاسوب محمول من مكتب المكتبة.",
        "يمكن لطلاب السنة الثانية فقط استعارة حاسوب محمول من مكتب المكتبة.",
    ),
]


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
