"""Rank the passages' sentences by how well they answer the question, by features that are the same in every language."""

import math
import re
from collections import Counter
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from actors.choosing.asked import Kind, holds, kind_of
from index.languages import every, union
from index.languages.words import grams, terms
from index.text.sentences import split
from prompts.contracts import Unit

_LAST_LETTERS = "".join(every(lambda language: language.noise.last_letters))
# Short, without a full stop, and not a row of a table or a list of facts.
_HEADING = re.compile(rf"^(?=.{{1,40}}$)[^|:：=\d]*[^|:：=\d.!?。！？؟…{_LAST_LETTERS}」”\"')]$")
_ARTICLE = re.compile(
    rf"^(?:\d+[.:]|{union(lambda language: language.noise.article_headings).pattern})[^.。]{{0,30}}[^.!?。！？؟…|]$"
)
_ASKS = re.compile(r"[?？؟]\s*$")


def says_nothing(sentence: str) -> bool:
    """Whether the sentence is a heading or a question."""
    plain = sentence.strip("#*>-• \t\n")
    return bool(_HEADING.search(plain) or _ARTICLE.search(plain) or _ASKS.search(plain))


# A listwise softmax, fitted once over the sentences of the five passages retrieved for 7,170 answerable questions of
# SQuAD 2.0, XQuAD (en, zh, ar) and KorQuAD 1.0; on held-out articles, the two top sentences hold the
# answer for 92, 91, 89 and 90 %, against 85, 85, 71 and 87 % for rarity-weighted overlap alone.
#
# In the order of `Featured.values`.
WEIGHTS: dict[str, float] = {
    "covered": 3.7,  # rarity-weighted share of the question's terms in the sentence
    "loose": 5.4,  # the same over character pieces
    "near": 3.98,  # what its neighbours add to the share
    "passage": -1.07,  # share in the whole passage
    "passage_loose": 4.04,
    "rank": 2.43,  # 1 / rank of the passage in retrieval
    "length": 0.03,  # log of its number of terms
    "names": 0.07,  # share of the question's names and numbers in it
    "tail": 0.29,  # whether it has the question's last term
    "best_term": 1.2,  # rarity of its rarest shared term, 0 to 1
    "extra": -0.29,  # log of the number of terms that the question lacks
    "top": 1.28,  # its share minus the best sentence's: 0 for the best
    "person": 1.51,  # has a new thing of the asked kind, one feature per kind
    "time": 2.21,
    "count": 2.39,
    "reason": 1.31,
    "manner": 0.59,
}
#: Kinds of units that say something however short they are, and those that only name what follows.
_SPEAKING = frozenset(("table_row", "code", "definition"))
_NAMING = frozenset(("heading", "table_header"))
_KINDS: tuple[Kind, ...] = ("person", "time", "count", "reason", "manner")


@dataclass(frozen=True, slots=True)
class Read:
    """One sentence or other unit of one passage; indexes start at 0, offsets are into the passage.

    `silent`: it says nothing, as a heading or a question.
    """

    passage: int
    position: int
    start: int
    end: int
    text: str
    terms: tuple[str, ...]
    bag: frozenset[str]
    grams: frozenset[str]
    unit: Unit
    silent: bool


@dataclass(frozen=True, slots=True)
class Featured:
    read: Read
    covered: float
    holds: bool
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question's words. `names`: the terms of its capitalised words and numbers, except the first word."""

    text: str
    kind: Kind
    terms: tuple[str, ...]
    bag: frozenset[str]
    grams: frozenset[str]
    names: frozenset[str]


def read_question(text: str) -> Question:
    words = tuple(terms(text))
    return Question(text, kind_of(text), words, frozenset(words), frozenset(grams(text)), _names(text))


def read_sentences(passages: tuple[str, ...], units: tuple[tuple[Unit, ...], ...] = ()) -> list[Read]:
    """Every unit of `passages` in reading order; a passage without units has its sentences.

    One under a heading also has the heading's words.
    """
    found: list[Read] = []
    for p, passage in enumerate(passages):
        heading = ""
        known = units[p] if p < len(units) else ()
        for i, unit in enumerate(known or [Unit(start=s, end=e, kind="") for s, e in split(passage)]):
            text = passage[unit.start : unit.end]
            silent = _is_silent(unit, text)
            heading = text if silent else heading
            words = tuple(terms(text))
            about = f"{heading} {text}" if heading and heading != text else text
            found.append(
                Read(
                    p,
                    i,
                    unit.start,
                    unit.end,
                    text,
                    words,
                    frozenset(terms(about)),
                    frozenset(grams(about)),
                    unit,
                    silent,
                )
            )
    return found


def _is_silent(unit: Unit, text: str) -> bool:
    if unit.kind in _NAMING:
        return True
    speaks = unit.kind in _SPEAKING or (unit.kind == "list_item" and unit.intro)
    return not speaks and says_nothing(text)


def features(question: Question, read: list[Read]) -> list[Featured]:
    """One row per sentence, in the order of `read`."""
    exact = _Shares(question.bag, [r.bag for r in read])
    loose = _Shares(question.grams, [r.grams for r in read])
    passages: dict[int, set[str]] = {}
    passages_loose: dict[int, set[str]] = {}
    for r in read:
        passages.setdefault(r.passage, set()).update(r.bag & question.bag)
        passages_loose.setdefault(r.passage, set()).update(r.grams & question.grams)
    of_passage = {p: exact.share(found) for p, found in passages.items()}
    of_passage_loose = {p: loose.share(found) for p, found in passages_loose.items()}
    covered = [exact.share(r.bag) for r in read]
    top = max(covered, default=0.0)
    rows: list[Featured] = []
    for k, r in enumerate(read):
        around = [o.bag & question.bag for o in read[max(0, k - 1) : k + 2] if o.passage == r.passage]
        is_held = holds(question.kind, r.text, question.text)
        values = (
            covered[k],
            loose.share(r.grams),
            exact.share(frozenset[str]().union(*around)) - covered[k],
            of_passage[r.passage],
            of_passage_loose[r.passage],
            1 / (1 + r.passage),
            math.log(1 + len(r.terms)),
            len(question.names & r.bag) / (len(question.names) or 1),
            1.0 if question.terms and question.terms[-1] in r.bag else 0.0,
            exact.rarest(r.bag),
            math.log(1 + len(r.bag - question.bag)),
            covered[k] - top,
            *(1.0 if is_held and question.kind == kind else 0.0 for kind in _KINDS),
        )
        rows.append(Featured(r, covered[k], is_held, values))
    return rows


class _Shares:
    """Rarity-weighted shares of the wanted terms; rarity is counted over the given sentences."""

    def __init__(self, wanted: frozenset[str], bags: list[frozenset[str]]) -> None:
        counts: Counter[str] = Counter()
        for bag in bags:
            counts.update(bag & wanted)
        self._weight = {term: math.log(1 + (len(bags) + 1) / (counts[term] + 0.5)) for term in sorted(wanted)}
        self._whole = sum(self._weight.values()) or 1.0
        self._heaviest = max(self._weight.values(), default=1.0)

    def share(self, found: AbstractSet[str]) -> float:
        # In the sorted order of the weights: a sum of floats must not depend on the hash seed.
        return sum(weight for term, weight in self._weight.items() if term in found) / self._whole

    def rarest(self, found: AbstractSet[str]) -> float:
        return max((weight for term, weight in self._weight.items() if term in found), default=0.0) / self._heaviest


def _names(text: str) -> frozenset[str]:
    words = text.split()
    return frozenset(t for word in words[1:] if word[:1].isupper() or word[:1].isdigit() for t in terms(word))


_PLACE = {name: place for place, name in enumerate(WEIGHTS)}

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
            r
            for k, r in enumerate(telling[:MOST])
            if r.probability >= WORTH_CITING or k == 0 or (k < FEWEST and r.read.passage != telling[0].read.passage)
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


def _score(row: Featured) -> float:
    score = sum(weight * value for weight, value in zip(WEIGHTS.values(), row.values, strict=True))
    return score - SAYS_NOTHING if row.read.silent else score
