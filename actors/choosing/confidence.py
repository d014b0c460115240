"""What a probability means for the person: whether an answer is shown as one, and how confident it is said to be."""

from typing import Final

from prompts.vocabulary import Confidence, Voice

#: The probability from which an answer is shown.
SHOWN_FROM: Final[dict[Voice, float]] = {"strict": 0.5, "helpful": 0.3}
HIGH, MEDIUM = 0.9, 0.7
#: The same for what rules chose under a profile that advises people about their health.
HIGH_ADVICE: Final = 0.95

_ORDER: Final[tuple[Confidence, ...]] = ("low", "medium", "high")


def shows(probability: float, voice: Voice) -> bool:
    return probability >= SHOWN_FROM[voice]


def confidence_of(probability: float) -> Confidence:
    return "high" if probability >= HIGH else "medium" if probability >= MEDIUM else "low"


def lower(one: Confidence, other: Confidence) -> Confidence:
    return min(one, other, key=_ORDER.index)
