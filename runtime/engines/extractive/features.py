"""Features that speak for a sentence as the answer to a question; the same in every language."""

import math
from collections import Counter
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from actors.choosing.forms import Kind, holds, kind_of
from index.languages.words import grams, terms
from index.text.sentences import split
from prompts.contracts import Unit
from runtime.engines.extractive.headings import says_nothing

#: The order of `Featured.values` and of the weights in `ranking`.
FEATURES = (
    "covered",  # rarity-weighted share of the question's terms in the sentence
    "loose",  # the same over character pieces
    "near",  # what its neighbours add to the share
    "passage",  # share in the whole passage
    "passage_loose",
    "rank",  # 1 / rank of the passage in retrieval
    "length",  # log of its number of terms
    "names",  # share of the question's names and numbers in it
    "tail",  # whether it has the question's last term
    "best_term",  # rarity of its rarest shared term, 0 to 1
    "extra",  # log of the number of terms that the question lacks
    "top",  # its share minus the best sentence's: 0 for the best
    "person",  # has a new thing of the asked kind, one feature per kind
    "time",
    "count",
    "reason",
    "manner",
)
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
