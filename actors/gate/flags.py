"""The gate's flags on a sentence: which words, against which evidence, why, and how strongly."""

from typing import Final

import msgspec

from prompts.vocabulary import FlagKind, FlagStrength

#: Flags of sentences that no release may show: an answer that showed one is withdrawn.
STRONG: Final = frozenset(
    {
        "citation_out_of_range",
        "fabricated_address",
        "fabricated_number",
        "fabricated_quote",
        "repeated_prompt",
        "reversed_term",
        "thinking",
        "unsupported",
    }
)


class Flag(msgspec.Struct, frozen=True, kw_only=True):
    """`words` are from the sentence, `evidence_n` the evidence they were checked against, `why` one line for a person."""

    kind: FlagKind
    strength: FlagStrength
    words: str
    evidence_n: tuple[int, ...]
    why: str


def flag(kind: FlagKind, words: str, evidence_n: tuple[int, ...], why: str) -> Flag:
    """A flag with the strength that its kind always has."""
    strength: FlagStrength = "strong" if kind in STRONG else "weak"
    return Flag(kind=kind, strength=strength, words=words, evidence_n=evidence_n, why=why)
