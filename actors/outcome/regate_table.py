"""The re-gate as data: one row per tier; the first row that matches decides what becomes of an answer.

The gate's flags and the verifier's contradictions are counted once; a row has the counts that it takes to match. The
verifier alone never refuses: every refusing row, except for the model's own refusal, requires a strong flag from the gate.
"""

import re
from collections.abc import Iterable
from typing import Literal, Protocol

import msgspec

from actors.gate.flags import Weighed
from prompts.vocabulary import Confidence

Strength = Literal["strong", "medium", "weak"]
Step = Literal["refuse", "lowest", "down", "same"]

_ONE_DOWN: dict[Confidence, Confidence] = {"high": "medium", "medium": "low", "low": "low"}


class VerifierFlag(Protocol):
    """The part of a verifier's contradiction that is read here."""

    @property
    def type(self) -> str: ...
    @property
    def severity(self) -> str: ...


class FlagCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The counts that rows are matched against."""

    refused: int = 0  # 1 when the model refused
    strong_gate: int = 0
    mostly_withheld: int = 0  # 1 unless more sentences that cite stay than have a strong flag of the gate
    weak_gate: int = 0
    strong_meaning: int = 0  # strong verifier flags that are not about a number
    strong_number: int = 0
    medium: int = 0  # medium verifier flags
    low_confidence: int = 0  # 1 when the confidence is low


class RegateRow(msgspec.Struct, frozen=True, kw_only=True):
    """A tier; it matches when any of `when` is reached in all its counts."""

    tier: int
    when: tuple[FlagCounts, ...]
    step: Step
    re_gate: str


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of the answer. A refused one keeps its `confidence`."""

    tier: int
    keep: bool
    confidence: Confidence
    re_gate: str


TABLE: tuple[RegateRow, ...] = (
    RegateRow(tier=1, when=(FlagCounts(refused=1),), step="refuse", re_gate="refuse(model)"),
    RegateRow(tier=2, when=(FlagCounts(strong_gate=2, mostly_withheld=1),), step="refuse", re_gate="refuse(grounding)"),
    RegateRow(
        tier=3, when=(FlagCounts(strong_gate=1, strong_meaning=1),), step="refuse", re_gate="refuse(grounding+verifier)"
    ),
    RegateRow(
        tier=4,
        when=(FlagCounts(strong_gate=1, strong_number=1, low_confidence=1),),
        step="refuse",
        re_gate="refuse(grounding+verifier_numeric)",
    ),
    RegateRow(
        tier=5,
        when=(FlagCounts(strong_gate=1), FlagCounts(strong_meaning=1), FlagCounts(strong_number=1)),
        step="lowest",
        re_gate="low_confidence",
    ),
    RegateRow(tier=6, when=(FlagCounts(weak_gate=1), FlagCounts(medium=1)), step="down", re_gate="caution"),
    RegateRow(tier=7, when=(FlagCounts(),), step="same", re_gate="clean"),
)


def decide(
    flags: Iterable[Weighed],
    contradictions: Iterable[VerifierFlag],
    refused: bool,
    confidence: Confidence,
    numeric_promote: bool,
    *,
    mostly_withheld: bool = True,
) -> Decision:
    """The decision of the first row that matches. `numeric_promote` makes a critical numeric conflict strong."""
    counts = count(flags, contradictions, refused, confidence, numeric_promote, mostly_withheld=mostly_withheld)
    row = next(row for row in TABLE if any(_reached(counts, wanted) for wanted in row.when))
    after: dict[Step, Confidence] = {
        "refuse": confidence,
        "lowest": "low",
        "down": _ONE_DOWN[confidence],
        "same": confidence,
    }
    return Decision(tier=row.tier, keep=row.step != "refuse", confidence=after[row.step], re_gate=row.re_gate)


def count(
    flags: Iterable[Weighed],
    contradictions: Iterable[VerifierFlag],
    refused: bool,
    confidence: Confidence,
    numeric_promote: bool,
    *,
    mostly_withheld: bool = True,
) -> FlagCounts:
    """Count everything the table weighs."""
    gate = [flag.strength for flag in flags]
    weighed = [(one.type == "numeric_conflict", verifier_strength(one, numeric_promote)) for one in contradictions]
    return FlagCounts(
        refused=int(refused),
        strong_gate=gate.count("strong"),
        mostly_withheld=int(mostly_withheld),
        weak_gate=gate.count("weak"),
        strong_meaning=weighed.count((False, "strong")),
        strong_number=weighed.count((True, "strong")),
        medium=sum(strength == "medium" for _, strength in weighed),
        low_confidence=int(confidence == "low"),
    )


def verifier_strength(contradiction: VerifierFlag, numeric_promote: bool) -> Strength:
    """The strength of one contradiction, by its type; severity counts for numbers only, and only when promoted."""
    if contradiction.type == "direct_negation":
        return "strong"
    if contradiction.type == "nuance":
        return "weak"
    if contradiction.type == "numeric_conflict" and numeric_promote and contradiction.severity == "critical":
        return "strong"
    return "medium"


def faults[F: Weighed](flags: Iterable[F]) -> list[F]:
    """The flags of one sentence; of several strong ones about the same words, which are one fault, only the first."""
    found: list[F] = []
    for one in flags:
        if one.strength == "weak" or not any(each.strength == "strong" and _share(each, one) for each in found):
            found.append(one)
    return found


def _share(first: Weighed, second: Weighed) -> bool:
    """Whether a word of one is, or belongs to, a word of the other; a number is only equal to itself."""
    words, others = (re.findall(r"\w+", each.words.casefold()) for each in (first, second))
    return any(
        word == other
        or (min(len(word), len(other)) > 1 and not (word + other).isdecimal() and (word in other or other in word))
        for word in words
        for other in others
    )


def _reached(counts: FlagCounts, wanted: FlagCounts) -> bool:
    return all(getattr(counts, name) >= getattr(wanted, name) for name in FlagCounts.__struct_fields__)
