"""What the engine quotes is whole: an item with its introduction, a row, a list, code in a fence below its sentence."""

import re

import pytest

from actors.choosing.choose import choose, statistics
from actors.choosing.units import units_of
from actors.evidence.prompt_evidence import evidence_of
from actors.evidence.spans import numbered
from actors.question.resolved import resolved
from actors.selecting.chosen import with_leads
from bus.wire.messages import QuestionAsked
from index.text.citations import fences
from prompts.contracts import AnswerSimple, AnswerSynthesis
from runtime.engines.extractive.answers import SYNTHESIS_CHARS, answer_simple, answer_synthesis
from runtime.engines.extractive.quoting import announced, cite
from tests.actors.blocks import Piece, passages

GUIDE: tuple[Piece, ...] = (
    ("heading", "Harbour tool"),
    ("prose", "The harbour tool counts ships. Install the harbour tool from the package index:"),
    ("code", 'pip install harbour\n\nprintf("%d", ships[1]);  // see https://example.org/x <b>'),
    ("heading", "Colours of the harbour flags"),
    ("prose", "The harbour hoists these flags:"),
    ("list_item", "- a red flag warns of a storm. Ships stay in the harbour"),
    ("list_item", "- a green flag opens the harbour to ships"),
    ("heading", "Fees"),
    ("table_header", "Ship | Fee | Note"),
    ("table_row", "Ship: Ferry | Fee: 30 | Note: Paid on Monday. No refund"),
    ("table_row", "Ship: Barge | Fee: 20 | Note: Paid on Friday"),
    ("heading", "Usage"),
    ("code", "harbour --count --today"),
)


def answer(question: str) -> str:
    found = passages(*GUIDE)
    choice = choose(resolved(QuestionAsked(question=question)), found, statistics((question,), units_of(found)))
    assert choice is not None
    evidence = evidence_of(with_leads(numbered(found, choice.slices()), found, choice.leads))
    return answer_simple(AnswerSimple(original_query=question, retrieved_chunks=evidence, language="en"))


@pytest.mark.parametrize(
    ("question", "part"),
    [
        (
            "How do I install the harbour tool?",
            "Install the harbour tool from the package index [2]:\n\n```\npip install harbour\n\n"
            'printf("%d", ships[1]);  // see https://example.org/x <b>\n```',
        ),
        ("What is the fee of a ferry?", "Ship: Ferry | Fee: 30 | Note: Paid on Monday. No refund [1]."),
        (
            "Which flags does the harbour hoist?",
            "The harbour hoists these flags [1]:\n- a red flag warns of a storm [1]. Ships stay in the harbour [1].\n"
            "- a green flag opens the harbour to ships [1].",
        ),
        ("What does a green flag do?", "The harbour hoists these flags"),
        ("How is harbour --count called?", "Usage [1]:\n\n```\nharbour --count --today\n```"),
    ],
)
def test_quotation_is_complete(question: str, part: str) -> None:
    told = re.sub(r"\[\d\]", "[1]", answer(question)) if "ships[1]" not in part else answer(question)
    assert part in told


@pytest.mark.parametrize(
    "question", ["How do I install the harbour tool?", "Which flags?", "What does a ferry pay?", "harbour --count"]
)
def test_nothing_shown_is_half(question: str) -> None:
    text = answer(question)
    assert text.count("```") == 2 * len(fences(text))
    assert not re.search(r":\s*(?:\[\d\])?[:.]?\s*\Z", text)


def test_bounded_answer_drops_units_that_do_not_fit() -> None:
    found = passages(("prose", "Run the harbour tool like this:"), ("code", "harbour --count\n" * 40))
    evidence = evidence_of(numbered(found, [(0, 0, len(found[0].text))]))
    reply = answer_synthesis(AnswerSynthesis(query="How do I run the harbour tool?", evidence=evidence, language="en"))
    assert len(reply.answer) <= SYNTHESIS_CHARS
    assert "```" not in reply.answer


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Do this:", "Do this [2]:"),
        ("Do this", "Do this [2]:"),
        ("Do this.", "Do this [2]."),
        ("请运行：", "请运行 [2]:"),
        ("- Do this [7]:", "Do this [2]:"),
    ],
)
def test_an_introduction_with_its_marker(text: str, shown: str) -> None:
    assert announced(text, 2) == shown


def test_program_name_keeps_its_case() -> None:
    assert cite("http_port is the port", 1) == "http_port is the port [1]."
    assert cite("ports are open", 1) == "Ports are open [1]."
