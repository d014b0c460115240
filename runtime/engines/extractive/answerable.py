"""Decide whether passages about a question's subject really answer it, and what is missing if they do not."""

from typing import Literal

from index.languages.detection import detect
from runtime.engines.extractive.absence import is_absent
from runtime.engines.extractive.doubts import DOUBTS, doubt
from runtime.engines.extractive.ranking import Ranked, Ranking

# A logistic regression, fitted once on the 5,349 questions of half of SQuAD 2.0's development set, each with its own
# passage; it gives the log-odds that people called the question unanswerable. AUC .73 on held-out articles, where the
# share of the question's words alone has .54.
WEIGHTS: dict[str, float] = {
    "negated_question": 1.85,
    "any_negation": 0.97,
    "negated_sentence": 0.18,
    "opposite": 1.26,
    "opposite_passage": 0.85,
    "superlative": 0.69,
    "number": 1.44,
    "number_passage": -0.14,
    "name": 0.04,
    "name_passage": 0.21,
    "swapped": 0.39,
    "names": 0.12,
    "no_person": 1.04,
    "no_time": 0.5,
    "no_count": 1.48,
    "no_other": 0.16,
    "place": -0.3,
    "asked": -1.04,
    "loose": -0.87,
    "passage": 0.21,
    "passage_loose": 1.26,
    "named": -0.47,
    "known": -0.17,
    "known_near": -1.03,
    "known_passage": 0.03,
    "all_known": -0.79,
    "elsewhere": 0.77,
    "run": 0.54,
    "order": 1.04,
    "extra": 0.22,
}
BIAS = 0.87
_IN_ORDER = tuple(WEIGHTS[name] for name in DOUBTS)

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
    if several and not lenient and is_absent(ranking, doubts):
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
    return BIAS + sum(weight * value for weight, value in zip(_IN_ORDER, doubts, strict=True))


def _foreign(ranking: Ranking) -> bool:
    """Whether question and passage are in two languages, where missing words mean nothing."""
    asked, said = detect(ranking.question.text), detect(ranking.ranked[0].text)
    return asked != said and "und" not in (asked, said)
