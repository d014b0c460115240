"""The demo documents say what the demo's questions and contradictions claim they say."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import msgspec
import pypdfium2
import pytest
from docx import Document
from lxml import html

from index.languages import LANGUAGES
from tests.runtime import office_files

DEMO = Path(__file__).parents[2] / "runtime" / "demo"
DOCUMENTS = DEMO / "documents"


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    file: str
    contains: str


class Question(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    language: str
    profile: str
    kind: str
    text: str
    answers: list[Answer] = []
    demo: bool = False


class Side(msgspec.Struct, forbid_unknown_fields=True):
    file: str
    value: str
    sentence: str


class InForce(msgspec.Struct, forbid_unknown_fields=True):
    file: str
    why: str


class Contradiction(msgspec.Struct, forbid_unknown_fields=True):
    subject: str
    sides: list[Side]
    in_force: InForce | None = None


class Line(msgspec.Struct, forbid_unknown_fields=True):
    source_id: str
    title: str
    text: str
    url: str | None = None
    language: str | None = None


class Questions(msgspec.Struct, forbid_unknown_fields=True):
    question: list[Question]


class Contradictions(msgspec.Struct, forbid_unknown_fields=True):
    contradiction: list[Contradiction]


QUESTIONS = msgspec.toml.decode((DEMO / "questions.toml").read_bytes(), type=Questions).question
CONTRADICTIONS = msgspec.toml.decode((DEMO / "contradictions.toml").read_bytes(), type=Contradictions).contradiction


def raw_text(path: Path) -> str:
    match path.suffix:
        case ".docx":
            document = Document(str(path))
            cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
            return "\n".join([*(paragraph.text for paragraph in document.paragraphs), *cells])
        case ".pdf":
            with pypdfium2.PdfDocument(path) as document:
                return "\n".join(page.get_textpage().get_text_bounded() for page in document)
        case ".html":
            return " ".join(html.fromstring(path.read_text("utf-8")).itertext())
        case ".jsonl":
            return "\n".join(f"{line.title}\n{line.text}" for line in lines(path))
        case _:
            return path.read_text("utf-8")


def lines(path: Path) -> list[Line]:
    return msgspec.json.Decoder(Line).decode_lines(path.read_bytes())


@cache
def text(path: Path) -> str:
    """The words of a document on one line: a PDF breaks its sentences where the page ends."""
    return re.sub(r"\s+", " ", raw_text(path))


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_answer_is_in_its_named_document(question: Question) -> None:
    missing = [answer for answer in question.answers if answer.contains not in text(DOCUMENTS / answer.file)]
    assert missing == []


def test_every_language_has_its_six_questions() -> None:
    kinds = Counter((question.language, question.kind) for question in QUESTIONS)
    assert kinds == {
        (language, kind): count
        for language in LANGUAGES
        for kind, count in (("single", 4), ("complex", 1), ("unanswerable", 1))
    }
    assert len({question.id for question in QUESTIONS}) == len(QUESTIONS)
    for question in QUESTIONS:
        fits = {"single": question.answers[:1], "complex": question.answers[1:], "unanswerable": not question.answers}
        assert fits[question.kind], question.id


@pytest.mark.parametrize("pair", CONTRADICTIONS, ids=lambda pair: pair.sides[0].file)
def test_contradiction_is_in_both_documents(pair: Contradiction) -> None:
    first, second = pair.sides
    assert first.file != second.file
    assert first.value not in second.sentence
    assert second.value not in first.sentence
    for side in pair.sides:
        assert side.value in side.sentence
        assert side.sentence in text(DOCUMENTS / side.file)
    if pair.in_force:
        assert pair.in_force.file in {first.file, second.file}


def test_demo_questions_avoid_contradictions() -> None:
    """The demo must show one clear answer; its contradictions have questions of their own."""
    disputed = {(side.file, side.sentence) for pair in CONTRADICTIONS for side in pair.sides}
    asked = {(answer.file, answer.contains) for question in QUESTIONS if question.demo for answer in question.answers}
    assert asked
    assert not asked & disputed


def test_office_files_match_their_text(tmp_path: Path) -> None:
    office_files.write(tmp_path)
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.*"))
    assert [path.suffix for path in made] == [".pdf", ".docx"]
    for path in made:
        assert text(tmp_path / path) == text(DOCUMENTS / path)
