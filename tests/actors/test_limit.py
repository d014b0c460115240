"""The shown part of a text with a token limit."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from actors.text.limit import TextLimit, limited, tokens_in
from bus.powers.events import tokens_of
from bus.wire.parts import Constraints

TEXT = "Refunds are paid within 14 days [1]. The fee is not refunded [2]."


@pytest.mark.parametrize(
    ("constraints", "shown", "cut"),
    [
        (Constraints(), TEXT, UNSET),
        (Constraints(max_tokens=13), TEXT, UNSET),
        (Constraints(max_tokens=10), "Refunds are paid within 14 days [1]. The fee is…", "length"),
        (Constraints(max_tokens=7), "Refunds are paid within 14 days [1].", "length"),
        (Constraints(max_tokens=1), "Refunds…", "length"),
    ],
)
def test_shown_part_of_a_text(constraints: Constraints, shown: str, cut: object) -> None:
    assert limited(TEXT, constraints) == (shown, cut)


@pytest.mark.parametrize("text", [TEXT, "退款在十四天内支付，费用不退。", "\n Refunds — in\t14 days… or so… "])
def test_counted_tokens_match_released_tokens(text: str) -> None:
    for most in range(1, 20):
        shown, cut = limited(text, Constraints(max_tokens=most))
        assert tokens_in(shown) == most if cut else tokens_in(shown) <= most


@given(
    st.lists(st.integers(0, len(TEXT)), max_size=8),
    st.integers(1, 14) | st.none(),
)
def test_pieces_are_cut_like_the_whole(cuts: list[int], most: int | None) -> None:
    constraints = Constraints(max_tokens=most)
    limit = TextLimit(constraints)
    starts = [sum(map(len, tokens_of(TEXT)[:n])) for n in range(len(tokens_of(TEXT)) + 1)]
    places = sorted({min(starts, key=lambda start: abs(start - cut)) for cut in (0, *cuts, len(TEXT))})
    shown: list[str] = []
    for start, end in itertools.pairwise(places):
        shown += limit.take(tokens_of(TEXT[start:end]))
    whole, cut = limited(TEXT, constraints)
    assert "".join(shown).rstrip() == whole.rstrip()
    assert limit.cut == cut
    assert most is None or len([token for token in shown if token.strip() not in ("", "…")]) <= most


def test_what_was_shown_before_counts() -> None:
    limit = TextLimit(Constraints(max_tokens=3), "Refunds are")
    assert limit.take([" paid", " within"]) == [" paid", "…"]
    assert limit.cut == "length"
