"""Fit the weights by which the gate tells a paraphrase from a sentence that goes beyond its evidence.

A logistic regression over the gate's signs, on sentences that people have labelled. Sets differ in difficulty, so each has an
intercept of its own, which is thrown away; the bias is set by a promise about true sentences of answers. Every figure comes from
weights that were fitted without the set that it is about.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from actors.gate.check import check_sentence, objections, withholds
from actors.gate.markup import without_markup
from actors.gate.overlap import is_factual
from actors.gate.support import SHAPE, SIGNS, Weights, is_judged, signs
from runtime.measure.gate_scores import SUPPORTED, Line, cited
from tests.bench.fitting.calibrating import logistic, minimised

#: The share of true sentences of answers that may be marked or withheld.
MAY_DOUBT = 0.215
#: What a pair of sentences counts beside a sentence of an answer: pairs are shorter and freer than answers.
PAIR_WEIGHT = 0.25
#: Each label of a set counts as this many sentences.
SET_SIZE = 150.0
PENALTY = 3.0


@dataclass(frozen=True, slots=True)
class Labelled:
    """A sentence with its signs; none if it is not judged by them. `group`: the sets of one kind in several languages; `marked`:
    whether the rules alone make it unverified.
    """

    group: str
    supported: bool
    withheld: bool
    marked: bool
    signs: dict[str, float] | None
    of_answer: bool


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What weights fitted without a set do with its sentences, as shares of its supported and of its other sentences."""

    group: str
    sentences: int
    withheld: tuple[float, float]
    doubted: tuple[float, float]


def labelled(line: Line, group: str, *, of_answer: bool) -> Labelled:
    evidence = line.numbered()
    sentence, texts = without_markup(line.answer), [without_markup(item.text) for item in evidence]
    found = objections(sentence, evidence)
    judged = is_factual(sentence) and is_judged(sentence, texts)
    measured = signs(sentence, texts) if judged else None
    shown = not withholds(check_sentence(cited(line), evidence))
    return Labelled(group, line.label == SUPPORTED, not shown, bool(found.doubts or found.new), measured, of_answer)


def fit(sentences: Sequence[Labelled]) -> tuple[Weights, list[LeftOut]]:
    """The weights of all sentences, and what those of all other sets do with each set."""
    found = []
    for group in dict.fromkeys(one.group for one in sentences):
        learned = _fitted([one for one in sentences if one.group != group])
        own = [one for one in sentences if one.group == group]
        kinds = [[one for one in own if one.supported == supported] for supported in (True, False)]
        withheld = tuple(_share([one.withheld for one in kind]) for kind in kinds)
        doubted = tuple(_share([_doubted(one, learned) for one in kind]) for kind in kinds)
        found.append(LeftOut(group, len(own), (withheld[0], withheld[1]), (doubted[0], doubted[1])))
    return _fitted(sentences), found


def _share(marks: Sequence[bool]) -> float:
    return sum(marks) / len(marks) if marks else float("nan")


def _doubted(one: Labelled, learned: Weights) -> bool:
    return one.withheld or one.marked or (one.signs is not None and learned.sum(one.signs) >= 0)


def _fitted(sentences: Sequence[Labelled]) -> Weights:
    learned = Weights(weights=_logistic(sentences), bias=0.0)
    # Each set of answers speaks equally for the bias: it is the middle of what the sets ask for, by their true sentences.
    asked = defaultdict(list)
    for one in sentences:
        if one.supported and one.of_answer:
            judged = learned.sum(one.signs) if one.signs is not None else float("-inf")
            asked[one.group].append(float("inf") if one.withheld or one.marked else judged)
    scores = np.array([score for group in asked.values() for score in group])
    weights = np.array([1 / len(group) for group in asked.values() for _ in group])
    best_first = np.argsort(-scores, kind="stable")
    shares = np.cumsum(weights[best_first]) / weights.sum()
    limit = scores[best_first][np.searchsorted(shares, MAY_DOUBT, side="right")]
    counts = Counter(one.group for one in sentences)
    return replace(learned, bias=round(-float(limit) - 1e-4, 4), fitted_on=dict(sorted(counts.items())))


def _logistic(sentences: Sequence[Labelled]) -> dict[str, float]:
    judged = [one for one in sentences if one.signs is not None]
    groups = sorted({one.group for one in judged})
    names = (*SIGNS, *SHAPE, *groups)
    values = np.zeros((len(judged), len(names)))
    for row, one in zip(values, judged, strict=True):
        row[: len(SIGNS) + len(SHAPE)] = [(one.signs or {})[name] for name in (*SIGNS, *SHAPE)]
        row[names.index(one.group)] = 1.0
    beyond = np.array([not one.supported for one in judged], dtype=np.float64)
    sizes = Counter((one.group, one.supported) for one in judged)
    each = {key: min(size, SET_SIZE) / size for key, size in sizes.items()}
    weights = np.array(
        [each[one.group, one.supported] * (1.0 if one.of_answer else PAIR_WEIGHT) for one in judged], dtype=np.float64
    )
    spread = values.std(axis=0)
    spread[spread < 1e-6] = 1.0  # says nothing
    scaled = values / spread
    penalty = np.array([0.0 if name in groups else PENALTY for name in names])
    found = minimised(
        logistic(scaled, beyond, weights, penalty), names, spread, frozenset(), frozenset((*SHAPE, *groups))
    )
    return {name: weight for name, weight in found.items() if name not in groups}
