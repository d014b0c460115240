"""Features that speak against the best sentence as an answer: negation, opposites, unknown names and numbers, gaps."""

import math
import re
from typing import Final

from actors.choosing.signs import KNOWN, known
from index.languages import every, union
from index.languages.characters import HAN, fold, is_han, is_hangul
from index.languages.negation import is_negated
from index.languages.tables.kinds import words_in
from runtime.engines.extractive.ranking import Ranking

OPPOSITES: Final[dict[str, frozenset[str]]] = {}
for _group in every(lambda language: language.opposites.groups):
    for _word in words_in(_group):
        OPPOSITES[_word] = OPPOSITES.get(_word, frozenset()) | (words_in(_group) - {_word})
#: Those that occur inside a run of characters or before an ending.
_UNSPACED: Final = tuple(word for word in OPPOSITES if is_han(word) or is_hangul(word))

_LETTERS = re.compile(r"[^\W\d_]+")
_ARTICLE = re.compile(rf"^(?:{'|'.join(every(lambda language: language.words.articles.split()))})(?=\w{{3}})")
_SUPERLATIVE = union(lambda language: language.opposites.superlatives)


def words_of(text: str) -> frozenset[str]:
    """The folded words of `text`, and those words inside runs of characters that have a known opposite."""
    folded = fold(text)
    found = {_ARTICLE.sub("", word) for word in _LETTERS.findall(folded)}
    if not text.isascii():
        found |= {word for word in _UNSPACED if word in folded}
    return frozenset(found)


def opposed(asked: frozenset[str], said: frozenset[str]) -> int:
    """How many of the `asked` words are not `said` although their opposite is."""
    return sum(1 for word in asked if word in OPPOSITES and word not in said and OPPOSITES[word] & said)


def superlatives(asked: frozenset[str], said: frozenset[str]) -> int:
    """How many superlatives and ordinals of the question are not in the text."""
    return sum(1 for word in asked if word not in said and _SUPERLATIVE.fullmatch(word))


#: What speaks against an answer, in the order of `doubt`, with its weights in the log-odds of `absence` and of `odds`.
DOUBTS: dict[str, tuple[float, float]] = {
    "negated_question": (0.42, 1.85),  # the question has a negation and the best sentence has none
    "any_negation": (-0.48, 0.97),  # the question has a negation
    "negated_sentence": (0.0, 0.18),  # only the sentence has one
    "opposite": (0.0, 1.26),  # the sentence has the opposite of a word in the question
    "opposite_passage": (0.0, 0.85),
    "superlative": (-0.27, 0.69),  # a superlative in the question that the passage lacks
    "number": (0.54, 1.44),  # a number in the question that is not near the sentence
    "number_passage": (0.97, -0.14),
    "name": (0.4, 0.04),  # a name that is not near the sentence
    "name_passage": (0.13, 0.21),
    "swapped": (0.26, 0.39),  # a name that is not in the sentence, which has others
    "names": (0.13, 0.12),  # number of names in the question
    "no_person": (0.6, 1.04),  # the best sentence lacks the asked kind
    "no_time": (1.25, 0.5),
    "no_count": (1.0, 1.48),
    "no_other": (0.12, 0.16),
    "place": (0.23, -0.3),  # asks for a place
    "asked": (-1.21, -1.04),  # log of the number of terms
    "loose": (-1.32, -0.87),
    "passage": (-1.05, 0.21),
    "passage_loose": (1.71, 1.26),
    "named": (-0.2, -0.47),
    "known": (-0.52, -0.17),  # mean of how well each term matches in the sentence
    "known_near": (-1.35, -1.03),
    "known_passage": (-1.36, 0.03),
    "all_known": (0.89, -0.79),
    "elsewhere": (0.99, 0.77),  # share of terms that the passage has, but not near the sentence
    "run": (-0.66, 0.54),  # longest run of words in common, as a share of the question's
    "order": (-1.19, 1.04),  # words in common in the same order, as a share
    "extra": (0.42, 0.22),
}


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
