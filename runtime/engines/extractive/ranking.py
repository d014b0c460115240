"""Rank the passages' sentences by how well they answer the question."""

import math
from dataclasses import dataclass

from prompts.contracts import Unit
from runtime.engines.extractive.features import (
    FEATURES,
    Featured,
    Question,
    Read,
    features,
    read_question,
    read_sentences,
)

# A listwise softmax, fitted once over the sentences of the five passages retrieved for 7,170 answerable questions of
# SQuAD 2.0, XQuAD (en, zh, ar) and KorQuAD 1.0; on held-out articles, the two top sentences hold the
# answer for 92, 91, 89 and 90 %, against 85, 85, 71 and 87 % for rarity-weighted overlap alone.
WEIGHTS: dict[str, float] = {
    "covered": 3.7,
    "loose": 5.4,
    "near": 3.98,
    "passage": -1.07,
    "passage_loose": 4.04,
    "rank": 2.43,
    "length": 0.03,
    "names": 0.07,
    "tail": 0.29,
    "best_term": 1.2,
    "extra": -0.29,
    "top": 1.28,
    "person": 1.51,
    "time": 2.21,
    "count": 2.39,
    "reason": 1.31,
    "manner": 0.59,
}
_PLACE = {name: place for place, name in enumerate(FEATURES)}
_IN_ORDER = tuple(WEIGHTS[name] for name in FEATURES)

#: Penalty for a heading or a question, which share the question's words but never answer it. Above the spread of scores
#: among sentences that share its words, below the gain of being the only one that does.
SAYS_NOTHING = 4.0
FEWEST, MOST = 2, 4
#: Besides the best, a sentence is worth citing from this probability on. The second best is always cited if it is in
#: another passage, which may disagree. In the same passage it would hold the answer for 1 % more.
WORTH_CITING = 0.04


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranked sentence. `score` is unbounded, higher is better; `probability` is its share among the given sentences."""

    read: Read
    covered: float
    holds: bool
    score: float
    probability: float
    values: tuple[float, ...]

    @property
    def text(self) -> str:
        return self.read.text

    @property
    def silent(self) -> bool:
        return self.read.silent

    def value(self, feature: str) -> float:
        return self.values[_PLACE[feature]]


@dataclass(frozen=True, slots=True)
class Ranking:
    """`ranked` best first, ties in reading order; `read` every sentence in reading order."""

    question: Question
    read: list[Read]
    ranked: list[Ranked]

    @property
    def kind_found(self) -> bool:
        return any(r.holds for r in self.ranked)

    def best(self) -> list[Ranked]:
        """The sentences worth citing, best first: up to four likely ones, and two if the second is from another passage."""
        telling = [r for r in self.ranked if not r.silent] or self.ranked
        return [
            r for k, r in enumerate(telling[:MOST]) if r.probability >= WORTH_CITING or _speaks_first(k, r, telling)
        ]


def rank(question: str, passages: tuple[str, ...], units: tuple[tuple[Unit, ...], ...] = ()) -> Ranking:
    """Rank every unit of `passages`, which are in retrieval order, best first; `units` are those of each passage."""
    asked, read = read_question(question), read_sentences(passages, units)
    rows = [(row, _score(row)) for row in features(asked, read)]
    highest = max((score for _, score in rows), default=0.0)
    whole = sum(math.exp(score - highest) for _, score in rows)
    ranked = [
        Ranked(row.read, row.covered, row.holds, score, math.exp(score - highest) / whole, row.values)
        for row, score in rows
    ]
    ranked.sort(key=lambda r: -r.score)  # stable: reading order among equals
    return Ranking(asked, read, ranked)


def best_of(rankings: list[Ranking]) -> list[Ranked]:
    """Every sentence once, ranked for the part of the question that it answers best; best first."""
    found: dict[tuple[int, int], Ranked] = {}
    for ranking in rankings:
        for r in ranking.ranked:
            key = (r.read.passage, r.read.position)
            if key not in found or r.probability > found[key].probability:
                found[key] = r
    return sorted(found.values(), key=lambda r: (-r.probability, -r.score, r.read.passage, r.read.position))


def _speaks_first(k: int, r: Ranked, telling: list[Ranked]) -> bool:
    return k == 0 or (k < FEWEST and r.read.passage != telling[0].read.passage)


def _score(row: Featured) -> float:
    score = sum(weight * value for weight, value in zip(_IN_ORDER, row.values, strict=True))
    return score - SAYS_NOTHING if row.read.silent else score
