"""The sentences of a draft in the text that is shown."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.text.aligned import aligned, line_break
from index.text.sentences import split


@pytest.mark.parametrize(
    ("text", "sentences", "expected"),
    [
        ("One [1]. Two [2].", ["One [4]. ", "Two [2]."], ["One [1].", "Two [2]."]),
        ("One. Two [1].", ["One [9]. ", "Two [4]."], ["One.", "Two [1]."]),
        ("- One [1]\n- (Two) [1]\n", ["- One [1]\n", "- (Two) [1]\n"], ["- One [1]", "- (Two) [1]"]),
        ("# Refunds\n\n---\n\nOne [1].", ["# Refunds\n\n", "---\n\n", "One [4]."], ["# Refunds\n\n---", "", "One [1]."]),
        ("One [1]. Two of…", ["One [1]. ", "Two of them [2]. ", "Three."], ["One [1].", "Two of…", ""]),
        ("天[1]。地[2]。", ["天[3]。", "地[1]。"], ["天[1]。", "地[2]。"]),
        ("", ["One."], [""]),
    ],
    ids=["numbers", "no marker", "list", "rule", "cut", "no spaces", "nothing"],
)  # fmt: skip
def test_sentences_are_found(text: str, sentences: list[str], expected: list[str]) -> None:
    assert [text[start:end] for start, end in aligned(text, sentences)] == expected


@pytest.mark.parametrize(
    ("before", "dropped", "gap"),
    [
        ("One. ", "Two.\n", "\n"),
        ("One.\n", "Two.\n", ""),
        ("| a |\n", "| b |\n\n", "\n"),
        ("\n", "Two.\n\n", ""),
        ("One. ", "Two. ", ""),
    ],
)
def test_paragraph_ends_without_its_last_line(before: str, dropped: str, gap: str) -> None:
    assert line_break(before, dropped) == gap


@example("1\n[1]")
@example("[\n1]?天")
@given(st.text(alphabet="ab1 .?!\n[]-한天", max_size=60))
def test_text_aligns_with_itself(text: str) -> None:
    sentences = [text[start:end] for start, end in split(text)]
    found = aligned(text, sentences)
    ends = [end for _, end in found]
    assert ends == sorted(ends)
    for (start, end), sentence in zip(found, sentences, strict=True):
        if any(map(str.isalpha, sentence)):
            assert any(letter in text[start:end] for letter in sentence if letter.isalpha())
