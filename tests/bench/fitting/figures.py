"""Figures about fitted weights: what would be shown from each probability on, by band, and predicted against measured.

Pure functions over choices whose probability comes from weights that had not seen their collection.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from actors.choosing.signs import probability
from actors.choosing.weights import HIGH, MEDIUM, SHOWN_FROM, Weights, confidence_of
from prompts.vocabulary import Confidence
from runtime.measure.question_figures import Share, share
from tests.bench.fitting.choosing import Example, Judged, judge

THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
STRICT = SHOWN_FROM["strict"]
_TENTHS = 10


@dataclass(frozen=True, slots=True)
class Chosen:
    """A question with what was chosen for it. `right`: it holds the answer; `near`: one of the closest passages does."""

    collection: str
    answerable: bool
    right: bool
    near: bool
    probability: float


@dataclass(frozen=True, slots=True)
class From:
    """What a person sees when answers are shown from a probability on; `helped`: right, or with the answer among the closest."""

    threshold: float
    right_of_shown: Share
    right: Share
    near_misses_shown: Share
    helped: Share


@dataclass(frozen=True, slots=True)
class Band:
    """What is shown with one confidence, from a probability on: how much of it is right, and its part of all that is shown."""

    name: Confidence
    least: float
    right: Share
    of_shown: Share


@dataclass(frozen=True, slots=True)
class Tenth:
    """The choices within a tenth of the scale of probability: the mean predicted, and how many are right."""

    predicted: float
    measured: Share


def chosen(judged: Sequence[Judged], chances: Sequence[float]) -> list[Chosen]:
    return [
        Chosen(each.example.collection, each.example.question.answerable, each.right, each.near, chance)
        for each, chance in zip(judged, chances, strict=True)
    ]


def scored(example: Example, learned: Weights) -> Chosen:
    """What the weights choose for a question that they were not fitted on."""
    each = judge(example, learned)
    return chosen([each], [probability(each.signs, learned) if each.signs else 0.0])[0]


def shown_from(items: Sequence[Chosen], threshold: float) -> From:
    """The figures when every choice of at least this probability is shown as an answer."""
    answerable = [one for one in items if one.answerable]
    return From(
        threshold=threshold,
        right_of_shown=share([one for one in items if one.probability >= threshold], lambda one: one.right),
        right=share(answerable, lambda one: one.right and one.probability >= threshold),
        near_misses_shown=share([one for one in items if not one.answerable], lambda one: one.probability >= threshold),
        helped=share(answerable, lambda one: one.right if one.probability >= threshold else one.near),
    )


def bands(items: Sequence[Chosen]) -> list[Band]:
    """The bands of confidence, the surest first, of what the strict voice shows."""
    shown = [one for one in items if one.probability >= STRICT]
    least: dict[Confidence, float] = {"high": HIGH, "medium": MEDIUM, "low": STRICT}
    named = [(confidence_of(one.probability), one.right) for one in shown]

    def band(name: Confidence) -> Band:
        return Band(
            name=name,
            least=least[name],
            right=share([right for of, right in named if of == name], bool),
            of_shown=share(named, lambda one: one[0] == name),
        )

    return [band(name) for name in least]


def tenths(items: Sequence[Chosen]) -> list[Tenth]:
    """The tenths of the scale that hold a choice, from 0 up; a near miss is never right."""
    edges = [k / _TENTHS for k in range(_TENTHS)] + [1.01]
    found = ([one for one in items if low <= one.probability < high] for low, high in pairwise(edges))
    return [
        Tenth(sum(one.probability for one in group) / len(group), share(group, lambda one: one.right))
        for group in found
        if group
    ]


def calibration_error(groups: Sequence[Tenth]) -> float:
    """The mean distance of predicted and measured, weighed by the choices in each group (Naeini et al., 2015)."""
    whole = sum(one.measured.of for one in groups)
    return sum(abs(one.predicted * one.measured.of - one.measured.found) for one in groups) / whole
