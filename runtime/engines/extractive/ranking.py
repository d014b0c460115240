"""Order the units of a prompt's texts by how well they answer, with the weights by which answers are chosen (actors/choosing).

Units of a prompt are single sentences, rows and items. A heading or a question shares the words of what is asked but answers
nothing, so it comes after all others.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, Literal

import msgspec

from actors.choosing import units as choosing
from actors.choosing.asked import holds, kind_of, read_text
from actors.choosing.choose import rank_units, statistics
from actors.choosing.weights import Weights, weights
from bus.wire.parts import Passage
from index.languages.negation import excludes
from index.languages.words import terms
from index.text.passages import weigh
from index.text.units import says_nothing, units
from prompts.contracts import SECTIONS, Chunk, Evidence, Unit

#: Kinds of units that say something however short they are, and those that only name what follows.
_SPEAKING: Final = frozenset(("table_row", "code", "definition"))
_NAMING: Final = frozenset(("heading", "table_header"))
#: With less of the question's terms, or with none of their character pieces, a unit is about something else.
LEAST_COVERED: Final = 0.15


@dataclass(frozen=True, slots=True)
class Read:
    """One unit of one text; indexes start at 0. `heading`: the nearest above it. `before`: the sentence before it, of which it
    may speak as "it". `silent`: it states nothing, as a heading. `above`: the heading to name with it: one that forbids or leaves
    out what is below it, or that shares words with such a heading.
    """

    passage: int
    position: int
    unit: Unit
    text: str
    heading: str
    before: str
    silent: bool
    above: str = ""


@dataclass(frozen=True, slots=True)
class Ranked:
    """`covered`: the share of the question's terms in it, with its heading. `share`: of the probability among all units."""

    read: Read
    covered: float
    share: float

    @property
    def text(self) -> str:
        return self.read.text


def read_units(texts: Sequence[Evidence | Chunk]) -> list[Read]:
    """Every unit in reading order; a text without units is cut at its lines and sentences."""
    found: list[Read] = []
    names: list[str] = []
    for passage, each in enumerate(texts):
        heading, before, text, name = "", "", _text_of(each), each.section.rpartition(SECTIONS)[2]
        cut = each.units or [Unit(start=one.start, end=one.end, kind=one.kind) for one in units(text)]
        for position, unit in enumerate(cut):
            own = text[unit.start : unit.end]
            speaks = unit.kind in _SPEAKING or (unit.kind == "list_item" and unit.intro)
            silent = unit.kind in _NAMING or (not speaks and says_nothing(own))
            name = own if unit.kind == "heading" else name
            names.append(name)
            found.append(Read(passage, position, unit, own, heading, before, silent))
            heading, before = (own, "") if silent else (heading, own)
    opposite = {term for name in dict.fromkeys(names) if excludes(name) for term in terms(name)}
    if not opposite:
        return found
    return [
        replace(each, above=name) if excludes(name) or not opposite.isdisjoint(terms(name)) else each
        for each, name in zip(found, names, strict=True)
    ]


def _text_of(text: Evidence | Chunk) -> str:
    return text.content if isinstance(text, Chunk) else text.text


def rank(question: str, language: str, texts: Sequence[Evidence | Chunk]) -> list[Ranked]:
    """Every unit, the best first, equals in reading order. The texts are in the order of a search."""
    read = read_units(texts)
    units = [_unit(each, order) for order, each in enumerate(read)]
    asked = read_text(question, language, statistics((question,), units))
    passages = [_passage(each, language) for each in texts]
    ranked = [
        Ranked(read[each.unit.order], each.value("covered"), each.share)
        for each in rank_units(asked, units, passages, _of_units_alone())
    ]
    return sorted(ranked, key=lambda each: each.read.silent)


@cache
def _of_units_alone() -> Weights:
    """The weights where one of the units is the answer."""
    return msgspec.structs.replace(weights(), none=-math.inf)


def _unit(read: Read, order: int) -> choosing.Unit:
    start, end = read.unit.start, read.unit.end
    return choosing.Unit(
        passage=read.passage,
        start=start,
        end=end,
        kind=read.unit.kind or "prose",
        text=read.text,
        path=(read.heading,) if read.heading else (),
        intro=read.unit.intro or read.before,
        section=0,
        first=False,
        sentences=((start, end),),
        weight=weigh(read.text),
        order=order,
    )


def _passage(text: Evidence | Chunk, language: str) -> Passage:
    content = _text_of(text)
    return Passage(
        source_id=text.source_file if isinstance(text, Chunk) else text.source_id,
        title="",
        url="",
        score=text.score if isinstance(text, Chunk) else 0.0,
        score_type="fused",
        text=content,
        char_start=0,
        char_end=len(content),
        language=language,
        snapshot="",
    )


def best_of(rankings: Sequence[Sequence[Ranked]]) -> list[Ranked]:
    """Every unit once, as ranked for the part of the question that it answers best; best first."""
    found: dict[tuple[int, int], Ranked] = {}
    for each in (each for ranking in rankings for each in ranking):
        key = (each.read.passage, each.read.position)
        if key not in found or each.share > found[key].share:
            found[key] = each
    return sorted(found.values(), key=lambda r: (r.read.silent, -r.share, r.read.passage, r.read.position))


def lack(ranked: Sequence[Ranked], question: str) -> Literal["", "subject", "kind"]:
    """Whether the texts lack its subject, or the kind of thing that is asked for; empty if they seem to answer it."""
    if unlike(ranked):
        return "subject"
    counted = kind_of(question) != "count" or any(holds("count", each.text, question) for each in ranked)
    return "" if counted else "kind"


def unlike(ranked: Sequence[Ranked]) -> bool:
    """Whether every unit is about something else."""
    return not any(each.covered >= LEAST_COVERED for each in ranked)
