"""Which questions are about documents, and what is searched for and quoted then."""

import msgspec
import pytest

from actors.question.resolved import resolved
from actors.selecting.overview import overview, wider
from bus.powers.searching import SearchRequest
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Passage, Question

REQUEST = SearchRequest(query="?", language="en", k=10)


def question(text: str, *, has_model: bool = False) -> Question:
    return msgspec.structs.replace(resolved(QuestionAsked(question=text)), has_model=has_model)


def passage(source: str, text: str) -> Passage:
    return Passage(
        source_id=source, title=source, url="", score=1.0, score_type="share", text=text, char_start=0, char_end=len(text),
        language="en", snapshot="s",
    )  # fmt: skip


FOUND = [
    passage("mail.md", "The boiler is repaired on Wednesday by a plumber."),
    passage("rice.md", "Bring the water to a boil in a deep and heavy pot."),
    passage("heating.md", "Two boilers of the hall were replaced last summer."),
]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Which documents do I have about parental leave?", "parental leave?"),
        ("List all files about backups", "backups"),
        ("Quels documents parlent du Covid long ?", "covid long ?"),
        ("¿Qué archivos mencionan Kinovea?", "kinovea?"),
        ("ما الوثائق التي تتحدث عن ماركداون؟", "ماركداون؟"),
        ("오픈소스에 대한 문서를 모두 보여 주세요", "오픈소스"),
        ("哪个文件提到了冰糖？", "冰糖?"),
        ("Which recipes do I have with bananas?", "bananas?"),
        ("Quelles recettes ai-je avec des bananes ?", "des bananes ?"),
        ("¿Qué contratos tengo con Levante?", "levante?"),
        ("ما العقود التي تتحدث عن التنظيف؟", "التنظيف؟"),
        ("청소에 대한 계약서를 모두 보여 주세요", "청소"),
        ("哪些合同提到了清洁？", "清洁?"),
        ("Which file has the water charges?", "the water charges?"),
        ("In which document is the summer party?", "the summer party?"),
        ("Quel document parle du Covid long ?", "covid long ?"),
        ("Quel fichier contient le prix des billets ?", "le prix des billets ?"),
        ("¿Qué archivo contiene la factura?", "la factura?"),
        ("¿En qué archivo está la póliza?", "la poliza?"),
        ("哪个文件包含价目表？", "价目表?"),
        ("주차비는 어느 문서에 적혀 있어요?", "주차비는"),
        ("ما الملف الذي فيه الأسعار؟", "الاسعار؟"),
    ],
)
def test_list_of_documents_searches_its_subject(text: str, rest: str) -> None:
    request = wider(question(text), FOUND, REQUEST)
    assert request is not None
    assert (request.query, request.snapshot) == (rest, "s")


@pytest.mark.parametrize(
    "text",
    [
        "Which documents are required for a visa?",
        "Which invoices have not been paid?",
        "Which letters have arrived?",
        "¿Qué facturas están pagadas?",
        "¿Qué facturas son impagadas?",
        "Quelles factures sont impayées ?",
        "哪些发票有问题",
        "What documents do I need to bring?",
        "What letters do I have to send?",
        "Quels rapports ai-je à rendre ?",
        "¿Qué informes tengo que entregar?",
        "Quels documents faut-il fournir ?",
        "¿Qué documentos necesito?",
        "ما المستندات المطلوبة؟",
        "어떤 문서를 제출해야 하나요?",
        "哪些文件需要签字？",
    ],
)
def test_documents_as_a_subject_are_no_list(text: str) -> None:
    assert wider(question(text), FOUND, REQUEST) is None
    assert overview(question(text), FOUND) == []


def test_document_with_the_word_is_listed_and_not_its_stem() -> None:
    listed = overview(question("Which files mention the boiler?"), FOUND)
    assert [FOUND[at].source_id for at, _, _ in listed] == ["mail.md", "heating.md"]


def test_line_with_the_word_is_listed_however_short() -> None:
    minutes = passage("minutes.md", "The board spoke about the summer party for an hour.\n\nPlace: Kreitek")
    assert overview(question("Which files mention Kreitek?"), [minutes]) == [(0, 53, 67)]


def test_word_of_one_letter_is_no_wildcard() -> None:
    assert overview(question("Which files mention x?"), FOUND) == []


def test_a_model_lists_by_itself() -> None:
    assert wider(question("Which files mention the boiler?", has_model=True), FOUND, REQUEST) is None


def test_outline_quotes_whole_sentences() -> None:
    texts = ("Copyright © 2026 by the whole board of the hall.", "to our rooms and send your name, so that we can",
             "The hall may be hired by all members of the club.")  # fmt: skip
    rules = passage("hall rules.md", "\n\n".join(texts))
    asked = msgspec.structs.replace(question("Summarise the hall rules"), needs_model=True)
    (shown,) = overview(asked, [rules])
    assert rules.text[shown[1] : shown[2]] == texts[2]


@pytest.mark.parametrize(
    "text",
    [
        "summary of the hall rules",
        "hall rules 요약",
        "resumen de hall rules",
        "hall rules的概要",
        "ما هو مضمون hall rules",
    ],
)
def test_summary_may_be_asked_for_by_a_noun(text: str) -> None:
    rules = passage("hall rules.md", "The hall may be hired by all members of the club.")
    assert overview(msgspec.structs.replace(question(text), needs_model=True), [rules])
