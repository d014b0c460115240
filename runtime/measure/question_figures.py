"""Figures about graded questions: shares with their intervals, lengths, times, and counts by group. Pure functions."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Final

import msgspec
import numpy as np

from index.text.passages import weigh
from runtime.measure.questions import GoldQuestion, Grade, Item, unmarked

_Z = statistics.NormalDist().inv_cdf(0.975)
_RESAMPLES, _SEED = 1000, 1


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """`found` of `of`, with the share and its 95 % interval, 0 to 1; None when there was nothing to count."""

    found: int
    of: int
    share: float | None
    low: float | None
    high: float | None


class Interval(msgspec.Struct, frozen=True):
    """A mean and its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


type Where = Callable[[Item], bool]


def _grade(name: Grade) -> Where:
    return lambda item: item.grade == name


def _band(name: str) -> Where:
    return lambda item: item.shown and item.seen.confidence == name


def _answerable(item: Item) -> bool:
    return item.asked.answerable


_SHOWN, _RIGHT = attrgetter("shown"), _grade("right")
#: Each share: what a person calls it, the items that it is of, and those of them that count.
SHARES: Final[Mapping[str, tuple[str, Where, Where]]] = {
    "right_of_shown": ("right of what is shown as an answer", _SHOWN, _RIGHT),
    "right": ("right of the answerable", _answerable, _RIGHT),
    "beside": ("beside the point", _answerable, _grade("beside")),
    "closest": ("closest passages only", _answerable, _grade("closest")),
    "refused": ("refused", _answerable, _grade("refused")),
    "failed": ("failed, of all", lambda item: True, _grade("failed")),
    "helped": ("helped: right, or gold in a passage shown", _answerable, attrgetter("helped")),
    "near_misses_shown": ("near misses shown an answer", lambda item: not _answerable(item), _SHOWN),
    "high_right": ("confidence high: right", _band("high"), _RIGHT),
    "high_of_answerable": ("confidence high, of the answerable", _answerable, _band("high")),
    "medium_right": ("confidence medium: right", _band("medium"), _RIGHT),
    "low_right": ("confidence low: right", _band("low"), _RIGHT),
    "too_long": ("too long", _SHOWN, attrgetter("too_long")),
}


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of a set by the names of SHARES; lengths in weights, times in seconds, None where nothing has one."""

    questions: int
    answerable: int
    shares: dict[str, Share]
    lengths: dict[str, float | None]


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of one kind, language or collection: of the answerable, and of the near misses those shown an answer."""

    answerable: int
    right: int
    beside: int
    closest: int
    refused: int
    failed: int
    helped: int
    near_misses: int
    near_misses_shown: int


def figures(items: Sequence[Item]) -> Figures:
    shown = [item for item in items if item.shown]
    weights = [item.weight for item in shown]
    close = [sum(weigh(unmarked(near.text)) for near in i.seen.passages) for i in items if i.grade == "closest"]
    first = sorted(item.seen.first_shown_s for item in shown if item.seen.first_shown_s is not None)
    return Figures(
        questions=len(items),
        answerable=sum(map(_answerable, items)),
        shares={name: share([i for i in items if of(i)], counts) for name, (_, of, counts) in SHARES.items()},
        lengths={
            "weight_median": statistics.median(weights) if weights else None,
            "weight_longest": max(weights, default=None),
            "closest_weight_median": statistics.median(close) if close else None,
            "closest_weight_longest": max(close, default=None),
            "first_word_p50_s": _percentile(first, 0.5),
            "first_word_p95_s": _percentile(first, 0.95),
        },
    )


def counts(items: Sequence[Item], group: Callable[[GoldQuestion], str]) -> dict[str, Counts]:
    """The counts of each group, in the order of their first questions."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(group(item.asked) or "-", []).append(item)
    return {name: _counts(of) for name, of in groups.items()}


def _counts(items: Sequence[Item]) -> Counts:
    answerable = [item for item in items if item.asked.answerable]
    grades = [item.grade for item in answerable]
    near = [item for item in items if not item.asked.answerable]
    return Counts(
        answerable=len(answerable),
        right=grades.count("right"),
        beside=grades.count("beside"),
        closest=grades.count("closest"),
        refused=grades.count("refused"),
        failed=grades.count("failed"),
        helped=sum(item.helped for item in answerable),
        near_misses=len(near),
        near_misses_shown=sum(item.shown for item in near),
    )


def share[Counted](items: Sequence[Counted], counted: Callable[[Counted], bool]) -> Share:
    found, of = sum(map(counted, items)), len(items)
    low, high = wilson(found, of) if of else (None, None)
    return Share(found=found, of=of, share=found / of if of else None, low=low, high=high)


def wilson(found: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson, 1927); `of` is above 0."""
    middle = (found + _Z**2 / 2) / (of + _Z**2)
    half = _Z / (of + _Z**2) * math.sqrt(found * (of - found) / of + _Z**2 / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


def interval(values: Sequence[float]) -> Interval:
    """Mean and percentile bootstrap over the values."""
    array = np.array(values)
    picks = np.random.default_rng(_SEED).integers(0, len(array), size=(_RESAMPLES, len(array)))
    means = array[picks].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(float(array.mean()), float(low), float(high))


def _percentile(ordered: Sequence[float], part: float) -> float | None:
    """The nearest rank."""
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)] if ordered else None
