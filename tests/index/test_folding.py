"""Texts that look the same get the same form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.languages.folding import fold, normal, visible


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("１２３４．５％", "1234.5%"),
        ("١٢٣٤٫٥", "1234.5"),
        ("۱۲۳", "123"),
        ("1\u202f234,5\u00a0€", "1 234,5 €"),
        ("L’État", "l'état"),
        ("km²", "km^2"),
        ("not\u200b al\u00adlowed\u202e", "not allowed"),
        ("الأُولى", "الاولي"),
        ("٣٠ ٪", "30 %"),
        ("–1—2", "-1-2"),
        ("e\u0301", "é"),
    ],
)
def test_normal(text: str, form: str) -> None:
    assert normal(text) == form


@given(st.text(max_size=60))
def test_normal_twice_is_normal_once(text: str) -> None:
    assert normal(normal(text)) == normal(text)


@given(st.text(max_size=60), st.integers(0, 60))
def test_invisible_characters_change_nothing(text: str, at: int) -> None:
    for hidden in "\u200b\u202e\u2066\ufeff\u00ad":
        assert visible(text[:at] + hidden + text[at:]) == visible(text)


def test_invisible_characters_do_not_hide_a_word() -> None:
    assert fold("re\u00adfund\u200b") == fold("Refund")
