"""Markers in every notation are found, and nothing else in brackets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.text.citations import markers, strip_markers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("So it is [1].", [(1,)]),
        ("So it is [1, 2] and [4,2].", [(1, 2), (4, 2)]),
        ("So it is [1-3].", [(1, 2, 3)]),
        ("So it is [1–3, 7].", [(1, 2, 3, 7)]),
        ("So it is [1][3].", [(1,), (3,)]),
        ("是的［１］。好【2】", [(1,), (2,)]),
        ("是的［１、２］", [(1, 2)]),
        ("نعم [١، ٣]", [(1, 3)]),
        ("نعم [٢-٤]", [(2, 3, 4)]),
        ("hidden [\u200b1\u200b2]", [(12,)]),
        ("[3-1]", [(3, 1)]),
        ("[1-999]", [(1, 999)]),
        ("[^1]", [(1,)]),
        ("see [here], [a1], [], [2024], (1), [1.5]", []),
    ],
)
def test_markers(text: str, numbers: list[tuple[int, ...]]) -> None:
    assert [marker.numbers for marker in markers(text)] == numbers


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("So it is [1]. And [2, 3] so.", "So it is. And so."),
        ("그렇다[1][2].", "그렇다."),
        ("是的［１］。", "是的。"),
        ("none", "none"),
    ],
)
def test_strip_markers(text: str, stripped: str) -> None:
    assert strip_markers(text) == stripped


@given(st.text(alphabet="[]［】１1٢,-– a。\u200b", max_size=30))
def test_offsets_are_into_the_text(text: str) -> None:
    at = 0
    for marker in markers(text):
        assert at <= marker.start < marker.end <= len(text)
        assert text[marker.start] in "[［【〔"
        assert text[marker.end - 1] in "]］】〕"
        at = marker.end
