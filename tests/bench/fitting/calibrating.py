"""Fit the probability that a choice answers: a logistic regression over its signs, stretched to what is promised for what is shown.

A sign may only speak the way that makes sense: its weight is held at zero otherwise.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from actors.choosing.signs import SIGNS, log_odds
from actors.choosing.weights import HIGH, Weights

type Numbers = NDArray[np.float64]
#: What weights lose, and the slope there.
type Loss = Callable[[Numbers], tuple[float, Numbers]]

#: What must not speak for a choice; every other sign must not speak against it.
AGAINST = frozenset(("far", "name", "year", "no_count", "row_without_column", "scattered", "negated"))
#: Strength of the penalty on large weights, in the scale of each sign's own spread.
PENALTY = 3.0
#: How much of what is shown should be right: of all from the probability .5 on, and of all from HIGH on.
RIGHT_OF_SHOWN, RIGHT_OF_HIGH = 0.81, 0.93


@dataclass(frozen=True, slots=True)
class Tried:
    """A choice on a collection that the ranking had not seen. `hidden`: the passages with the answer were left out."""

    collection: str
    signs: dict[str, float]
    right: bool
    weight: float
    hidden: bool = False


def calibrate(tried: Sequence[Tried]) -> Weights:
    """Weights of SIGNS, stretched by what they say of collections that they were not fitted on; of one alone, they are not.

    Choices of a weight below 1 take part in the weights alone: what is promised is promised for the sets that count in full.
    """
    real = [each for each in tried if not each.hidden and each.weight >= 1]
    odds = np.zeros(len(real))
    collections = {each.collection for each in real}
    if len(collections) < 2:
        return fitted_to(tried)
    for left_out in collections:
        fitted = fitted_to([each for each in tried if each.collection != left_out])
        for at, each in enumerate(real):
            if each.collection == left_out:
                odds[at] = log_odds(each.signs, fitted)
    return _stretched(fitted_to(tried), odds, np.array([each.right for each in real], dtype=np.float64))


def fitted_to(tried: Sequence[Tried], names: Sequence[str] = SIGNS) -> Weights:
    values = np.array([[each.signs[name] for name in names] for each in tried]).reshape(len(tried), len(names))
    right = np.array([each.right for each in tried], dtype=np.float64)
    weights = np.array([each.weight for each in tried])
    spread, mean = values.std(axis=0) + 1e-6, values.mean(axis=0)
    scaled = np.hstack([(values - mean) / spread, np.ones((len(values), 1))])
    loss = logistic(scaled, right, weights, np.array([PENALTY] * len(names) + [0.0]))
    found = minimised(loss, (*names, "bias"), np.append(spread, 1.0), AGAINST, frozenset(("bias",)))
    bias = found.pop("bias", 0.0) - sum(weight * mean[names.index(name)] for name, weight in found.items())
    return Weights(ranking={}, calibration=found, bias=round(float(bias), 4))


def _stretched(calibrated: Weights, odds: Numbers, right: Numbers) -> Weights:
    """The log-odds stretched so that RIGHT_OF_SHOWN of what is shown from .5 on is right, and RIGHT_OF_HIGH from HIGH on.

    `odds` are of choices on collections that they were not fitted on. How much is right is read from a logistic curve through
    these, since the counts themselves jump.
    """
    scaled = np.column_stack((odds, np.ones(len(odds))))
    loss = logistic(scaled, right, np.ones(len(right)), np.zeros(2))
    slope, bias = minimize(loss, np.array([1.0, 0.0]), jac=True, method="L-BFGS-B").x
    best_first = np.sort(odds)[::-1]
    chances = 1 / (1 + np.exp(-(slope * best_first + bias)))
    shares = np.cumsum(chances) / np.arange(1, len(chances) + 1)
    shown, high = (best_first[shares >= least][-1:] for least in (RIGHT_OF_SHOWN, RIGHT_OF_HIGH))
    if not len(high) or high[0] <= shown[0]:
        return calibrated
    by = np.log(HIGH / (1 - HIGH)) / (high[0] - shown[0])
    return msgspec.structs.replace(
        calibrated,
        calibration={name: round(float(by * weight), 4) for name, weight in calibrated.calibration.items()},
        bias=round(float(by * (calibrated.bias - shown[0])), 4),
    )


def logistic(values: Numbers, right: Numbers, weights: Numbers, penalty: Numbers) -> Loss:
    """The loss of a logistic regression over rows with weights; `penalty` is that on the square of each column's weight."""

    def loss(chosen: Numbers) -> tuple[float, Numbers]:
        odds = values @ chosen
        away = weights * (1 / (1 + np.exp(-odds)) - right)
        lost = (weights * (np.logaddexp(0, odds) - right * odds)).sum() + (penalty * chosen * chosen).sum() / 2
        return float(lost), values.T @ away + penalty * chosen

    return loss


def minimised(
    loss: Loss,
    names: Sequence[str],
    spread: Numbers,
    against: AbstractSet[str],
    either: AbstractSet[str],
) -> dict[str, float]:
    """What loses least, of each name: not above 0 where it is in `against`, of any sign in `either`, not below 0 elsewhere."""
    bounds = [(None, None) if n in either else (None, 0.0) if n in against else (0.0, None) for n in names]
    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", bounds=bounds).x / spread
    return {name: round(float(weight), 4) for name, weight in zip(names, found, strict=True) if abs(weight) >= 1e-4}
