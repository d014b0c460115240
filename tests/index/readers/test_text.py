"""Plain text: the file's own text, in paragraphs, items, code and headings."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.readers import Source, read
from index.readers.text import chapters


def test_plain_text_knows_chapters() -> None:
    text = "제1장 총칙\n이 규정은 모두에게 적용한다.\n제2장 환불\n환불은 사흘 안에 한다.\n"
    document = read(Source(text.encode(), "r.txt", "r", ".txt"))
    assert document.text == text
    headings = [document.text[block.start : block.end] for block in document.blocks if block.kind == "heading"]
    assert headings == ["제1장 총칙", "제2장 환불"]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("One line\nand more.\n\n  Two.\n", [("prose", 0, "One line\nand more."), ("prose", 0, "Two.")]),
        (
            "Bring:\n- one\n  more\n  * inner\n- two\n",
            [
                ("prose", 0, "Bring:"),
                ("list_item", 1, "- one\n  more"),
                ("list_item", 2, "* inner"),
                ("list_item", 1, "- two"),
            ],
        ),
        ("1) a\n2) b", [("list_item", 1, "1) a"), ("list_item", 1, "2) b")]),
        (
            "가. 하나\n나. 둘\n\n① 셋",
            [("list_item", 1, "가. 하나"), ("list_item", 1, "나. 둘"), ("list_item", 1, "① 셋")],
        ),
        ("Born on\n12. March 1990.", [("prose", 0, "Born on\n12. March 1990.")]),
        ("Run:\n\n    a b\n    c", [("prose", 0, "Run:"), ("code", 0, "    a b\n    c")]),
        ("```sh\na\n\nb\n```\nEnd", [("code", 0, "```sh\na\n\nb\n```"), ("prose", 0, "End")]),
        ("```\nhalf", [("prose", 0, "```\nhalf")]),
    ],
)
def test_plain_text_is_its_blocks(text: str, blocks: list[tuple[str, int, str]]) -> None:
    assert [(block.kind, block.level, text[block.start : block.end]) for block in chapters(text)] == blocks


@given(
    st.lists(
        st.sampled_from([*"ab:.`~-1)①가\n\t 제장", "\n\n", "- ", "1. ", "```", "    ", "Chapter 1\n"]), max_size=60
    ).map("".join)
)
@settings(max_examples=300)
def test_every_word_is_in_a_block(text: str) -> None:
    at = 0
    for block in chapters(text):
        assert at <= block.start < block.end
        assert not text[at : block.start].strip()
        at = block.end
    assert not text[at:].strip()
