"""The learned weights of the choosing: a data file that `tests/bench/fit_choosing.py` makes, from sets that it names."""

from functools import cache
from pathlib import Path

import msgspec

FILE = Path(__file__).with_name("weights.json")


class FittedOn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A collection that the weights were fitted on: its questions, and how many of them its documents answer."""

    question_set: str = ""
    collection: str
    questions: int
    answerable: int


class Weights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`ranking` weighs a unit's features, and `none` is the score of there being no answer; `calibration`, with `bias`, gives the
    log-odds that what is shown answers.

    A feature that is not named weighs nothing.
    """

    ranking: dict[str, float]
    none: float = 0.0
    calibration: dict[str, float]
    bias: float
    fitted_on: tuple[FittedOn, ...] = ()


@cache
def weights() -> Weights:
    return msgspec.json.decode(FILE.read_bytes(), type=Weights)
