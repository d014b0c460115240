"""The learned weights of the choosing, which `tests/bench/fit_choosing.py` makes, and what a probability means for a person."""

from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from prompts.vocabulary import Confidence, Voice

FILE = Path(__file__).with_name("weights.json")


class FittedOn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A collection that the weights were fitted on: its questions, and how many of them its documents answer."""

    question_set: str = ""
    collection: str
    questions: int
    answerable: int


class Weights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`ranking` weighs a unit's features, and `none` is the score of there being no answer; `calibration`, with `bias`, gives the
    log-odds that what is shown answers; `given` and `given_bias` do so for passages that came with the question.

    A feature that is not named weighs nothing.
    """

    ranking: dict[str, float]
    none: float = 0.0
    calibration: dict[str, float]
    bias: float
    given: dict[str, float] = {}
    given_bias: float = 0.0
    fitted_on: tuple[FittedOn, ...] = ()


@cache
def weights() -> Weights:
    return msgspec.json.decode(FILE.read_bytes(), type=Weights)


@cache
def given_weights() -> Weights:
    learned = weights()
    return msgspec.structs.replace(learned, calibration=learned.given, bias=learned.given_bias)


#: The probability from which an answer is shown.
SHOWN_FROM: Final[dict[Voice, float]] = {"strict": 0.5, "helpful": 0.3}
#: The same where no document is in the question's language: words of another match by chance, as names and numbers do.
SHOWN_ABROAD_FROM: Final = 0.75
HIGH, MEDIUM = 0.9, 0.7
#: The same for what rules chose under a profile that advises people about their health.
HIGH_ADVICE: Final = 0.95
#: The highest probability of a choice that is not clear, and of one that lacks a name: just below HIGH and MEDIUM.
BELOW_HIGH: Final = 0.899
BELOW_MEDIUM: Final = 0.699

_ORDER: Final[tuple[Confidence, ...]] = ("low", "medium", "high")


def shows(probability: float, voice: Voice, *, advises: bool = False) -> bool:
    """Whether an answer is shown. `advises`: to people about their health, so no low confidence unless it may be only helpful."""
    return probability >= (MEDIUM if advises and voice == "strict" else SHOWN_FROM[voice])


def confidence_of(probability: float) -> Confidence:
    return "high" if probability >= HIGH else "medium" if probability >= MEDIUM else "low"


def lower(one: Confidence, other: Confidence) -> Confidence:
    return min(one, other, key=_ORDER.index)
