"""Check an answer without a model: the gate's findings as typed contradictions, and a language guard that changes nothing."""

from typing import Final

from actors.gate.check import check_answer
from actors.gate.flags import Flag
from prompts.contracts import Contradiction, Evidence, GuardLanguage, Verdict, VerifyAnswer
from prompts.vocabulary import ContradictionType, FlagKind

#: Gravest first, the order in which they are reported.
TYPES: Final[dict[FlagKind, ContradictionType]] = {
    "reversed_term": "direct_negation",
    "fabricated_number": "numeric_conflict",
    "fabricated_quote": "unsupported_claim",
    "unverified": "unsupported_claim",
}
MOST, LONGEST_CLAIM, LONGEST_REF, LONGEST_WHY = 5, 50, 50, 30


def verify_answer(prompt: VerifyAnswer) -> Verdict:
    """At most five contradictions, gravest first; only one backed by a strong flag is critical."""
    order = list(TYPES)
    flags = [f for f in check_answer(prompt.answer, prompt.evidence) if f.kind in TYPES]
    flags.sort(key=lambda f: order.index(f.kind))  # stable: in the order of the answer within a type
    found = tuple(_contradiction(f, prompt.evidence) for f in flags[:MOST])
    return Verdict(contradictions=found)


def guard_language(prompt: GuardLanguage) -> str:
    """The text unchanged: rules cannot translate, and a wrong translation is worse than none."""
    return prompt.text


def _contradiction(found: Flag, evidence: tuple[Evidence, ...]) -> Contradiction:
    said = next((e.text for e in evidence if e.n in found.evidence_n), "")
    ref = f"[{found.evidence_n[0]}] {' '.join(said.split())}" if found.evidence_n else ""
    return Contradiction(
        type=TYPES[found.kind],
        severity="critical" if found.strength == "strong" else "minor",
        claim=found.words[:LONGEST_CLAIM],
        evidence_ref=ref[:LONGEST_REF],
        explanation=found.why[:LONGEST_WHY],
    )
