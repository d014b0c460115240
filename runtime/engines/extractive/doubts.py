"""Features that speak against the best sentence as an answer: negation, opposites, unknown names and numbers, gaps."""

import math
import re

from actors.choosing.signs import KNOWN, known
from index.languages.negation import is_negated
from index.languages.scripts import HAN
from runtime.engines.extractive.opposites import opposed, superlatives, words_of
from runtime.engines.extractive.ranking import Ranking

DOUBTS = (
    "negated_question",  # the question has a negation and the best sentence has none
    "any_negation",  # the question has a negation
    "negated_sentence",  # only the sentence has one
    "opposite",  # the sentence has the opposite of a word in the question
    "opposite_passage",
    "superlative",  # a superlative in the question that the passage lacks
    "number",  # a number in the question that is not near the sentence
    "number_passage",
    "name",  # a name that is not near the sentence
    "name_passage",
    "swapped",  # a name that is not in the sentence, which has others
    "names",  # number of names in the question
    "no_person",  # the best sentence lacks the asked kind
    "no_time",
    "no_count",
    "no_other",
    "place",  # asks for a place
    "asked",  # log of the number of terms
    "loose",
    "passage",
    "passage_loose",
    "named",
    "known",  # mean of how well each term matches in the sentence
    "known_near",
    "known_passage",
    "all_known",
    "elsewhere",  # share of terms that the passage has, but not near the sentence
    "run",  # longest run of words in common, as a share of the question's
    "order",  # words in common in the same order, as a share
    "extra",
)


def doubt(ranking: Ranking) -> tuple[float, ...]:
    """Values in the order of DOUBTS. `ranking` has at least one sentence."""
    question, best = ranking.question, ranking.ranked[0]
    passage = [r for r in ranking.read if r.passage == best.read.passage]
    near = [r for r in passage if abs(r.position - best.read.position) <= 1]
    text = " ".join(r.text for r in passage)
    bag = frozenset[str]().union(*(r.bag for r in passage))
    near_bag = frozenset[str]().union(*(r.bag for r in near))
    asked_words, said, said_passage = words_of(question.text), words_of(best.text), words_of(text)
    in_sentence = [known(t, best.read.bag) for t in question.terms]
    in_near = [known(t, near_bag) for t in question.terms]
    in_passage = [known(t, bag) for t in question.terms]
    n = len(question.terms) or 1
    numbers, names = _numbers(question.text), sorted(question.names)
    absent = [t for t in names if known(t, best.read.bag) < KNOWN]
    far = [t for t in names if known(t, near_bag) < KNOWN]
    gone = [t for t in names if known(t, bag) < KNOWN]
    negated, said_negated = is_negated(question.text), is_negated(best.text)
    asked_list, said_list = _WORD.findall(question.text.casefold()), _WORD.findall(best.text.casefold())
    kind, unheld = question.kind, 0.0 if best.holds else 1.0
    return (
        float(negated and not said_negated),
        float(negated),
        float(said_negated and not negated),
        float(opposed(asked_words, said)),
        float(opposed(asked_words, said_passage)),
        float(superlatives(asked_words, said_passage)),
        float(bool(numbers - _numbers(" ".join(r.text for r in near)))),
        float(bool(numbers - _numbers(text))),
        float(len(far)),
        float(len(gone)),
        float(bool(absent) and bool(_CAPITAL_INSIDE.search(best.text))),
        float(len(names)),
        unheld if kind == "person" else 0.0,
        unheld if kind == "time" else 0.0,
        unheld if kind == "count" else 0.0,
        unheld if kind not in ("person", "time", "count") else 0.0,
        float(kind == "place"),
        math.log(1 + len(question.terms)),
        best.value("loose"),
        best.value("passage"),
        best.value("passage_loose"),
        best.value("names"),
        sum(in_sentence) / n,
        sum(in_near) / n,
        sum(in_passage) / n,
        float(all(k >= KNOWN for k in in_sentence)),
        sum(1 for p, w in zip(in_passage, in_near, strict=True) if p >= KNOWN > w) / n,
        _longest_run(asked_list, said_list) / (len(asked_list) or 1),
        _in_order(asked_list, said_list) / (len(asked_list) or 1),
        best.value("extra"),
    )


_WORD = re.compile(rf"[{HAN}]|[^\W_{HAN}]+")
_NUMBER = re.compile(r"\d+(?:[.,٫٬]\d+)*")
_CAPITAL_INSIDE = re.compile(r"(?<=\w )[A-ZÀ-Ý]")


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text))


def _longest_run(asked: list[str], said: list[str]) -> int:
    longest, before = 0, [0] * (len(said) + 1)
    for word in asked:
        row = [0] + [before[j] + 1 if word == other else 0 for j, other in enumerate(said)]
        longest, before = max(longest, *row), row
    return longest


def _in_order(asked: list[str], said: list[str]) -> int:
    """Length of the longest common subsequence."""
    before = [0] * (len(said) + 1)
    for word in asked:
        row = [0]
        for j, other in enumerate(said):
            row.append(before[j] + 1 if word == other else max(before[j + 1], row[j]))
        before = row
    return before[-1]
