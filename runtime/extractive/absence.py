"""Whether any of several retrieved passages is about what is asked, or they are only the least unlike of all there are."""

from runtime.extractive.doubts import DOUBTS, KNOWN, known
from runtime.extractive.ranking import Ranking

# Fitted once as a logistic regression on 2,800 questions of XQuAD (en, zh, ar), KorQuAD 1.0 and SQuAD 2.0 with their five
# best passages, against the same with the passage that answers, or its whole article, taken out of the collection first:
# log-odds that it was taken out. On articles left out of the fit, ABSENT_FROM finds 57 to 76 % of the absent articles and 27
# to 55 % of the absent passages, and takes 1 to 3 % of the present ones for absent.
WEIGHTS: dict[str, float] = {
    "negated_question": 0.54,
    "any_negation": -0.12,
    "opposite": -0.58,
    "opposite_passage": 0.94,
    "superlative": 0.51,
    "number": 0.74,
    "number_passage": 0.31,
    "name_passage": 0.29,
    "swapped": 0.48,
    "names": 0.1,
    "no_time": 1.07,
    "asked": -2.1,
    "loose": -1.73,
    "passage_loose": -0.44,
    "known_near": -2.92,
    "known_passage": -3.14,
    "all_known": 1.15,
    "elsewhere": -0.26,
    "run": -1.67,
    "order": -2.13,
    "extra": 0.48,
}
MISSING = 0.15  # for each term of the question that no passage has
NAME_MISSING = 0.54  # when a name of the question is in no passage
ALL_LOOSE = 1.57  # share of the question's character pieces in all passages together
SCORE = -0.07
PROBABILITY = -1.75
COVERED = 0.22
BIAS = 8.07

ABSENT_FROM = 2.9


def is_absent(ranking: Ranking, doubts: tuple[float, ...]) -> bool:
    """`ranking` is over several passages and has at least one sentence; `doubts` are its values in the order of DOUBTS."""
    question, best = ranking.question, ranking.ranked[0]
    bag = frozenset[str]().union(*(r.bag for r in ranking.read))
    pieces = frozenset[str]().union(*(r.grams for r in ranking.read))
    odds = (
        BIAS
        + sum(WEIGHTS.get(name, 0.0) * value for name, value in zip(DOUBTS, doubts, strict=True))
        + MISSING * sum(known(term, bag) < KNOWN for term in question.terms)
        + NAME_MISSING * any(known(term, bag) < KNOWN for term in question.names)
        + ALL_LOOSE * len(pieces & question.grams) / (len(question.grams) or 1)
        + SCORE * best.score
        + PROBABILITY * best.probability
        + COVERED * best.covered
    )
    return odds >= ABSENT_FROM
