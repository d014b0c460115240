"""Plain text leaves nothing out, and dates are ISO."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.readers.front_matter import iso_date
from index.readers.text import chapters


@given(
    st.lists(
        st.sampled_from([*"ab:.`~-1)①가\n\t 제장", "\n\n", "- ", "1. ", "```", "    ", "Chapter 1\n"]), max_size=60
    ).map("".join)
)
@settings(max_examples=300)
def test_every_word_is_in_a_block(text: str) -> None:
    for titled in (False, True):
        at = 0
        for block in chapters(text, titled=titled):
            assert at <= block.start < block.end
            assert not text[at : block.start].strip()
            at = block.end
        assert not text[at:].strip()


def test_item_ends_at_a_line_of_its_own() -> None:
    long = "- a line that is as long as those that a program breaks at its width"
    text = f"Forbidden:\n{long}\nGoes on\n- pets\n  and birds\n- cars\nand vans\nLinen is 12 euros.\n- boats"
    assert [(block.kind, text[block.start : block.end]) for block in chapters(text)] == [
        ("prose", "Forbidden:"),
        ("list_item", f"{long}\nGoes on"),
        ("list_item", "- pets\n  and birds"),
        ("list_item", "- cars\nand vans"),
        ("prose", "Linen is 12 euros."),
        ("list_item", "- boats"),
    ]


def test_short_line_above_a_list_or_text_is_a_heading() -> None:
    long = "Look at the gauge, which stands beside the boiler. It shows the pressure."
    text = f"READ FIRST\n\nIf you smell gas\n1. Open the window.\n2. Leave.\n\nNo hot water\n{long}\n\nAnn Miller\nMill Lane 3"
    assert [(block.kind, text[block.start : block.end]) for block in chapters(text, titled=True)] == [
        ("heading", "READ FIRST"),
        ("heading", "If you smell gas"),
        ("list_item", "1. Open the window."),
        ("list_item", "2. Leave."),
        ("heading", "No hot water"),
        ("prose", long),
        ("prose", "Ann Miller\nMill Lane 3"),
    ]


def test_lines_with_columns_are_rows_and_numbers_without_stops_begin_items() -> None:
    text = "Who to ring\n\nChair   Ann Hill   01632 960114\nWater   Li Wen\nBees    Yusra   0770\n\n1  Apologies\n2  Accounts"
    assert [(block.kind, text[block.start : block.end]) for block in chapters(text)] == [
        ("prose", "Who to ring"),
        ("table_row", "Chair   Ann Hill   01632 960114"),
        ("table_row", "Water   Li Wen"),
        ("table_row", "Bees    Yusra   0770"),
        ("list_item", "1  Apologies"),
        ("list_item", "2  Accounts"),
    ]
    steps = "Step 1  Empty the tray.\nStep 2  Take out the filter.\nStep 3  Press OK."
    assert [block.kind for block in chapters(steps)] == ["list_item"] * 3
    assert [block.kind for block in chapters("Article 1. Fees are due.\n\nArticle 2. Fees rise.")] == ["prose"] * 2
    typed = "It is closed.  Ring the bell.\nWait here.  Somebody comes.\nThen go 2 floors up.  Knock."
    assert [block.kind for block in chapters(typed)] == ["prose"]
    sonnet = "Two  spaces here\nbut not in this line\nnor in this one\nor that."
    named = "Tool   Summer   Winter\nDrill   20   15\nMower   40   30"
    assert [block.kind for text in (sonnet, named) for block in chapters(text)] == ["prose", "prose"]


@pytest.mark.parametrize(
    ("said", "date"),
    [
        ("2024-3-1", "2024-03-01"),
        ("2024.03.01", "2024-03-01"),
        ("2024-03-01 9:05", "2024-03-01T09:05:00"),
        ("2024-03-01T09:05:06Z", "2024-03-01T09:05:06+00:00"),
        ("2024-13-01", ""),
        ("soon", ""),
    ],
)
def test_dates_are_iso(said: str, date: str) -> None:
    assert iso_date(said) == date
