"""The probability that a choice answers is fitted so that the shown answers keep the promise."""

import numpy as np
import pytest

from actors.choosing.confidence import HIGH
from actors.choosing.signs import SIGNS, probability
from runtime.measure.calibrating import AGAINST, RIGHT_OF_HIGH, RIGHT_OF_SHOWN, Tried, calibrate

COLLECTIONS = ("north", "east", "south", "west")


def tried(count: int, told: float) -> list[Tried]:
    """Choices with `shown` as their only informative sign."""
    draw = np.random.default_rng(0)
    found = []
    for at in range(count):
        shown = float(draw.normal())
        right = bool(draw.random() < 1 / (1 + np.exp(-(told * shown + 0.5))))
        values = dict.fromkeys(SIGNS, 0.0) | {"shown": shown, "lacking": -float(right)}
        found.append(Tried(COLLECTIONS[at % len(COLLECTIONS)], values, right, 1.0))
    return found


@pytest.mark.parametrize("told", [1.5, 3.0])
def test_promised_share_of_answers_is_right(told: float) -> None:
    found = [Tried(each.collection, each.signs | {"lacking": 0.0}, each.right, 1.0) for each in tried(4000, told)]
    fitted = calibrate(found)
    for least, promised in ((0.5, RIGHT_OF_SHOWN), (HIGH, RIGHT_OF_HIGH)):
        shown = [each.right for each in found if probability(each.signs, fitted) >= least]
        assert sum(shown) / len(shown) == pytest.approx(promised, abs=0.02)


def test_hidden_passages_do_not_change_the_promise() -> None:
    found = [Tried(each.collection, each.signs | {"lacking": 0.0}, each.right, 1.0) for each in tried(2000, 2.0)]
    hidden = [
        Tried(each.collection, each.signs | {"shown": each.signs["shown"] - 1}, False, 0.25, hidden=True)
        for each in found
    ]
    fitted = calibrate(found + hidden)
    shown = [each.right for each in found if probability(each.signs, fitted) >= 0.5]
    assert sum(shown) / len(shown) == pytest.approx(RIGHT_OF_SHOWN, abs=0.02)


def test_sign_weights_have_the_right_sign() -> None:
    against = calibrate(
        [Tried(e.collection, e.signs | {"score": -float(e.right)}, e.right, 1.0) for e in tried(800, 1.0)]
    )
    assert "score" not in against.calibration
    assert all(weight <= 0 if name in AGAINST else weight >= 0 for name, weight in against.calibration.items())


def test_uncertain_choices_are_not_stretched() -> None:
    never = [Tried(each.collection, each.signs, False, 1.0) for each in tried(200, 1.0)]
    assert all(probability(each.signs, calibrate(never)) < 0.5 for each in never[:5])
