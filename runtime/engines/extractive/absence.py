"""Decide whether any of several retrieved passages is about what is asked, or they are merely the nearest in the index."""

import math

from actors.choosing.signs import KNOWN, known
from runtime.engines.extractive.doubts import DOUBTS
from runtime.engines.extractive.ranking import Ranking

# A logistic regression, fitted once on half of 3,018 questions of XQuAD (en, zh, ar), KorQuAD 1.0, SQuAD 2.0 and French
# public-service pages: the five passages that an index returns, against those of an index built without the answering
# passage; it gives the log-odds that it was left out. Every set weighs as much as its share of 600 questions. On held-out
# articles, AUC .94 en, .94 zh, .90 ar, .93 ko, .79 to .81 fr. Figures at ABSENT_FROM are in the README.
OF_DOUBTS: dict[str, float] = {
    "negated_question": 0.42,
    "any_negation": -0.48,
    "superlative": -0.27,
    "number": 0.54,
    "number_passage": 0.97,
    "name": 0.4,
    "name_passage": 0.13,
    "swapped": 0.26,
    "names": 0.13,
    "no_person": 0.6,
    "no_time": 1.25,
    "no_count": 1.0,
    "no_other": 0.12,
    "place": 0.23,
    "asked": -1.21,
    "loose": -1.32,
    "passage": -1.05,
    "passage_loose": 1.71,
    "named": -0.2,
    "known": -0.52,
    "known_near": -1.35,
    "known_passage": -1.36,
    "all_known": 0.89,
    "elsewhere": 0.99,
    "run": -0.66,
    "order": -1.19,
    "extra": 0.42,
}
WEIGHTS: dict[str, float] = {
    "score": 0.02,  # of the best sentence
    "probability": 0.28,  # the same
    "covered": 0.15,  # the same
    "ahead": -0.04,  # its score minus that of the best sentence of another passage
    "ahead_of_all": -0.07,  # its score minus the mean of the other passages' best
    "chosen": 1.61,  # total probability of its passage's sentences
    "scattered": 1.74,  # entropy of the passages' probabilities: an answer is in one of them
    "pieces_ahead": -3.64,  # its passage's share of the question's character pieces minus the next one's
    "pieces_elsewhere": -0.78,  # share of the pieces that only other passages have
    "pieces": -0.16,  # share of the pieces that any passage has
    "missing": 0.08,  # number of terms that no passage has
    "name_missing": 0.55,  # a name in the question is in no passage
    "missing_passage": 0.48,  # share of terms that its passage lacks
    "missing_near": 0.59,  # the same for the sentence and its neighbours
}
BIAS = 1.03

#: Log-odds from which the answer counts as absent.
ABSENT_FROM = 1.7


def is_absent(ranking: Ranking, doubts: tuple[float, ...]) -> bool:
    """`ranking` is over several passages and has at least one sentence; `doubts` are its values in the order of DOUBTS."""
    return absence(ranking, doubts) >= ABSENT_FROM


def absence(ranking: Ranking, doubts: tuple[float, ...]) -> float:
    """Log-odds that no passage answers, from the same arguments as `is_absent`."""
    of_doubts = sum(OF_DOUBTS.get(name, 0.0) * value for name, value in zip(DOUBTS, doubts, strict=True))
    own = _values(ranking)
    return BIAS + of_doubts + sum(weight * own[name] for name, weight in WEIGHTS.items())


def _values(ranking: Ranking) -> dict[str, float]:
    question, best = ranking.question, ranking.ranked[0]
    chosen = best.read.passage
    bags: dict[int, set[str]] = {}
    pieces: dict[int, set[str]] = {}
    near: set[str] = set()
    for read in ranking.read:
        bags.setdefault(read.passage, set()).update(read.bag)
        pieces.setdefault(read.passage, set()).update(read.grams & question.grams)
        if read.passage == chosen and abs(read.position - best.read.position) <= 1:
            near |= read.bag
    scores: dict[int, float] = {}
    probabilities: dict[int, float] = {}
    for r in ranking.ranked:  # best first
        scores.setdefault(r.read.passage, r.score)
        probabilities[r.read.passage] = probabilities.get(r.read.passage, 0.0) + r.probability
    others = [score for passage, score in scores.items() if passage != chosen]
    whole = len(question.grams) or 1
    own_pieces = len(pieces[chosen]) / whole
    all_pieces = len(set[str]().union(*pieces.values())) / whole
    next_pieces = max((len(found) for passage, found in pieces.items() if passage != chosen), default=0) / whole
    everywhere = frozenset[str]().union(*bags.values())
    terms = len(question.terms) or 1
    return {
        "score": best.score,
        "probability": best.probability,
        "covered": best.covered,
        "ahead": best.score - max(others, default=0.0),
        "ahead_of_all": best.score - sum(others) / (len(others) or 1),
        "chosen": probabilities[chosen],
        "scattered": -sum(p * math.log(p) for p in probabilities.values() if p > 0),
        "pieces_ahead": own_pieces - next_pieces,
        "pieces_elsewhere": all_pieces - own_pieces,
        "pieces": all_pieces,
        "missing": float(_missing(question.terms, everywhere)),
        "name_missing": float(any(known(term, everywhere) < KNOWN for term in question.names)),
        "missing_passage": _missing(question.terms, frozenset(bags[chosen])) / terms,
        "missing_near": _missing(question.terms, frozenset(near)) / terms,
    }


def _missing(terms: tuple[str, ...], bag: frozenset[str]) -> int:
    return sum(known(term, bag) < KNOWN for term in terms)
