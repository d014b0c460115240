"""What rules chose is quoted whole, each thing once, and never more than 600 weights."""

import pytest
from msgspec.structs import replace

from actors.evidence.prompt_evidence import evidence_of
from actors.evidence.spans import numbered, with_lead
from index.text.citations import strip_markers
from index.text.passages import weigh
from prompts.contracts import AnswerReport, AnswerSimple, Evidence
from runtime.engines.extractive.answers import answer_report, answer_simple
from runtime.engines.extractive.chosen import MOST
from tests.actors.blocks import Piece, passages

QUESTION = "What is the fee of a ferry?"
ROW = " | ".join(["Ship: Ferry", *(f"Column {n}: {'word ' * 12}{n}" for n in range(12)), "Fee: 30"])


def chosen(*pieces: Piece, lead: str) -> tuple[Evidence, ...]:
    """All the pieces as evidence, with the sentence that answers."""
    found = passages(*pieces)
    spans = numbered(found, [(at, 0, len(passage.text)) for at, passage in enumerate(found)])
    at, passage = next((at, passage) for at, passage in enumerate(found) if lead in passage.text)
    start = passage.text.index(lead)
    return evidence_of(with_lead(spans, found[at], start, start + len(lead)))


def simple(evidence: tuple[Evidence, ...], question: str = QUESTION) -> str:
    return answer_simple(AnswerSimple(original_query=question, retrieved_chunks=evidence, language="en"))


def test_wide_row_shows_name_and_requested_cells() -> None:
    assert simple(chosen(("table_row", ROW), lead="Fee: 30")) == "Ship: Ferry | Fee: 30 [1]."


@pytest.mark.parametrize(
    ("pieces", "lead"),
    [
        (
            [("prose", "The ferry has a fee. " + "The ferry crosses the harbour many times a day. " * 20)],
            "The ferry has a fee.",
        ),
        (
            [("prose", "The ferry has a fee, " + "and crosses the harbour, " * 40 + "and stops.")],
            "The ferry has a fee,",
        ),
        ([("code", "\n".join(f"ferry.fee({n})  # of the harbour" for n in range(60)))], "ferry.fee(0)"),
        (
            [
                ("prose", "The fees:"),
                *(("list_item", f"- the ferry number {n} has a fee of {n}0 coins") for n in range(30)),
            ],
            "The fees:",
        ),
        ([("table_row", ROW), ("table_row", ROW.replace("Ferry", "Barge"))], "Fee: 30"),
    ],
)
def test_shown_units_keep_the_length_limit(pieces: list[Piece], lead: str) -> None:
    text = simple(chosen(*pieces, lead=lead))
    assert 0 < weigh(strip_markers(text)) <= MOST
    assert text.count("```") % 2 == 0


@pytest.mark.parametrize(
    "line",
    [
        "Harbour board · notice HB-204 · published 3 May 2024",
        "항만공사 · 문서번호 HB-204 · 2024년 5월 시행",
        "HB-204，2024年5月修订。",
    ],
)
def test_number_and_date_of_a_document_only_alone(line: str) -> None:
    fee = "The fee of a ferry is 30."
    assert simple(chosen(("prose", line), ("prose", fee), lead=fee)) == "The fee of a ferry is 30 [1]."
    assert "HB-204" in simple(chosen(("prose", line), ("prose", fee), lead=line))


def test_answering_units_are_kept_first() -> None:
    text = "The ferry crosses the harbour many times on each day of the week. " * 3
    pieces: list[Piece] = [("prose", f"{n} {text}") for n in range(5)]
    assert "The fee of a ferry is 30" in simple(
        chosen(*pieces, ("prose", "The fee of a ferry is 30."), lead="The fee of a ferry is 30.")
    )


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("Article 16 Exclusions", "Exclusions"), ("Section 4.2: What is not covered", "What is not covered"),
        ("제16조 (제외 대상)", "제외 대상"), ("第十六条 不承保", "不承保"), ("المادة 16 الاستثناءات", "الاستثناءات"),
        ("Artículo 16. Exclusiones", "Exclusiones"),
    ],
)  # fmt: skip
def test_number_of_a_heading_is_not_quoted(heading: str, name: str) -> None:
    """The heading stands outside of what is cited, and the gate takes its number for an invented one."""
    told = replace(chosen(("prose", "Wear, tear and vermin."), lead="Wear")[0], section=f"Policy › {heading}")
    assert simple((told,)).startswith(f"{name}: Wear, tear")
    report = AnswerReport(
        original_query=QUESTION, sub_query_analyses=(), evidence=(told,), language="en", safety_advice="Ask."
    )
    assert f"1. **{name}**: “" in answer_report(report)


def test_excluding_heading_is_named() -> None:
    evidence = chosen(
        ("heading", "Free of charge"), ("prose", "Barges and rafts. Small boats."),
        ("heading", "Not free of charge"), ("list_item", "- ferries"), ("list_item", "- yachts"),
        lead="- ferries",
    )  # fmt: skip
    assert simple(evidence, "Are ferries free?") == (
        "Free of charge: Barges and rafts [1]. Small boats [1].\n\nNot free of charge [1]:\n- ferries [1].\n- yachts [1]."
    )


def test_report_contains_each_sentence_once() -> None:
    evidence = chosen(
        ("prose", "The fee of a ferry is 30."), ("prose", "A barge pays nothing."), lead="The fee of a ferry is 30."
    )
    report = AnswerReport(original_query=QUESTION, sub_query_analyses=(), evidence=evidence, language="en")
    assert answer_report(report) == "The fee of a ferry is 30 [1]. A barge pays nothing [1]."


def test_question_and_heading_are_no_arguments() -> None:
    fee = "The fee of a ferry is 30."
    evidence = chosen(("prose", "What does a ferry cost?"), ("prose", "Fees of the harbour"), ("prose", fee), lead=fee)
    report = answer_report(AnswerReport(
        original_query=QUESTION, sub_query_analyses=(), evidence=evidence, language="en", safety_advice="Ask the harbour.",
    ))  # fmt: skip
    assert [line for line in report.splitlines() if line[:1].isdigit()] == [
        "1. **Handbook**: “The fee of a ferry is 30.” [1]"
    ]


@pytest.mark.parametrize(
    ("titles", "names"),
    [
        (("Tariffs", "Notice"), ("Tariffs [1]", "Notice [2]:")),
        (("Tariffs", "Tariffs"), ("a.md [1]", "b.md [2]:")),
    ],
)
def test_list_of_documents_names_them(titles: tuple[str, str], names: tuple[str, str]) -> None:
    (one,) = chosen(("prose", "The fee of a ferry is 30."), lead="The fee of a ferry is 30.")
    files = zip(("a.md", "b.md"), titles, strict=True)
    both = tuple(replace(one, n=n, source_id=file, title=title) for n, (file, title) in enumerate(files, 1))
    assert simple(both, "Which documents mention a ferry?") == f"- {', '.join(names)} The fee of a ferry is 30 [1][2]."


def test_path_that_would_be_withheld_gives_way_to_the_title() -> None:
    (one,) = chosen(("prose", "The fee of a ferry is 30."), lead="The fee of a ferry is 30.")
    (other,) = chosen(("prose", "A ferry crosses the harbour."), lead="A ferry crosses the harbour.")
    both = (replace(one, source_id="fees-2026-02.md"), replace(other, n=2, source_id="fees-2026-03.md"))
    listed = "- Handbook [1]: The fee of a ferry is 30 [1].\n- Handbook [2]: A ferry crosses the harbour [2]."
    assert simple(both, "Which documents mention a ferry?") == listed


def test_steps_keep_their_numbers() -> None:
    below = [("list_item", f"{n}. {do} the ferry.") for n, do in enumerate(("Clean", "Load", "Moor"), 1)]
    assert simple(chosen(*below, lead="1. Clean the ferry.")) == "\n".join(
        ["1. Clean the ferry [1].", "2. Load the ferry [1].", "3. Moor the ferry [1]."]
    )


def test_list_within_a_line_keeps_its_numbers() -> None:
    text = "Before the trip: 1. Clean the ferry. 2. Load the ferry."
    said = "Before the trip: 1. Clean the ferry [1]. 2. Load the ferry [1]."
    assert simple(chosen(("prose", text), lead="2. Load the ferry.")) == said


def test_documents_of_a_series_are_named() -> None:
    (one,) = chosen(("prose", "The fee of a ferry is 30."), lead="The fee of a ferry is 30.")
    (other,) = chosen(("prose", "A ferry crosses the harbour."), lead="A ferry crosses the harbour.")
    titles = ("Meeting, 11 March 2026", "Meeting, 14 January 2026")
    files = ("minutes-2026-03-11.md", "minutes-2026-01-14.md")
    both = (
        replace(one, source_id=files[0], title=titles[0]),
        replace(other, n=2, source_id=files[1], title=titles[1]),
    )
    parts = (f"{titles[0]} [1]:\nThe fee of a ferry is 30 [1].", f"{titles[1]} [2]:\nA ferry crosses the harbour [2].")
    assert simple(both) == "\n\n".join(parts)
    assert simple((both[0], replace(both[1], source_id="harbour.md", title="Harbour"))) == "\n\n".join(
        part.partition("\n")[2] for part in parts
    )
