"""Fences of Markdown, whole and still growing."""

import pytest

from index.text.fences import fences, masked, unclosed, without_code
from index.text.sentences import SentenceStream, split

CODE = "```bash\nmake all. Now\n\nmake [1]\n```"


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (f"Run:\n{CODE}\nDone.", ["make all. Now\n\nmake [1]"]),
        ("```\n```", [""]),
        ("````\n```\nx\n````", ["```\nx"]),
        ("```\na\n```\n\n```\nb\n```", ["a", "b"]),
        ("```\nnever closed", []),
        ("in a line ```\nx\n```\n", []),
        ("    ```\nx\n```", []),
    ],
)
def test_what_a_fence_is(text: str, codes: list[str]) -> None:
    assert [text[fence.code : fence.code_end] for fence in fences(text)] == codes


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("Run:\n```bash\nmake", 5),
        (f"{CODE}\n", None),
        (CODE, 0),
        ("Run:\n``", 5),
        ("plain `code` here", None),
        (f"{CODE}\nthen\n```\n", len(CODE) + 6),
    ],
)
def test_where_a_fence_is_still_open(text: str, at: int | None) -> None:
    assert unclosed(text) == (len(text) if at is None else at)


def test_masked_code_keeps_offsets() -> None:
    text = f"Say `a[1]` [2]:\n{CODE}\n[3]"
    assert without_code(text).split() == ["Say", "[2]:", "[3]"]
    assert len(without_code(text)) == len(masked(text, "x")) == len(text)


ANSWERS = [
    (f"First. Run this [1]:\n\n{CODE}\n\nDone. Yes.", ["First.", f"Run this [1]:\n\n{CODE}", "Done.", "Yes."]),
    (f"{CODE}\nsmall letters follow.", [CODE, "small letters follow."]),
    (f"{CODE}\n\n{CODE}", [CODE, CODE]),
    ("Name: a | Use: First. Then more [1].\nNext one. Last.", ["Name: a | Use: First. Then more [1].", "Next one.", "Last."]),
    ("a | b | First. Then more.\nNext. Last.", ["a | b | First. Then more.", "Next.", "Last."]),
    ("The set {x | x is odd}. It is big.", ["The set {x | x is odd}.", "It is big."]),
    ("Use `a | b`. Then go.", ["Use `a | b`.", "Then go."]),
    ("It ends.\n\n```\nnever closed. Go", ["It ends.\n\n```\nnever closed. Go"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentences"), ANSWERS)
def test_code_joins_its_sentence_and_rows_stay_whole(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in split(text)] == sentences


@pytest.mark.parametrize("size", [1, 2, 3, 5, 11])
@pytest.mark.parametrize("text", [text for text, _ in ANSWERS])
def test_the_same_sentences_in_pieces(text: str, size: int) -> None:
    stream = SentenceStream()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    told = [sentence for piece in pieces for sentence in stream.feed(piece)] + stream.finish()
    assert "".join(told) == text
    assert [sentence.strip() for sentence in told if sentence.strip()] == [
        text[start:end] for start, end in split(text)
    ]
