"""Decide whether passages about a question's subject really answer it, and what is missing if they do not.

Of several retrieved passages one may be about what is asked, or they are merely the nearest in the index.
"""

import math
from typing import Literal

from actors.choosing.signs import KNOWN, known
from index.languages.detection import detect
from runtime.engines.extractive.doubts import DOUBTS, doubt
from runtime.engines.extractive.ranking import Ranked, Ranking

# A logistic regression, fitted once on half of 3,018 questions of XQuAD (en, zh, ar), KorQuAD 1.0, SQuAD 2.0 and French
# public-service pages: the five passages that an index returns, against those of an index built without the answering
# passage; it gives the log-odds that it was left out. Every set weighs as much as its share of 600 questions. On held-out
# articles, AUC .94 en, .94 zh, .90 ar, .93 ko, .79 to .81 fr. Figures at ABSENT_FROM are in the README.
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
ABSENCE_BIAS = 1.03

#: Log-odds from which the answer counts as absent.
ABSENT_FROM = 1.7


def absence(ranking: Ranking, doubts: tuple[float, ...]) -> float:
    """Log-odds that no passage answers.

    `ranking` is over several passages and has at least one sentence; `doubts` are its values in the order of DOUBTS.
    """
    of_doubts = sum(weight * value for (weight, _), value in zip(DOUBTS.values(), doubts, strict=True))
    own = _values(ranking)
    return ABSENCE_BIAS + of_doubts + sum(weight * own[name] for name, weight in WEIGHTS.items())


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


# A logistic regression, fitted once on the 5,349 questions of half of SQuAD 2.0's development set, each with its own
# passage; it gives the log-odds that people called the question unanswerable. AUC .73 on held-out articles, where the
# share of the question's words alone has .54.
BIAS = 0.87

#: Log-odds from which the question counts as unanswered. A single passage was given, and whether it answers is
#: open; several were retrieved by similarity, and one of them more often answers than not. A passage of a
#: sentence or two has no other sentence to be mistaken for the answer.
REFUSE_FROM_ONE = 0.15
REFUSE_FROM_SEVERAL = 2.0
FEW_SENTENCES = 2
REFUSE_LENIENT = 3.0
#: Below this share of the question's character pieces in every passage, they are about something else.
LEAST_LIKE = 0.12
#: The share of the question's words that the best sentence needs: 25 of 100 wrong answers have less, and 2 of 100 right ones.
LEAST_SHARED = 0.15

Lack = Literal["", "subject", "kind", "relation"]


def lack(ranking: Ranking, *, lenient: bool = False) -> Lack:
    """What the passages lack to answer the question; empty if they seem to answer it.

    `subject`: they are about something else; `kind`: nothing of the asked kind is there; `relation`: the subject is there,
    but not what is asked about it. `lenient` refuses for a missing relation only when almost certain: for spans already
    chosen from longer passages.
    """
    if not ranking.ranked or unlike(ranking.ranked):
        return "subject"
    if ranking.question.kind == "count" and not ranking.kind_found:
        return "kind"
    if _foreign(ranking):
        return ""
    if not lenient and ranking.ranked[0].covered < LEAST_SHARED:
        return "subject"
    doubts = doubt(ranking)
    several = len({r.passage for r in ranking.read}) > 1
    if several and not lenient and absence(ranking, doubts) >= ABSENT_FROM:
        return "subject"
    one = not several and len(ranking.read) > FEW_SENTENCES
    refuse_from = REFUSE_LENIENT if lenient else REFUSE_FROM_ONE if one else REFUSE_FROM_SEVERAL
    lacking: Lack = "relation" if ranking.kind_found else "kind"
    return lacking if odds(doubts) >= refuse_from else ""


def unlike(ranked: list[Ranked]) -> bool:
    """Whether no sentence shares a word with the question, and the best one hardly a piece of a word."""
    return not any(r.covered for r in ranked) and (not ranked or ranked[0].value("loose") < LEAST_LIKE)


def odds(doubts: tuple[float, ...]) -> float:
    """Log-odds that the best passage does not answer; `doubts` are in the order of DOUBTS."""
    return BIAS + sum(weight * value for (_, weight), value in zip(DOUBTS.values(), doubts, strict=True))


def _foreign(ranking: Ranking) -> bool:
    """Whether question and passage are in two languages, where missing words mean nothing."""
    asked, said = detect(ranking.question.text), detect(ranking.ranked[0].text)
    return asked != said and "und" not in (asked, said)
