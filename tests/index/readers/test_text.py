"""Plain text leaves nothing out, and dates are ISO."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.model import Document
from index.readers.front_matter import iso_date
from index.readers.text import chapters
from tests.documents.written import assert_sliced


@given(
    st.lists(
        st.sampled_from([*"ab:.`~-1)①가\n\t 제장", "\n\n", "- ", "1. ", "```", "    ", "Chapter 1\n"]), max_size=60
    ).map("".join)
)
@settings(max_examples=300)
def test_every_word_is_in_a_block(text: str) -> None:
    for titled in (False, True):
        assert_sliced(Document(source_id="a", title="a", text=text, blocks=chapters(text, titled=titled)))


def test_short_line_of_a_record_is_no_heading() -> None:
    assert [block.kind for block in chapters("READ FIRST\n\nWho to ring\nAnn Hill rings.")] == ["prose", "prose"]


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
