"""Near copies that differ in one name, term, duty or negation conflict; a replacing or later document is in force."""

import tomllib
from pathlib import Path

import msgspec
import pytest
from groundwire.wire import About, Block

from actors.answering.release import claims_of
from actors.answering.sentence_check import flags_of
from actors.evidence.conflicts import conflicts_in, opposing
from actors.evidence.prompt_evidence import evidence_of
from actors.evidence.spans import numbered
from actors.evidence.standing import out_of_date
from bus.wire.messages import AnswerRequested
from bus.wire.parts import Conflict, Passage, Span
from index.languages.detection import detect
from tests.message_samples import question

DEMO = Path(__file__).parents[2] / "runtime" / "demo"

CONFLICTS = [
    ("en", "The bridge over the river was designed by Anna Keller and opened to traffic in spring.",
     "The bridge over the river was designed by Paul Morgan and opened to traffic in spring.", "anna keller"),
    ("en", "Every visitor must sign the register at the north gate before entering the hall.",
     "Every visitor may sign the register at the north gate before entering the hall.", "must"),
    ("en", "The reading room is open to guests of the institute during the summer holidays.",
     "The reading room is not open to guests of the institute during the summer holidays.", "not"),
    ("en", "The council meets in the town hall on the first Monday of each month.",
     "The council meets in the town hall on the first Friday of each month.", "monday"),
    ("fr", "Le festival de musique est organisé chaque année par la mairie de Nantes dans le parc.",
     "Le festival de musique est organisé chaque année par la mairie de Rennes dans le parc.", "nantes"),
    ("fr", "Le candidat doit joindre une copie du diplôme à sa demande d'inscription.",
     "Le candidat peut joindre une copie du diplôme à sa demande d'inscription.", "doit"),
    ("es", "La solicitud de la beca se entrega en la secretaría del campus durante el mes de mayo.",
     "La solicitud de la beca se entrega en la biblioteca del campus durante el mes de mayo.", "secretaría"),
    ("es", "Los residentes pueden recibir visitas en las habitaciones después de la cena.",
     "Los residentes no pueden recibir visitas en las habitaciones después de la cena.", "no"),
    ("ko", "실험실 열쇠는 퇴근하기 전에 경비실에 반납하고 장부에 서명합니다.",
     "실험실 열쇠는 퇴근하기 전에 행정실에 반납하고 장부에 서명합니다.", "경비실"),
    ("ko", "신입 회원은 첫 달에도 수영장 사물함을 이용할 수 있습니다.",
     "신입 회원은 첫 달에도 수영장 사물함을 이용할 수 없습니다.", "있"),
    ("zh", "参观者进入实验楼之前必须在东门登记个人信息。", "参观者进入实验楼之前可以在东门登记个人信息。", "必须"),
    ("zh", "这座图书馆由建筑师李明远设计并于同年开放。", "这座图书馆由建筑师王建国设计并于同年开放。", "李明远"),
    ("ar", "تقام حفلة تخرج الطلاب في قاعة المؤتمرات الكبرى بعد نهاية الفصل الثاني.",
     "تقام حفلة تخرج الطلاب في ساحة المؤتمرات الكبرى بعد نهاية الفصل الثاني.", "قاعه"),
    ("ar", "يجب على الطالب أن يعيد مفتاح الغرفة إلى المشرف قبل السفر.",
     "يجوز على الطالب أن يعيد مفتاح الغرفة إلى المشرف قبل السفر.", "يجب"),
]  # fmt: skip

NO_CONFLICT = [
    ("a detail", "The workshop takes place in the main hall of the castle every autumn.",
     "The workshop takes place in the main hall of the old castle every autumn."),
    ("another spelling", "The labour office keeps a colour copy of every signed contract in the archive.",
     "The labour office keeps a color copy of every signed contract in the archive."),
    ("another place first", "In France, the fee for the permit is paid at the post office of the town.",
     "In Spain, the fee for the permit is paid at the post office of the town."),
    ("another subject", "Gardeners may take home the tools of the school over the weekend.",
     "Carpenters may take home the tools of the school over the weekend."),
    ("a question", "Which office handles the request of a student who moves to another city?",
     "Which office handles the appeal of a student who moves to another city?"),
    ("too short to tell", "See the guide for details.", "See the manual for details."),
    ("several differences", "The choir rehearses with the orchestra in the chapel on the last Monday before a concert.",
     "The choir rehearses with the soloists in the theatre on the last Monday before a concert."),
]  # fmt: skip


def spans(
    *texts: str, titles: tuple[str, ...] = ("", ""), sources: tuple[str, ...] = ("a.md", "b.md"), kind: str = ""
) -> tuple[Span, ...]:
    return tuple(
        Span(
            n=n, source_id=source, title=title, url="", text=text, source_start=0, source_end=len(text), score=1.0,
            language=detect(texts[0]), blocks=(Block(start=0, end=len(text), kind=kind),) if kind else (),
        )
        for n, (text, title, source) in enumerate(zip(texts, titles, sources, strict=True), 1)
    )  # fmt: skip


def request(evidence: tuple[Span, ...], conflicts: tuple[Conflict, ...]) -> AnswerRequested:
    asked = msgspec.structs.replace(question(), language=evidence[0].language)
    return AnswerRequested(
        style="simple", question=asked, evidence=evidence, analyses=(), conflicts=conflicts, snapshot="", rounds=1
    )


@pytest.mark.parametrize(("language", "one", "other", "differs"), CONFLICTS)
def test_near_copies_with_one_difference_conflict(language: str, one: str, other: str, differs: str) -> None:
    evidence = spans(one, other)
    (found,) = conflicts_in(evidence)
    assert (found.kind, evidence[0].language) == ("wording", language)
    assert found.first in one
    assert found.second in other
    assert found.first != found.second
    assert differs[:3] in f"{found.first} {found.second}".casefold()


@pytest.mark.parametrize(("language", "one", "other", "_"), CONFLICTS)
def test_its_notice_passes_the_gate(language: str, one: str, other: str, _: str) -> None:
    evidence = spans(one, other, titles=("Town bridges of 1850", "No guide for visitors"))
    claims = claims_of(request(evidence, conflicts_in(evidence)))
    assert len(claims) == 2
    flags = [flag for claim in claims for flag in flags_of(claim, evidence_of(evidence), language)]
    assert [flag for flag in flags if flag.strength == "strong"] == []


@pytest.mark.parametrize(("why", "one", "other"), NO_CONFLICT)
def test_no_conflict_over(why: str, one: str, other: str) -> None:
    assert conflicts_in(spans(one, other)) == ()


def test_titles_that_differ_prevent_a_conflict() -> None:
    one, other, _ = CONFLICTS[0][1:]
    assert conflicts_in(spans(one, other, titles=("Anna Keller", "Paul Morgan"))) == ()
    assert len(conflicts_in(spans(one, other, titles=("Bridges", "Bridges of the river")))) == 1


def test_one_document_does_not_contradict_itself() -> None:
    one, other, _ = CONFLICTS[0][1:]
    assert conflicts_in(spans(one, other, sources=("a.md", "a.md"))) == ()


def test_code_and_row_keys_name_the_subject() -> None:
    one = "docker run --rm example/server start --port public --log verbose"
    assert conflicts_in(spans(one, one.replace("server", "client"), kind="code")) == ()
    row = "Branch: North | Opens on weekday mornings: yes | Lends instruments to members: yes"
    assert conflicts_in(spans(row, row.replace("North", "South"), kind="table_row")) == ()


def test_same_neighbours_make_a_subject_change_a_conflict() -> None:
    before = "The old theatre burned down in one night and was rebuilt within a year."
    one, other = (
        f"{before} {name} paid for the new stage, the curtain and all of the velvet seats."
        for name in ("Keller", "Morgan")
    )
    assert len(conflicts_in(spans(one, other))) == 1


def test_history_entries_and_sections_are_not_compared() -> None:
    one = "2.4.0: The index keeps 3 files of each kind."
    assert conflicts_in(spans(one, one.replace("2.4.0", "2.5.1"))) == ()
    evidence = spans(one, one.replace("3", "5"), sources=("a.md", "a.md"))
    apart = tuple(msgspec.structs.replace(span, headings=(str(span.n),)) for span in evidence)
    assert (len(conflicts_in(evidence)), len(conflicts_in(apart))) == (1, 0)


def test_contradiction_in_other_passages_is_noticed() -> None:
    one, other, _ = CONFLICTS[0][1:]
    text = f"Much was built in these years. {other} It is long."
    passages = tuple(
        Passage(
            source_id=source, title="", url="", score=1.0, score_type="fusion", text=said, char_start=100,
            char_end=100 + len(said), language="en", snapshot="",
        )
        for source, said in (("a.md", one), ("b.md", text), ("c.md", "Nothing about bridges is said here at all."))
    )  # fmt: skip
    evidence = spans(one, one)[:1]
    (found,) = opposing(evidence, passages)
    assert (found.n, found.source_id, found.text) == (2, "b.md", other)
    assert (found.source_start, found.source_end) == (100 + text.index(other), 100 + text.index(other) + len(other))
    assert len(conflicts_in((*evidence, found))) == 1


PAY = "- Salaire brut mensuel du contrat : {} euros pour un temps plein."


@pytest.mark.parametrize(
    ("question", "paths", "texts", "added"),
    [
        ("¿cuánto cobra Lucía neto al mes?", ("pay/Lucía/c.md", "pay/Youssef/c.md"), ("", ""), 0),
        ("cuánto cobra lucia", ("pay/Lucía/c.md", "pay/Youssef/c.md"), ("", ""), 0),
        ("Quel est le salaire de Lucía ?", ("pay/a.md", "pay/b.md"), ("Entre le café et Lucía Gómez.", ""), 0),
        ("quel est le salaire ?", ("pay/Lucía/c.md", "pay/Youssef/c.md"), ("Pour Lucía.", "Pour Youssef."), 0),
        ("김민수의 급여는?", ("a.md", "b.md"), ("김민수", "이영희"), 1),
        ("김민수의 급여는?", ("김민수/c.md", "이영희/c.md"), ("", ""), 0),
        ("Quel est le salaire à Lyon ?", ("pay/2024/c.md", "pay/Youssef/c.md"), ("", "Pour Youssef."), 1),
        ("Quel est le salaire ?", ("Rules/c.md", "Guides/c.md"), ("", ""), 1),
    ],
)
def test_statement_of_another_person_is_no_contradiction(
    question: str, paths: tuple[str, str], texts: tuple[str, str], added: int
) -> None:
    one, other = (f"{text}\n{PAY.format(pay)}" for text, pay in zip(texts, ("1 592", "2 050"), strict=True))
    passages = tuple(
        Passage(
            source_id=source, title="Contrat", url="", score=1.0, score_type="fusion", text=said, char_start=0,
            char_end=len(said), language="fr", snapshot="",
        )
        for source, said in zip(paths, (one, other), strict=True)
    )  # fmt: skip
    evidence = numbered(passages, [(0, one.index("-"), len(one))])
    assert len(opposing(evidence, passages, question)) == added


def test_the_demo_documents_conflict_as_before() -> None:
    """At least thirteen of the pairs that disagree on purpose are noticed, whole documents against each other."""
    noticed = 0
    for pair in tomllib.loads((DEMO / "contradictions.toml").read_text("utf-8"))["contradiction"]:
        texts = []
        for side in pair["sides"]:
            path = DEMO / "documents" / side["file"]
            texts.append(path.read_text("utf-8") if path.suffix in (".md", ".txt") else side["sentence"])
        values = [side["value"] for side in pair["sides"]]
        found = conflicts_in(spans(*texts, sources=tuple(side["file"] for side in pair["sides"])))
        noticed += any(values[0].startswith(one.first) and values[1].startswith(one.second) for one in found)
    assert noticed >= 13


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
    ("title", "sentence", "first_line"),
    [
        ("低浓度阿托品滴眼液使用规范", "本规范取代2021年的用药说明。", "阿托品滴眼液家长须知（2021年版）"),
        ("Crane rules", "These rules replace the notice of 2021.", "Rules for the crane, 2021"),
    ],
)
def test_first_line_names_a_document_whose_title_is_its_file(title: str, sentence: str, first_line: str) -> None:
    new, text = document("new.md", title, sentence), f"{first_line}\n\nIt is open."
    assert standing(new, document("leaflet-2021.txt", "leaflet-2021", text)) == {"leaflet-2021.txt": "new.md"}
    assert standing(new, document("leaflet-2021.txt", "leaflet-2021", "A plan of the kitchen\n\nIt is open.")) == {}


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
        (document("x/fees.md", "Table of fees", date="2025-03-01"), document("y/fees.md", "Table of fees", date="2024-03-01")),
        (document("lease-2024.pdf", "Lease"), document("lease_draft.docx", "Lease")),
        (document("b.docx", "عقد الإيجار"), document("a.docx", "عقد الإيجار (مسودة)")),
        (document("fees.md", "Fees", date="2024-03-01"), document("archive/fees.md", "Fees", date="2025-03-01")),
        (document("Prix/tarifs 2025.pdf", "Tarifs 2025"), document("Vieux/tarifs.pdf", "Tarifs")),
        (document("a/conditions.md", "Conditions de séjour", "Ces conditions remplacent les précédentes."),
         document("anciens/depart.md", "Conditions de départ")),
        (document("단팥빵 레시피.md", "단팥빵 레시피 – 2025년 5월 개정판"), document("단팥빵_옛날.txt", "단팥빵 옛날")),
        (document("菜单.md", "菜单"), document("旧菜单.docx", "菜单")),
        (document("الأسعار.md", "الأسعار"), document("قديم/الأسعار.md", "الأسعار")),
        (document("precios.md", "Precios"), document("precios (antiguo).md", "Precios")),
        (document("a.md", "Rules", "The notice KX-014 is repealed."),
         document("b.md", "Notice to tenants", "Number KX-014, for all tenants.")),
    ],
)  # fmt: skip
def test_the_later_one_is_in_force(newer: Span, older: Span) -> None:
    assert standing(newer, older) == {older.source_id: newer.source_id}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (document("a/readme.md", "Overview", date="2025-03-01"), document("a/guide.md", "Overview", date="2024-03-01")),
        (document("a.md", "Strategy 2024"), document("b.md", "Budget 2023")),
        (document("a.md", "Fees"), document("b.md", "Fees")),
        (document("Projets/a.md", "Bail"), document("b.md", "Bail")),
        (document("archive/a/fees.md", "Fees"), document("archive/b/fees.md", "Fees")),
        (
            document("fees.md", "Fees"),
            document("archives-building/fee-waivers.md", "Fee waivers for guests of the house"),
        ),
        (document("letter Ann.md", "Letter Ann"), document("old/letter Bob.md", "Letter Bob")),
        (document("town/fees.md", "Fees of the town"), document("golden/fees.md", "Fees of the town")),
        (document("菜单.md", "菜单"), document("旧金山/菜单.md", "菜单")),
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
    lease = document("lease.pdf", "Lease"), document("lease-draft.docx", "Lease")
    assert standing(*lease, asked="what is the rent in the draft?") == {}
    copies = document("lease.pdf", "Lease"), document("old/lease.pdf", "Lease")
    assert standing(*copies, asked="what was the rent in the old lease?") == {}


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
    assert conflicts_in(evidence, {one.source_id: "rules-2026.md" for one in sides}) == ()
