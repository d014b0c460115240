"""Stems: forms of one word meet, different words stay different, and an affix leaves enough of the word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.languages.folding import fold
from index.languages.stems import Affix, affixes, stem


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("opened", "opening"),
        ("libraries", "library"),
        ("planned", "planning"),
        ("remboursements", "remboursement"),
        ("도서관은", "도서관에서"),
        ("신청할", "신청을"),
        ("الطلاب", "لطلاب"),
        ("والكتب", "الكتب"),
        ("1,964", "1964"),
    ],
)
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert stem(fold(one)) == stem(fold(other))


@pytest.mark.parametrize(("one", "other"), [("opened", "closed"), ("도서관", "박물관"), ("مكتبة", "متحف")])
def test_different_words_have_different_stems(one: str, other: str) -> None:
    assert stem(fold(one)) != stem(fold(other))


def test_first_matching_affix_row_counts() -> None:
    assert affixes(["3 s ication=ic", "2 ies=y s"]) == {
        "s": Affix(3, ""),
        "ication": Affix(3, "ic"),
        "ies": Affix(2, "y"),
    }


def test_longest_affix_with_enough_left_is_cut() -> None:
    assert [stem(word) for word in ("communications", "cations")] == ["communic", "cation"]


@given(st.text(st.characters(categories=["L"]), min_size=1, max_size=12))
def test_a_stem_is_never_empty(word: str) -> None:
    assert stem(word)
