"""A document's text put together from its passages, its address, and the example questions of the documents."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from index.model import Block, Document, Metadata, Passage
from index.readers import Source, Unreadable, read
from index.search.searcher import Searcher
from index.snapshot.prepared import Prepared, prepare
from index.snapshot.segment import write_segment
from index.snapshot.store import PassageStore
from index.source_paths import on_the_web, openable
from index.text.document_text import Read, stretch
from index.text.examples import examples
from runtime.processes.served import held
from tests.index.brought_in import bring_in

_FILES = sorted(path for path in (Path(__file__).parents[1] / "documents" / "texts").rglob("*") if path.is_file())


def stored(folder: Path, prepared: Prepared) -> Read:
    write_segment(folder / "000000000000.bin", prepared.passages, prepared.hashes)
    store = PassageStore(folder)
    return lambda entry, start, count: [
        store.get(entry.first + place) for place in range(start, min(start + count, entry.count))
    ]


def documents() -> Iterator[Document]:
    for path in _FILES:
        try:
            yield read(Source(path.read_bytes(), path.name, path.stem, path.suffix.lower()))
        except (Unreadable, KeyError):
            continue
    sentence = "The gate of the yard opens at six on weekdays. "
    blocks, text = [], ""
    for n in range(60):
        begin = len(text)
        text += sentence * (1 + n % 50) + f"Part {n}."
        blocks.append(Block(begin, len(text), ("prose", "code", "quotation")[n % 3]))
        text += "\n\n***\n\n" if n % 7 == 0 else "\n\n"
    yield Document(
        source_id="long",
        title="Long",
        text=text,
        blocks=tuple(blocks),
        pages=tuple((n * 997, n + 1) for n in range(40)),
    )
    yield Document(source_id="plain", title="Plain", text=f"\n\n  {sentence * 200}\n \n{sentence}  \n")


def test_any_stretch_matches_the_document(tmp_path: Path) -> None:
    chosen = random.Random(13)
    seen = 0
    for n, document in enumerate(documents()):
        prepared = prepare(document)
        if not prepared.passages:
            continue
        folder = tmp_path / str(n)
        folder.mkdir()
        read_passages = stored(folder, prepared)
        whole = stretch(read_passages, prepared.entry, 0, 10**9)
        assert whole.text == document.text, document.source_id
        shown = [block for block in document.blocks if any(map(str.isalnum, document.text[block.start : block.end]))]
        places = {(block.start, block.end, block.kind) for block in whole.blocks}
        assert places >= {(block.start, block.end, block.kind) for block in shown}, document.source_id
        for _ in range(20):
            start = chosen.randint(0, len(document.text))
            end = chosen.randint(start, len(document.text) + 10)
            part = stretch(read_passages, prepared.entry, start, end)
            assert part.text == document.text[start:end], (document.source_id, start, end)
            assert all(start <= block.start < block.end <= end for block in part.blocks)
            expected = [number for offset, number in document.pages if offset <= start][-1:]
            if document.pages and document.pages[0][0] == 0:
                assert [number for _, number in part.pages[:1]] == expected or part.start == part.end
        seen += 1
    assert seen > 5


@pytest.mark.parametrize(
    ("url", "of_a_document", "of_an_index"),
    [
        ("https://example.org/a?b#c", True, True),
        ("file:///home/me/a.md", False, True),
        ("/guide/a.html#b", False, True),
        ("", False, False),
        ("javascript:alert(1)", False, False),
        (" javascript:alert(1)", False, False),
        ("data:text/html,a", False, False),
        ("//evil.example", False, False),
        ("/\\evil.example", False, False),
        ("https:evil.example", False, False),
        ("https://a.example/\r\nb", False, False),
    ],
)
def test_unsafe_address_is_dropped(url: str, of_a_document: bool, of_an_index: bool) -> None:
    assert on_the_web(url) == (url if of_a_document else "")
    assert openable(url) == (url if of_an_index else "")


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
    bring_in(tmp_path / "index", docs)
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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "# Plan\n\nJune 2025. This plan replaces\nall earlier plans. Eat well.",
            "This plan replaces all earlier plans.",
        ),
        ("Eat well. " * 9000 + "\n\nThe rules of 2019 are repealed.", "The rules of 2019 are repealed."),
        ("Este plan sustituye a todos los anteriores. Coma bien.", "Este plan sustituye a todos los anteriores."),
        ("Eat well.", ""),
        ("This replaces all that " + "very " * 50 + "old plan.", ""),
    ],
)
def test_what_a_document_replaces_is_in_its_metadata(text: str, said: str) -> None:
    assert prepare(Document(source_id="a.md", title="A", text=text)).entry.metadata.replaces == said


def test_metadata_names_what_is_replaced_before_the_text() -> None:
    metadata = Metadata(replaces="old.md")
    made = prepare(Document(source_id="a.md", title="A", text="This replaces the plan.", metadata=metadata))
    assert made.entry.metadata == metadata
