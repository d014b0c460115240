"""The cost of a text is linear in its length, for any content: no pattern and no pair of loops may blow up.

Each unit below is a text's only content, over and over. Four times the text may cost eight times the time, twice what a linear
one costs; a quadratic one costs sixteen times.
"""

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.evidence.spans import numbered
from actors.evidence.statements import amounts, statements
from actors.gate.check import check_sentence
from index.languages.detection import detect
from index.masking import MaskStream, mask
from index.text.sentences import in_sentences, split
from prompts.contracts import Chunk, Evidence
from runtime.engines.extractive.ranking import rank
from tests.message_samples import passage

SHORT = 1_000
TIMES = 4
#: Work of so short a time needs no comparison.
QUICK_S = 0.05
MOST = 8.0

UNITS = (
    *("1 ", "1-", "1/", "1.", "1,", "1:", "1a", "x-1 ", "1 000 ", "1er ", "10% ", "$1 ", "1~2 ", "5 to 10 ", "3 pm ", "v1 "),
    *("3개월 ", "٣ ", "三", "一二", "2020-01-01 ", "three ", "vingt-", "تسعة و", "Jan ", "lundi ", "ver. 1 ", "№ 1 "),
    *("a ", "a.b ", "A.", "Mr. ", "A b ", "and ", "not ", "must ", "不", "못", "is "),
    *("(", "[", "[1] ", "[^1] ", '"a" ', '"', "“", "“a", "‘", "«", "**", "`a` ", "`", "```\n", "|", "| a | b |\n"),
    *("# a\n", "- a\n"),
    *("a@", "@", "a @ ", " at ", "a.b@", "www.", "![", "&#"),
    *("http://a ", "a@b.c ", "<a>", "&amp;", "\u200f", "\n", " ", "ㅋ", "é", "a\u0301", "\\", "_", "$x$ "),
)  # fmt: skip


def gate_of_sentence(text: str) -> object:
    return [check_sentence(one, [evidence(text)]) for one in in_sentences(f"{text} [1].")]


def gate_of_evidence(text: str) -> object:
    return check_sentence("Refunds take 14 days, at least 3 months, of 1/1/1 “so” [1].", [evidence(text)])


def evidence(text: str) -> Evidence:
    return Evidence(n=1, source_id="s", title="t", text=text)


def stated(text: str) -> object:
    (span,) = numbered((passage(text=text),), [(0, 0, len(text))])
    return list(statements(span))


def read_for_an_answer(text: str) -> object:
    return rank("How many days until refunds are paid?", "en", (Chunk(source_file="a", score=1.0, content=text),))


def masked_in_pieces(text: str) -> object:
    stream = MaskStream()
    return [stream.feed(text[at : at + 3]) for at in range(0, len(text), 3)], stream.finish()


WORK: tuple[Callable[[str], object], ...] = (
    gate_of_sentence,
    gate_of_evidence,
    amounts,
    stated,
    split,
    read_for_an_answer,
    detect,
    mask,
    masked_in_pieces,
)


def seconds(work: Callable[[str], object], text: str) -> float:
    """Of this thread alone: a JVM or a device that another test has left here works, too."""
    began = time.thread_time()
    work(text)
    return time.thread_time() - began


def repeated(unit: str, length: int, mark: str) -> str:
    """`mark` keeps one text from being remembered for another."""
    return (mark + unit * (length // len(unit) + 1))[:length]


@pytest.mark.parametrize("work", WORK, ids=lambda work: work.__name__)
def test_time_grows_with_length(work: Callable[[str], object]) -> None:
    work("Refunds take 14 days. They are paid in 3 months.")
    slow: dict[str, float] = {}
    for unit in UNITS:
        for long_mark, short_mark in (("x ", "y "), ("w ", "z ")):  # what seems slow is measured once more
            long = seconds(work, repeated(unit, TIMES * SHORT, long_mark))
            if long < QUICK_S:
                break
            short = seconds(work, repeated(unit, SHORT, short_mark))
            if long <= MOST * max(short, QUICK_S / TIMES):
                break
        else:
            slow[unit] = long / short
    assert slow == {}


@settings(max_examples=12)
@given(st.lists(st.sampled_from(UNITS), min_size=1, max_size=4).map("".join))
def test_gate_time_is_linear_for_any_text(unit: str) -> None:
    text = repeated(unit, TIMES * SHORT, "")
    for work in WORK:
        assert seconds(work, text) < 5.0  # a tenth of that is usual; what blows up takes minutes


@pytest.mark.parametrize(
    "text", ["9" * 5000, "三" * 5000, "９" * 5000, "1" + ",000" * 2000, "v" + "9." * 3000, "２０" * 3000]
)
def test_number_beyond_floats_is_a_number(text: str) -> None:
    for work in WORK:
        work(f"{text} days")
