"""The replacing document, or the later one of the same name, is in force."""

import msgspec
import pytest

from actors.evidence.conflicts import conflicts_in
from actors.evidence.standing import out_of_date
from bus.wire.messages import About, Span
from index.languages.detection import detect


def document(source_id: str, title: str, text: str = "The hall is open.", **about: str) -> Span:
    return Span(
        n=1, source_id=source_id, title=title, url="", text=text, source_start=0, source_end=len(text), score=1.0,
        language=detect(text), about=About(**about),  # type: ignore[arg-type]  # all that is given here are strings
    )  # fmt: skip


def standing(*documents: Span, asked: str = "") -> dict[str, str]:
    numbered = [msgspec.structs.replace(one, n=n) for n, one in enumerate(documents, 1)]
    back = out_of_date(numbered[::-1], asked)
    assert out_of_date(numbered, asked) == back
    return back


#: The title of the new one and its sentence, the title of the old one.
SAYS_SO = [
    ("Rules of the Library", "These rules replace the Reading Room Guide of 2019.", "Reading Room Guide 2019"),
    ("Rules of the Library", "The Reading Room Guide is repealed.", "Reading Room Guide"),
    ("Règlement intérieur", "Le présent règlement remplace le Guide du lecteur de 2019.", "Guide du lecteur 2019"),
    ("Règlement intérieur", "Le Guide du lecteur est abrogé.", "Guide du lecteur"),
    ("Normas de la biblioteca", "Esta norma deroga la Guía del lector de 2019.", "Guía del lector 2019"),
    ("Normas de la biblioteca", "La Guía del lector queda sin efecto.", "Guía del lector"),
    ("도서관 이용 규정", "이 규정은 2019년 열람실 이용 안내를 대체합니다.", "열람실 이용 안내 (2019년)"),
    ("도서관 이용 규정", "열람실 이용 안내는 폐지되었습니다.", "열람실 이용 안내"),
    ("图书馆借阅规定", "本规定取代2019年的图书馆借阅须知。", "图书馆借阅须知（2019年版）"),
    ("图书馆借阅规定", "《阅览室使用须知》同时废止。", "阅览室使用须知"),
    ("لائحة المكتبة", "تلغي هذه اللائحة ما يخالفها في دليل القارئ لعام 2019.", "دليل القارئ لعام ٢٠١٩"),
    ("لائحة المكتبة", "تحل هذه اللائحة محل دليل القارئ. ألغي دليل القارئ.", "دليل القارئ"),
]


@pytest.mark.parametrize(("title", "sentence", "old"), SAYS_SO)
def test_document_names_the_one_it_replaces(title: str, sentence: str, old: str) -> None:
    assert standing(document("new.md", title, sentence), document("old.md", old)) == {"old.md": "new.md"}
    assert standing(document("new.md", title), document("old.md", old)) == {}
    assert standing(document("new.md", title, sentence), document("old.md", "Kitchen plan of the house")) == {}


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("This guide has been superseded by the rules of the campus.", "Guide"),
        ("Ce règlement a été abrogé par le conseil.", "Règlement"),
        ("Esta guía ha sido derogada por la junta.", "Guía"),
        ("이 안내는 2024년에 폐지되었습니다.", "안내"),
        ("本须知已被新规定取代。", "须知"),
        ("هذا الدليل لم يعد ساريا منذ العام الماضي.", "دليل"),
        ("The hall is open.", "Rules of the hall (repealed)"),
    ],
)
def test_document_declares_itself_out_of_date(text: str, title: str) -> None:
    assert standing(document("old.md", title, text)) == {"old.md": ""}


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        (document("a.md", "Fees", replaces="b.md"), document("b.md", "Costs")),
        (document("a.md", "Fees", replaces="Costs"), document("b.md", "Costs")),
        (document("a.md", "Annual strategy 2024"), document("b.md", "Annual strategy 2023")),
        (document("laws/labour(2022-10-30).md", "Labour"), document("laws/labour(2018-10-26).md", "Labour")),
        (document("refunds/policy.md", "Refunds"), document("refunds/policy-2022.md", "Returns (2022 edition)")),
        (document("spec-v2.md", "Remote write 2.0"), document("spec-v1.md", "Remote write 1.1")),
        (document("x/fees.md", "Table of fees", version="3"), document("y/fees.md", "Table of fees", version="2")),
        (
            document("x/fees.md", "Table of fees", date="2025-03-01"),
            document("y/fees.md", "Table of fees", date="2024-03-01"),
        ),
        (
            document("a.md", "Rules", "The notice KX-014 is repealed."),
            document("b.md", "Notice to tenants", "Number KX-014, for all tenants."),
        ),
    ],
)
def test_the_later_one_is_in_force(newer: Span, older: Span) -> None:
    assert standing(newer, older) == {older.source_id: newer.source_id}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (document("a/readme.md", "Overview", date="2025-03-01"), document("a/guide.md", "Overview", date="2024-03-01")),
        (document("a.md", "Strategy 2024"), document("b.md", "Budget 2023")),
        (document("a.md", "Fees"), document("b.md", "Fees")),
        (document("a.md", "The uv tool", "The uv tool replaces pip in most projects."), document("b.md", "pip")),
    ],
)
def test_independent_documents_are_both_in_force(one: Span, other: Span) -> None:
    assert standing(one, other) == {}


def test_newest_of_a_series_is_in_force() -> None:
    of_years = [document(f"strategy-{year}.pdf", f"Strategy {year}") for year in (2021, 2022, 2023, 2024)]
    assert set(standing(*of_years).values()) == {"strategy-2024.pdf"}


def test_requested_year_stays() -> None:
    two = document("strategy-2024.pdf", "Strategy 2024"), document("strategy-2023.pdf", "Strategy 2023")
    assert standing(*two, asked="what was the strategy in 2023?") == {}
    assert standing(*two, asked="what is the strategy?") == {"strategy-2023.pdf": "strategy-2024.pdf"}


def test_conflict_names_the_out_of_date_side() -> None:
    sides = (
        document("rules-2022.md", "Rules 2022", "The library lends each reader 8 books at a time."),
        document("rules-2025.md", "Rules 2025", "The library lends each reader 5 books at a time."),
    )
    evidence = tuple(msgspec.structs.replace(one, n=n) for n, one in enumerate(sides, 1))
    (found,) = conflicts_in(evidence, out_of_date(evidence))
    assert (found.first, found.second, found.outdated_n) == ("8 books", "5 books", 1)
    (open_,) = conflicts_in(evidence)
    assert open_.outdated_n == 0
