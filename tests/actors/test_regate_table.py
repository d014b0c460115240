"""The re-gate: each tier, and each boundary between two tiers."""

from itertools import combinations_with_replacement, product
from typing import NamedTuple

import pytest

from actors.gate.check import check_sentence
from actors.outcome.regate_table import TABLE, Confidence, Decision, decide, faults, verifier_strength
from prompts.contracts import Evidence


class Flag(NamedTuple):
    kind: str
    strength: str
    words: str = ""


class Contradiction(NamedTuple):
    type: str
    severity: str = "critical"


STRONG, WEAK = Flag("fabricated_number", "strong"), Flag("uncited", "weak")
NEGATION, NEGATION_MINOR = Contradiction("direct_negation"), Contradiction("direct_negation", "minor")
NUMBER, NUMBER_MINOR = Contradiction("numeric_conflict"), Contradiction("numeric_conflict", "minor")
MISMATCH, UNSUPPORTED = Contradiction("intent_core_mismatch"), Contradiction("unsupported_claim")
NUANCE = Contradiction("nuance")


def re_gate(
    *found: Flag | Contradiction, refused: bool = False, confidence: Confidence = "high", promote: bool = False
) -> Decision:
    flags = [one for one in found if isinstance(one, Flag)]
    contradictions = [one for one in found if isinstance(one, Contradiction)]
    return decide(flags, contradictions, refused, confidence, promote)  # type: ignore[arg-type]


def decision(tier: int, keep: bool, confidence: Confidence, re_gate: str) -> Decision:
    return Decision(tier=tier, keep=keep, confidence=confidence, re_gate=re_gate)


REFUSED = decision(1, False, "high", "refuse(model)")
TWO_STRONG = decision(2, False, "high", "refuse(grounding)")
BOTH_STRONG = decision(3, False, "high", "refuse(grounding+verifier)")
LOW = decision(5, True, "low", "low_confidence")
ROWS = [
    # tier 1: the model refused, despite all other flags
    (REFUSED, (), {"refused": True}),
    (REFUSED, (STRONG, STRONG), {"refused": True}),
    # tier 2: two strong gate flags; one is not enough, weak ones do not add up
    (TWO_STRONG, (STRONG, STRONG), {}),
    (TWO_STRONG, (STRONG, STRONG, NEGATION), {}),
    (LOW, (STRONG, WEAK, WEAK, WEAK), {}),
    # tier 3: one strong gate flag and one strong verifier flag that is not about a number
    (BOTH_STRONG, (STRONG, NEGATION), {}),
    (BOTH_STRONG, (STRONG, NEGATION_MINOR), {}),
    (LOW, (STRONG, MISMATCH), {}),
    (LOW, (WEAK, NEGATION), {}),
    # tier 4: one strong gate flag, one strong numeric verifier flag, confidence low: each of the three is needed
    (
        decision(4, False, "low", "refuse(grounding+verifier_numeric)"),
        (STRONG, NUMBER),
        {"confidence": "low", "promote": True},
    ),
    (LOW, (STRONG, NUMBER), {"confidence": "medium", "promote": True}),
    (LOW, (STRONG, NUMBER), {"confidence": "low"}),
    (LOW, (STRONG, NUMBER_MINOR), {"confidence": "low", "promote": True}),
    (LOW, (WEAK, NUMBER), {"confidence": "low", "promote": True}),
    (
        decision(3, False, "low", "refuse(grounding+verifier)"),
        (STRONG, NUMBER, NEGATION),
        {"confidence": "low", "promote": True},
    ),
    # tier 5: a strong flag of either kind
    (LOW, (STRONG,), {}),
    (LOW, (NEGATION,), {}),
    (LOW, (NUMBER,), {"promote": True}),
    # tier 6: a weak gate flag or a medium verifier flag; one step down, and low stays low
    (decision(6, True, "medium", "caution"), (WEAK,), {}),
    (decision(6, True, "medium", "caution"), (WEAK, WEAK, MISMATCH, UNSUPPORTED), {}),
    (decision(6, True, "low", "caution"), (MISMATCH,), {"confidence": "medium"}),
    (decision(6, True, "low", "caution"), (UNSUPPORTED,), {"confidence": "low"}),
    (decision(6, True, "medium", "caution"), (NUMBER,), {}),
    (decision(6, True, "medium", "caution"), (NUMBER_MINOR,), {"promote": True}),
    # tier 7: nothing; a nuance is weak and weighs nothing
    (decision(7, True, "high", "clean"), (), {}),
    (decision(7, True, "low", "clean"), (), {"confidence": "low"}),
    (decision(7, True, "medium", "clean"), (NUANCE, NUANCE), {"confidence": "medium"}),
]


@pytest.mark.parametrize(("expected", "found", "settings"), ROWS)
def test_the_first_row_that_matches_decides(
    expected: Decision, found: tuple[Flag | Contradiction, ...], settings: dict[str, bool]
) -> None:
    assert re_gate(*found, **settings) == expected  # type: ignore[arg-type]


def test_every_tier_has_a_test_in_order() -> None:
    assert [row.tier for row in TABLE] == [1, 2, 3, 4, 5, 6, 7]
    assert {expected.tier for expected, _, _ in ROWS} == {1, 2, 3, 4, 5, 6, 7}


@pytest.mark.parametrize(
    ("contradiction", "promote", "strength"),
    [
        (NEGATION, False, "strong"),
        (NEGATION_MINOR, False, "strong"),
        (NUMBER, False, "medium"),
        (NUMBER_MINOR, False, "medium"),
        (NUMBER, True, "strong"),
        (NUMBER_MINOR, True, "medium"),
        (MISMATCH, True, "medium"),
        (UNSUPPORTED, True, "medium"),
        (NUANCE, True, "weak"),
    ],
)
def test_the_strength_of_a_contradiction(contradiction: Contradiction, promote: bool, strength: str) -> None:
    assert verifier_strength(contradiction, promote) == strength


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_verifier_alone_neither_refuses_nor_raises_confidence(size: int) -> None:
    order = ("low", "medium", "high")
    kinds: list[Flag | Contradiction] = [NEGATION, NUMBER, NUMBER_MINOR, MISMATCH, UNSUPPORTED, NUANCE, WEAK]
    confidences: tuple[Confidence, ...] = ("low", "medium", "high")
    for found in combinations_with_replacement(kinds, size):
        for confidence, promote in product(confidences, (False, True)):
            decision = re_gate(*found, confidence=confidence, promote=promote)
            assert decision.keep
            assert order.index(decision.confidence) <= order.index(confidence)


def test_one_more_strong_flag_never_helps() -> None:
    kinds: list[Flag | Contradiction] = [STRONG, WEAK, NEGATION, NUMBER, MISMATCH, NUANCE]
    for found in combinations_with_replacement(kinds, 2):
        before, after = re_gate(*found), re_gate(*found, STRONG)
        assert after.tier <= before.tier
        assert after.keep <= before.keep


@pytest.mark.parametrize(
    ("said", "sentence", "tier"),
    [
        ("신청서 제출은 의무이다.", "신청서 제출은 권고이다 [1].", 5),
        ("Members must submit the form.", "Members should submit the form [1].", 5),
        ("Les membres doivent remettre le formulaire.", "Les membres peuvent remettre le formulaire [1].", 5),
        ("老师必须每天上课。", "老师建议每天上课[1]。", 5),
        ("Refunds are paid within 14 days of the return.", "“Refunds are paid within 30 days” [1].", 5),
        ("Members must submit the form within 14 days.", "Members may submit the form within 30 days [1].", 2),
        ("The 3 members get 14 days.", "The 30 members get 3000 days [1].", 2),
    ],
)
def test_one_fault_counts_once(said: str, sentence: str, tier: int) -> None:
    """The gate often finds one fault in two ways."""
    flags = check_sentence(sentence, [Evidence(n=1, source_id="a", title="", text=said)])
    assert sum(flag.strength == "strong" for flag in flags) > 1
    assert decide(faults(flags), (), False, "high", False).tier == tier


def test_weak_flags_all_count() -> None:
    weak = [Flag("uncited", "weak", "the fee"), Flag("low_overlap", "weak", "fee")]
    assert faults([Flag("fabricated_number", "strong", "3"), *weak]) == [
        Flag("fabricated_number", "strong", "3"),
        *weak,
    ]
