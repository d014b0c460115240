"""Fit the weights by which answers are chosen, and judge them on collections that they were not fitted on.

The ranking is a linear softmax over the units of a question; the calibration a logistic regression over what speaks for the
whole choice. A feature may only speak the way that makes sense: its weight is held at zero otherwise. Every figure comes from
weights that were fitted without the collection it is about.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from actors.choosing.asked import Asked
from actors.choosing.choose import rank, to_show
from actors.choosing.features import FEATURES
from actors.choosing.rows import MOST_OF_ROW, look_up, told
from actors.choosing.signs import Ranked, probability, signs
from actors.choosing.weights import FittedOn, Weights
from bus.wire.parts import Passage
from runtime.measure.questions import GoldQuestion, shows
from tests.bench.fitting.calibrating import Numbers, Tried, calibrate, minimised

#: What must not speak for a unit, and what may speak either way; everything else must not speak against it.
AGAINST = frozenset(("identifiers_missing", "likely_missing", "asks", "row_without_column"))
EITHER = frozenset(("length", "row", "code", "list", "steps", "none"))
#: Strength of the penalty on large weights, in the scale of each feature's own spread.
RANKING_PENALTY = 10.0
#: What a question without its passages counts as an example of one without an answer.
HIDDEN = 0.25


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the passages found for it. `hidden`: the passages without those that hold its answer; empty for none."""

    question: GoldQuestion
    collection: str
    asked: Asked
    passages: tuple[Passage, ...]
    hidden: tuple[Passage, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Judged:
    """A choice on a collection that the ranking had not seen. `right`: what would be shown holds the answer."""

    example: Example
    signs: dict[str, float]
    right: bool
    hidden: dict[str, float] | None
    near: bool


def text_of(ranked: Ranked, asked: Asked) -> str:
    """What is shown of a unit, with what introduces it."""
    unit = ranked.unit
    if unit.kind == "table_row" and unit.weight > MOST_OF_ROW:
        best = look_up(asked, unit.text).best
        return told(unit.text, asked.text, asked.language, unit.text[best.start : best.end] if best else "")
    return f"{unit.intro}\n{unit.text}" if unit.intro else unit.text


def holds_gold(question: GoldQuestion, text: str) -> bool:
    return question.answerable and shows(text, question.gold, question.gold_also)


def passage_holds_gold(question: GoldQuestion, passage: Passage) -> bool:
    """Whether a passage holds the answer; of a table, one row of it."""
    if not question.gold_also:
        return holds_gold(question, passage.text)
    blocks = (passage.text[b.start - passage.char_start : b.end - passage.char_start] for b in passage.blocks)
    return any(holds_gold(question, text) for text in (*blocks, *passage.text.splitlines()))


def fit(
    examples: Sequence[Example], tell: Callable[[int], None] = lambda done: None
) -> tuple[Weights, list[Judged], list[float]]:
    """The weights of all examples; the choices for each, ranked without its collection; and their probabilities, likewise.

    `tell` hears how many examples were gone through; each is twice.
    """
    rows: list[_Rows] = []
    for at, example in enumerate(examples):
        rows += _rows(example)
        tell(at + 1)
    done = len(examples)
    collections = sorted({example.collection for example in examples})
    judged: list[Judged] = [None] * len(examples)  # type: ignore[list-item]
    for left_out in collections:
        ranked_by = _fit_ranking([row for row in rows if row.collection != left_out])
        for at, example in enumerate(examples):
            if example.collection == left_out:
                judged[at] = judge(example, ranked_by)
                tell(done := done + 1)
    chances = [0.0] * len(examples)
    tried = _tried(judged)
    for left_out in collections:
        calibrated = calibrate([each for each in tried if each.collection != left_out])
        for at, each in enumerate(judged):
            if each.example.collection == left_out and each.signs:
                chances[at] = probability(each.signs, calibrated)
    calibrated = calibrate(tried)
    fitted_on = tuple(
        FittedOn(
            collection=name,
            questions=sum(e.collection == name for e in examples),
            answerable=sum(e.collection == name and e.question.answerable for e in examples),
        )
        for name in collections
    )
    learned = msgspec.structs.replace(
        _fit_ranking(rows), calibration=calibrated.calibration, bias=calibrated.bias, fitted_on=fitted_on
    )
    return learned, judged, chances


def judge(example: Example, learned: Weights) -> Judged:
    """What would be shown for a question, with and without the passages that hold its answer."""
    found, right, near = _choice(example, example.passages, learned)
    hidden = _choice(example, example.hidden, learned)[0] if example.hidden else None
    return Judged(example, found, right, hidden or None, near)


def _choice(example: Example, passages: Sequence[Passage], learned: Weights) -> tuple[dict[str, float], bool, bool]:
    ranked = rank(example.asked, passages, learned)
    if not ranked:
        return {}, False, False
    shown = to_show(example.asked, ranked)
    right = any(
        holds_gold(example.question, text_of(each, _in_its_language(example, passages, each))) for each in shown
    )
    closest = list(dict.fromkeys(each.unit.passage for each in ranked))[:5]
    near = any(passage_holds_gold(example.question, passages[at]) for at in closest)
    return signs(example.asked, ranked, shown, passages), right, near


def _tried(judged: Sequence[Judged]) -> list[Tried]:
    """Every choice, and those for questions without their passages, which count HIDDEN and are never right."""
    found = [
        Tried(each.example.collection, each.signs, each.right, each.example.weight) for each in judged if each.signs
    ]
    return found + [
        Tried(each.example.collection, each.hidden, False, HIDDEN * each.example.weight, hidden=True)
        for each in judged
        if each.hidden
    ]


@dataclass(frozen=True, slots=True)
class _Rows:
    """The features of every unit of a question, and which units hold the answer; with none of them, there is none."""

    collection: str
    values: Numbers
    right: NDArray[np.bool_]
    weight: float


def _rows(example: Example) -> Iterator[_Rows]:
    """The units of a question and, as an example of no answer, those of its passages without the answer."""
    yield _row(example, example.passages, example.weight)
    if example.hidden:
        yield _row(example, example.hidden, HIDDEN * example.weight)


def _row(example: Example, passages: Sequence[Passage], weight: float) -> _Rows:
    ranked = rank(example.asked, passages, Weights(ranking={}, calibration={}, bias=0.0))
    values = np.array([each.values for each in ranked], dtype=np.float64).reshape(len(ranked), len(FEATURES))
    right = np.array(
        [holds_gold(example.question, text_of(each, _in_its_language(example, passages, each))) for each in ranked],
        dtype=np.bool_,
    )
    return _Rows(example.collection, values, right, weight)


def _in_its_language(example: Example, passages: Sequence[Passage], ranked: Ranked) -> Asked:
    return example.asked.in_language(passages[ranked.unit.passage].language)


def _fit_ranking(rows: Sequence[_Rows]) -> Weights:
    """The weights under which the units that hold the answer get most of the probability of their question.

    Beside the units of each question stands one more row, which is right when none of them is.
    """
    telling = [row for row in rows if len(row.right) and not row.right.all()]
    sizes = [1 + len(row.right) for row in telling]
    starts, question = np.cumsum([0, *sizes[:-1]]), np.repeat(np.arange(len(sizes)), sizes)
    none = np.zeros(len(question))
    none[starts] = 1.0
    units = none == 0.0
    values = np.vstack([row.values for row in telling])
    spread, mean = values.std(axis=0) + 1e-6, values.mean(axis=0)
    scaled = np.zeros((len(question), len(FEATURES) + 1))
    scaled[units, :-1] = (values - mean) / spread
    scaled[:, -1] = none
    right = np.zeros(len(question))
    right[units] = np.concatenate([row.right for row in telling])
    right[starts] = [float(not row.right.any()) for row in telling]
    weights = np.array([row.weight for row in telling])

    def loss(chosen: Numbers) -> tuple[float, Numbers]:
        scores = scaled @ chosen
        odds = np.exp(scores - np.maximum.reduceat(scores, starts)[question])
        whole, held = np.add.reduceat(odds, starts), np.add.reduceat(odds * right, starts) + 1e-12
        away = odds / whole[question] - odds * right / held[question]
        penalty = np.append(chosen[:-1], 0.0)
        lost = float(-(weights * np.log(held / whole)).sum() + RANKING_PENALTY / 2 * penalty @ penalty)
        return lost, scaled.T @ (weights[question] * away) + RANKING_PENALTY * penalty

    found = minimised(loss, (*FEATURES, "none"), np.append(spread, 1.0), AGAINST, EITHER)
    # A unit's features are not centred when it is ranked, so none is moved instead.
    offset = sum(weight * mean[FEATURES.index(name)] for name, weight in found.items() if name != "none")
    return Weights(ranking=found, none=round(found.pop("none", 0.0) + float(offset), 4), calibration={}, bias=0.0)
