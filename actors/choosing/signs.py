"""What speaks for and against a whole choice, and the probability that it answers.

Also: a unit among all those of the passages found, as the ranking sees it; and how nearly a word stands among others, when their
endings are set aside.
"""

import math
import re
from collections.abc import Sequence, Set
from functools import lru_cache
from typing import Final

import msgspec

from actors.choosing.asked import Asked, has_address, has_telephone, holds, measure_of, telephone_terms
from actors.choosing.features import FEATURES, Read, lacking
from actors.choosing.units import Unit
from actors.choosing.weights import Weights
from actors.evidence.standing import years_in
from actors.facts.days import days
from bus.wire.parts import Passage
from index.languages.characters import ascii_digits, fold, is_han, is_hangul
from index.languages.meaning import likeness
from index.languages.negation import is_negated

#: How many of the best units are looked through, and the least share of the probability that makes one likely.
DEEP, LEAST_SHARE = 30, 0.01


class Ranked(msgspec.Struct, frozen=True):
    """A unit with its score, unbounded, and its share of the probability among all units and none; `values` are its features."""

    unit: Unit
    score: float
    share: float
    values: tuple[float, ...]
    read: Read

    def value(self, feature: str) -> float:
        return self.values[_PLACE[feature]]


_PLACE = {name: place for place, name in enumerate(FEATURES)}


#: From this similarity on, a word counts as another form of the same word.
KNOWN: Final = 0.6


def known(term: str, bag: Set[str]) -> float:
    """1 if the bag has the term, else the share of the nearest word's common prefix, 0 to 1; a number is like no other."""
    if term in bag:
        return 1.0
    if _has_digit(term):
        return 0.0
    least = 2 if is_han(term) or is_hangul(term) else 3
    start = term[:least]
    return max((_alike(term, other) for other in bag if other.startswith(start)), default=0.0)


def _has_digit(term: str) -> bool:
    return any(map(str.isdigit, term))


@lru_cache(maxsize=16384)
def _alike(one: str, other: str) -> float:
    common = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        common += 1
    return common / max(len(one), len(other))


SIGNS = (
    "shown",  # log-odds of the share of all that is shown
    "alone",  # log of what there being no answer has of the rest; the units not shown have the others
    "terms",  # log of how many terms the question has: one with few says little about what is sought
    "far",  # share of the question in words that what is shown lacks in any form, less the nearer it has one in meaning
    "name",  # a name in the question is not in what is shown
    "year",  # the best unit, its headings and title lack a year, letter ("plan B"), number ("grade 6") or day of the question
    "no_count",  # a number is asked for, and the best unit has none, or another's telephone number or price
    "row_key",  # of the best unit, as is the next
    "row_without_column",
    "score",  # of its passage, as are the following
    "coverage_ahead",  # what it covers of the question, as far as the search knows, beyond all others
)

#: Those of passages that came with the question, which no search has scored.
GIVEN = (
    "shown",
    "terms",
    "far",
    "name",
    "year",
    "rank",  # 1 / rank of the best unit's passage
    "scattered",  # entropy of the passages' shares: an answer is in one of them
    "near",  # how near in meaning the nearest unit is to the question
    "negated",  # the question denies something, and what is shown does not
)

#: Shares nearer to 0 or 1 than this tell nothing more.
_LEAST: Final = 1e-4
_NUMBERED: Final = ("count", "limit")
#: One of several things that have numbers, as "grade 6".
_OF_SEVERAL: Final = re.compile(r"\b([^\W\d_]{3,30}) (\d{1,3})\b(?![.,:/%]\d)")
_DIGITS: Final = re.compile(r"\d+")
#: A word with a capital inside a sentence.
_NAME: Final = re.compile(r"(?<=\w )[A-ZÀ-Ý][\w'’-]+")


def signs(
    asked: Asked, ranked: Sequence[Ranked], shown: Sequence[Ranked], passages: Sequence[Passage]
) -> dict[str, float]:
    """By the names of SIGNS, or of GIVEN. `shown` are some of `ranked`, the best first."""
    best = shown[0]
    # The search knows a passage's score for the whole question only; a part may stand as well in any of them.
    searched = passages if asked.ranks else (passages[best.unit.passage],)
    asked = asked.in_language(passages[best.unit.passage].language)
    share = _within(sum(each.share for each in shown))
    none = 1 - sum(each.share for each in ranked)
    of_choice = {
        "shown": math.log(share / (1 - share)),
        "alone": math.log(_within(none / (1 - share))),
        "terms": math.log(1 + len(asked.terms)),
        "far": _far(asked, shown),
        "name": float(lacks_name(asked, shown)),
        "year": float(_lacks_date(asked, best)),
    }
    if asked.given:
        return of_choice | {
            "rank": best.value("rank"),
            "scattered": _scattered(ranked),
            "near": max(each.value("near_body") for each in ranked),
            "negated": float(is_negated(asked.text) and not any(is_negated(each.unit.text) for each in shown)),
        }
    of_choice |= {
        "no_count": float(asked.kind in _NUMBERED and not _has_kind(asked, shown[:1])) or _of_another(asked, best),
        "score": max(passage.score for passage in searched),
        "coverage_ahead": _ahead(passages, best.unit.passage),
    }
    return {name: of_choice[name] if name in of_choice else best.value(name) for name in SIGNS}


def _far(asked: Asked, shown: Sequence[Ranked]) -> float:
    """The sign `far`: 0 where every word is there, 1 where none is and none is like it."""
    said = frozenset[str]().union(*(each.read.bag | each.read.context for each in shown))
    lacked = [term for term in asked.terms if known(term, said) < KNOWN]
    if not lacked:
        return 0.0
    words = [term for term in lacked if not _has_digit(term)]
    near = dict(zip(words, likeness(words, [each.read.folded_all for each in shown]), strict=True))
    return sum(asked.terms[term] * (1 - near.get(term, 0.0)) for term in lacked) / asked.whole


def _scattered(ranked: Sequence[Ranked]) -> float:
    shares: dict[int, float] = {}
    for each in ranked:
        shares[each.unit.passage] = shares.get(each.unit.passage, 0.0) + each.share
    whole = sum(shares.values()) or 1.0
    return -sum(share / whole * math.log(share / whole) for share in shares.values() if share)


def probability(found: dict[str, float], learned: Weights) -> float:
    return 1 / (1 + math.exp(-log_odds(found, learned)))


def log_odds(found: dict[str, float], learned: Weights) -> float:
    return learned.bias + sum(weight * found[name] for name, weight in learned.calibration.items())


def _within(share: float) -> float:
    return min(max(share, _LEAST), 1 - _LEAST)


def _has_kind(asked: Asked, shown: Sequence[Ranked]) -> bool:
    return any(holds(asked.kind, text, asked.text) for each in shown for text in each.read.sentence_texts)


def lacks_measure(asked: Asked, shown: Sequence[Ranked]) -> bool:
    """Whether a telephone number, a price or an address is asked for, and what is shown has none: then it answers nothing."""
    match measure_of(asked.text):
        case "phone":
            # In a row "120" is an amount, unless the row speaks of telephones.
            asking = telephone_terms(asked.text)
            rows = [each.unit.kind == "table_row" and not asking & each.read.bag for each in shown]
            return not any(has_telephone(each.unit.text, only_long=row) for each, row in zip(shown, rows, strict=True))
        case "price":
            return not _has_kind(asked, shown)
        case "address":
            return not any(has_address(each.unit.text) for each in shown)
    return False


def _of_another(asked: Asked, best: Ranked) -> float:
    """1 where a telephone number is asked for, and the best unit does not name most of whose it is, or a price, and it has no name
    of the question.
    """
    if measure_of(asked.text) == "price":
        names = _NAME.findall(asked.text)
        return float(bool(names) and not any(fold(name) in best.read.folded_all for name in names))
    asking = telephone_terms(asked.text)
    owner = asked.terms.keys() - asking if asking else frozenset()
    named = asked.weight_of(owner & (best.read.bag | best.read.context))
    return float(named < asked.weight_of(owner) / 2)


def lacks_name(asked: Asked, shown: Sequence[Ranked]) -> bool:
    """The sign `name`."""
    said = "\n".join(each.read.folded_all for each in shown)
    return any(fold(name) not in said for name in _NAME.findall(asked.text))


def _lacks_date(asked: Asked, best: Ranked) -> bool:
    """The sign `year`."""
    there = best.read.folded_all
    letters = [code for code in asked.identifiers if len(code) == 1]
    if lacking(letters, there) or any(year not in ascii_digits(there) for year in years_in(asked.text)):
        return True
    several = _OF_SEVERAL.findall(ascii_digits(fold(asked.text)))
    if any(_has_other_number(noun, number, best) for noun, number in several):
        return True
    wanted = days(fold(asked.text)) if best.unit.kind == "table_row" else ()
    return any(day.written not in there for day in wanted) and len(days(best.read.folded)) == 1


def _has_other_number(noun: str, number: str, best: Ranked) -> bool:
    """Whether the unit has a thing of that name with a number, has not this number, and is not below its heading."""
    own, there = ascii_digits(best.read.folded), ascii_digits(best.read.folded_all)
    other = re.search(rf"\b{re.escape(noun)} ?\d", own)
    return bool(other) and number not in _DIGITS.findall(own) and not re.search(rf"\b{noun} ?{number}\b", there)


def _ahead(passages: Sequence[Passage], best: int) -> float:
    others = (passage.coverage or 0.0 for at, passage in enumerate(passages) if at != best)
    return max((passages[best].coverage or 0.0) - max(others, default=0.0), 0.0)
