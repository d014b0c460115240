"""The gate's flags on a sentence: which words, against which evidence, why, and how strongly; and what they make of it."""

from collections.abc import Iterable
from typing import Final, Literal, Protocol

import msgspec

from prompts.vocabulary import FlagKind, FlagStrength

#: `verified`: the cited text says it; `unverified`: nothing contradicts it, but it goes beyond the cited text; `withheld`: it is
#: not to be shown.
Standing = Literal["verified", "unverified", "withheld"]

#: Weak flags of sentences that go beyond what they cite. Other weak flags are about the form of a sentence. A number that is
#: nowhere is weak where the sentence may be another wording, and stays whatever a model says of it.
BEYOND: Final = frozenset({"fabricated_number", "low_overlap", "uncited", "unverified"})

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


class Weighed(Protocol):
    """The part of a flag that decides; the flags of the gate and those of messages have it."""

    @property
    def kind(self) -> FlagKind: ...
    @property
    def strength(self) -> FlagStrength: ...
    @property
    def words(self) -> str: ...


def standing(flags: Iterable[Weighed]) -> Standing:
    """What becomes of a sentence with these flags."""
    found = {one.strength if one.strength == "strong" else one.kind for one in flags}
    return "withheld" if "strong" in found else "unverified" if found & BEYOND else "verified"


def flag(kind: FlagKind, words: str, evidence_n: tuple[int, ...], why: str) -> Flag:
    """A flag with the strength that its kind always has."""
    strength: FlagStrength = "strong" if kind in STRONG else "weak"
    return Flag(kind=kind, strength=strength, words=words, evidence_n=evidence_n, why=why)
