"""The questions of the documents that are shown as examples, by caller."""

import re
from pathlib import Path

import pytest

from index.build import ingest
from index.model import Block, Passage
from index.reading.pool import Pool
from index.search.searcher import Searcher
from index.text.examples import examples
from runtime.processes.served import held


def passage(source_id: str, *headings: str, language: str = "en", kind: str = "heading", below: str = "") -> Passage:
    """Headings, each a block, and the text below them, which has their words unless it is given."""
    words = re.sub(r"[^\w ]", "", " ".join(headings))
    text = "\n".join((*headings, below or f"{words}."))
    blocks, at = [], 0
    for heading in headings:
        blocks.append(Block(start=at, end=at + len(heading), kind=kind))
        at += len(heading) + 1
    return Passage(
        number=0, source_id=source_id, title="", url="", language=language, text=text, char_start=0, char_end=len(text),
        page=None, headings=(), blocks=tuple(blocks),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("When is a refund paid?", "When is a refund paid?"),
        ("## 3. When is a refund paid? ##", None),
        ("## 3. When is a refund paid?", "When is a refund paid?"),
        ("**Q: When is a refund paid?**", "When is a refund paid?"),
        ("환불은 언제 되나요?", "환불은 언제 되나요?"),
        ("何时退款？请看这里。何时退款？", None),
        ("متى يُدفع المبلغ؟", "متى يُدفع المبلغ؟"),
        ("¿Cuándo se devuelve el importe?", "¿Cuándo se devuelve el importe?"),
        ("A car drives 240 km in 3 hours. How fast is it?", None),
        ("Why?", None),
        ("Refunds", None),
        ("x" * 200 + "?", None),
    ],
)
def test_heading_with_one_question_is_an_example(heading: str, question: str | None) -> None:
    assert [each.question for each in examples([passage("a", heading)], 9)] == ([question] if question else [])


@pytest.mark.parametrize(
    ("heading", "below", "named"),
    [
        ("When is a refund paid?", "Refunds are paid within 14 days.", True),
        ("When is a refund paid?", "We answer within 14 days.", False),
        ("Still have questions?", "If you still have questions, write to us.", False),
        ("What does this mean in practice?", "You write an adventure with your team.", False),
        ("환불은 언제 되나요?", "환불은 14일 안에 됩니다.", True),
        ("متى يُدفع المبلغ؟", "يُدفع المبلغ خلال 14 يومًا.", True),
    ],
)
def test_example_names_its_subject(heading: str, below: str, named: bool) -> None:
    assert [each.question for each in examples([passage("a", heading, below=below)], 9)] == [heading] * named


def test_question_in_running_text_is_no_example() -> None:
    assert examples([passage("a", "When is a refund paid?", kind="prose")], 9) == []


def test_examples_alternate_languages_and_documents() -> None:
    found = examples(
        [
            passage("a", "What is first?", "What is third?"),
            passage("b", "What is second?", "what is first?"),
            passage("c", "무엇이 먼저인가요?", language="ko"),
        ],
        4,
    )
    assert [each.question for each in found] == [
        "What is first?",
        "무엇이 먼저인가요?",
        "What is second?",
        "What is third?",
    ]


def test_examples_come_from_visible_documents(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "all.md").write_text("# When does the shop open?\n\nThe shop opens at nine.\n", encoding="utf-8")
    (docs / "board.md").write_text(
        "---\ngroups: [board]\n---\n# Who is dismissed?\n\nNobody is dismissed this year.\n", encoding="utf-8"
    )
    with Pool(processes=1) as pool:
        ingest.bring_in(tmp_path / "index", [str(docs)], only=True, pool=pool)
    searcher = Searcher.open(tmp_path / "index")
    told = held(searcher, ())
    assert (told.documents, [each.source_id for each in told.titles]) == (1, ["all.md"])
    assert [each.question for each in told.examples] == ["When does the shop open?"]
    assert sum(told.languages.values()) == 1
    for groups in (("board",), None):
        told = held(searcher, groups)
        assert told.documents == 2
        assert {each.question for each in told.examples} == {"When does the shop open?", "Who is dismissed?"}
    searcher.close()
