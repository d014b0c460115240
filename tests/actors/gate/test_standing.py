"""What the flags of a sentence make of it, each kind by itself and together."""

from typing import get_args

import pytest

from actors.gate.flags import STRONG, Standing, flag, standing
from prompts.vocabulary import FlagKind

UNVERIFIED = {"low_overlap", "uncited", "unverified"}


@pytest.mark.parametrize("kind", get_args(FlagKind))
def test_each_kind_has_one_standing(kind: FlagKind) -> None:
    expected = "withheld" if kind in STRONG else "unverified" if kind in UNVERIFIED else "verified"
    assert standing([flag(kind, "words", (1,), "why")]) == expected


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ((), "verified"),
        (("wrong_language", "uncited"), "unverified"),
        (("unverified", "reversed_term"), "withheld"),
        (("reversed_term", "unverified"), "withheld"),
    ],
)
def test_worst_flag_decides(kinds: tuple[FlagKind, ...], expected: Standing) -> None:
    assert standing(flag(kind, "words", (1,), "why") for kind in kinds) == expected
