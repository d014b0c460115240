"""Put what is in force before what is out of date, and what a later document says of a matter before what an earlier one said.

Minutes, policies and contracts come in series: the sentence that fits a question best is often of a version that a later one
changes, in the same words or in others ("postponed", "withdrawn"). A document that an amendment changes, and one of a month or
day, such as minutes, is replaced only in what the later one says of the same; one of a year or version is replaced as a whole.
A letter that changes an amount or withdraws a promise comes first, too. Also: a document's own changes and warnings of traces.
"""

import itertools
import math
import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from actors.choosing.asked import Asked, holds, tells_time
from actors.choosing.features import Read, words_of
from actors.choosing.rows import cells
from actors.choosing.signs import DEEP, LEAST_SHARE, Ranked
from actors.choosing.units import MAIL
from actors.evidence.standing import (
    amends,
    is_later,
    moves,
    out_of_date,
    replaced_in_part,
    warns,
    when,
    withdraws,
    years_in,
)
from actors.facts.days import days
from actors.facts.numbers.units import without_measures
from bus.wire.parts import Passage
from index.languages.characters import ascii_digits, fold

#: What being out of date counts against a unit, in the scores of the ranking; twice where what replaces it has a likely unit.
OUT_OF_DATE = 3.0
#: A number with its decimals that is no year and no part of a name; conflicts.py compares the plain digits of titles.
_NUMBER = re.compile(r"(?<![A-Za-z\d_.,])(?!(?:19|20)\d\d(?!\d))\d+(?:[ \u00a0\u202f]\d{3}(?!\d)|[.,:]\d+)*")
#: A unit speaks of the same as one that it replaces if it has this part of that one's words.
_SAME = 0.5
#: A sentence that withdraws something needs this part of the question.
_ENDS = 0.6
#: A later unit returns to what an earlier one answers if it has this part of the question.
_RETURNS = 0.3
#: What stands below a heading for changes belongs to the best unit if it has this part of the question.
_PART = 0.2


def in_force(asked: Asked, ranked: list[Ranked], passages: Sequence[Passage]) -> tuple[list[Ranked], dict[str, str]]:
    """The units in their new order, and the documents that are out of date, each with its replacement."""
    old = out_of_date(passages, asked.text)
    ranked = _moved(asked, ranked, passages)
    if not ranked or not old:
        return ranked, old
    newer = _newer_units(ranked, passages, old)
    if (best := ranked[0]).unit.order not in newer and passages[best.unit.passage].source_id in old:
        ranked, old = _last_said(asked, ranked, passages, old)
    return _by_validity(ranked, passages, old, newer), old


def _moved(asked: Asked, ranked: list[Ranked], passages: Sequence[Passage]) -> list[Ranked]:
    """A unit that answers, changes or ends what the best one says comes first: in a mail the text above a quotation; in another
    document, which is no earlier one, what moves something and names a number of the best unit, or withdraws something. That
    document needs a date where the unit is unlikely or withdraws.
    """
    if not ranked:
        return ranked
    best, own = ranked[0], passages[ranked[0].unit.passage]
    had = asked.weight_of(best.read.bag)
    for each in ranked[1:DEEP]:
        passage, has = passages[each.unit.passage], asked.weight_of(each.read.bag)
        if has < _SAME * had or _lacks_more(each, best):
            continue
        likely = each.share >= LEAST_SHARE
        if passage.source_id == own.source_id:
            later = likely and best.unit.kind == "quotation" != each.unit.kind and bool(MAIL.search(own.source_id))
        else:
            dated = _is_dated(passage)
            later = ((likely or dated) and _changes(asked, best, each)) or (dated and _ends(asked, best, each))
            later = later and not is_later(own, passage)
        if later:
            return _first(ranked, each)
    return ranked


def _lacks_more(one: Ranked, other: Ranked) -> bool:
    """Whether a name or number of the question is missing in one that the other has."""
    return any(one.value(name) > other.value(name) for name in ("identifiers_missing", "likely_missing"))


def _changes(asked: Asked, best: Ranked, other: Ranked) -> bool:
    """Whether the other unit moves something and has a number of the best one, and another that this one lacks."""
    if not moves(other.unit.text) or moves(best.unit.text):
        return False
    own, said = _numbers(best), _numbers(other)
    shared = (own & said) - set(_NUMBER.findall(ascii_digits(asked.text)))
    return bool(shared and said - own)


def _ends(asked: Asked, best: Ranked, other: Ranked) -> bool:
    """Whether a sentence of the other unit withdraws something, with most of the question, or half and all of the best one's."""
    least = min(_ENDS * asked.whole, max(_SAME * asked.whole, asked.weight_of(best.read.bag)))
    said = zip(other.read.sentences, other.read.sentence_texts, strict=True)
    ended = any(asked.weight_of(words) >= least and withdraws(text) for words, text in said)
    return ended and not withdraws(best.unit.text)


def _is_dated(passage: Passage) -> bool:
    return bool(when(passage) or years_in(passage.text))


def _first(ranked: list[Ranked], one: Ranked) -> list[Ranked]:
    """`one` before the best unit: they exchange their shares, of which all units have no more than before."""
    best = ranked[0]
    others = [each for each in ranked[1:] if each is not one]
    return [replace(one, score=best.score + math.log(2), share=best.share), replace(best, share=one.share), *others]


def changes(asked: Asked, ranked: Sequence[Ranked], passages: Sequence[Passage]) -> list[Ranked]:
    """The first unit below a heading of the best one's document that announces changes, from a day on, if it has a part of the
    question.
    """
    best = ranked[0].unit
    source = passages[best.passage].source_id
    found = (
        each
        for each in ranked[1:DEEP]
        if passages[each.unit.passage].source_id == source
        and (each.unit.passage, each.unit.section) != (best.passage, best.section)
        and each.unit.path
        and moves(each.unit.path[-1])
        and moves(each.unit.text)
        and days(fold(f"{each.unit.path[-1]} {each.unit.text}"))
        and asked.weight_of(each.read.bag) >= _PART * asked.whole
    )
    return list(itertools.islice(found, 1))


def warnings(asked: Asked, ranked: Sequence[Ranked], passages: Sequence[Passage]) -> list[Ranked]:
    """The first other unit of the best one's document that warns of traces of something that the question names."""
    source = passages[ranked[0].unit.passage].source_id
    own = (each for each in ranked[1:] if passages[each.unit.passage].source_id == source)
    found = (each for each in own if not asked.terms.keys().isdisjoint(each.read.bag) and warns(each.unit.text))
    return list(itertools.islice(found, 1))


def _numbers(one: Ranked) -> set[str]:
    return set(_NUMBER.findall(ascii_digits(" ".join(one.read.sentence_texts))))


def _newer_units(ranked: Sequence[Ranked], passages: Sequence[Passage], old: Mapping[str, str]) -> dict[int, Ranked]:
    """By the order of a unit that is out of date: the unit of a replacement with most of its words, if it has enough of them."""
    later = {
        name: {each.source_id for each in passages if each.source_id == by or is_later(each, own)}
        for own in passages
        if (by := old.get(name := own.source_id))
    }
    newer: dict[int, Ranked] = {}
    for one in ranked[:DEEP]:
        names = later.get(passages[one.unit.passage].source_id, ())
        units = (each for each in ranked if passages[each.unit.passage].source_id in names and _is_of_same(one, each))
        best = max(units, key=lambda each: _in_common(one, each), default=None)
        if best is not None and _in_common(one, best) >= _SAME:
            newer[one.unit.order] = best
    return newer


def _is_of_same(one: Ranked, other: Ranked) -> bool:
    """Whether not both are rows, or both of the same thing, of whatever strength or size: prices of two things may be equal."""
    first, second = (cells(each.unit.text)[:1] if each.unit.kind == "table_row" else () for each in (one, other))
    return not first or not second or len({without_measures(fold(each.value)) for each in (*first, *second)}) == 1


def _in_common(one: Ranked, other: Ranked) -> float:
    """The share of one's words that the other has."""
    return len(one.read.bag & other.read.bag) / max(len(one.read.bag), 1)


def _last_said(
    asked: Asked, ranked: list[Ranked], passages: Sequence[Passage], old: dict[str, str]
) -> tuple[list[Ranked], dict[str, str]]:
    """The latest unit that returns to what the best one answers comes first, and its document counts as in force; so does the best
    one's if it is of one day, such as minutes.
    """
    best, own = ranked[0], passages[ranked[0].unit.passage]
    returning = [
        each
        for each in ranked[:DEEP]
        if is_later(passages[each.unit.passage], own)
        and _is_of_same(best, each)
        and _returns_to(asked, best, each.read, amended=amends(passages[each.unit.passage], own))
    ]
    if not returning:
        return ranked, old
    last = max(
        returning,
        key=lambda each: (
            _has_kind(asked, each.read), when(passages[each.unit.passage]), asked.weight_of(_with_headings(each.read))
        ),
    )  # fmt: skip
    valid = {passages[last.unit.passage].source_id}
    if own.source_id in replaced_in_part(passages, old):
        valid.add(own.source_id)
    return _first(ranked, last), {name: by for name, by in old.items() if name not in valid}


def _returns_to(asked: Asked, best: Ranked, later: Read, *, amended: bool) -> bool:
    """Whether a later unit, with its headings, has enough of the question, and itself another word of the best one or all of it;
    one of an amendment needs no other word.
    """
    words = _with_headings(later)
    whole = asked.terms.keys() <= later.bag
    other_word = (later.bag & best.read.bag) - asked.terms.keys()
    return asked.weight_of(words) >= _RETURNS * asked.whole and (amended or whole or bool(other_word))


def _with_headings(read: Read) -> frozenset[str]:
    return read.bag | words_of(" ".join(read.unit.path)).terms


def _has_kind(asked: Asked, read: Read) -> bool:
    """Whether a unit has the kind of thing asked for; where a time is, a date or time and not any number."""
    if asked.kind == "time":
        return any(map(tells_time, read.sentence_texts))
    return any(holds(asked.kind, text, asked.text) for text in read.sentence_texts)


def _by_validity(
    ranked: list[Ranked], passages: Sequence[Passage], old: Mapping[str, str], newer: Mapping[int, Ranked]
) -> list[Ranked]:
    """The units of `old` documents behind every likely one in force, which get their shares.

    A unit that says the same in a replacement is at least as likely as the old one.
    """
    named = {each.unit.order: passages[each.unit.passage].source_id for each in ranked}
    replaced = [each for each in ranked if each.unit.order in newer and named[each.unit.order] in old]
    replaces = {newer[each.unit.order].unit.order: each for each in reversed(replaced)}
    likely = {named[each.unit.order] for each in ranked if each.share >= LEAST_SHARE or each.unit.order in replaces}
    in_part = replaced_in_part(passages, old)
    found: list[Ranked] = []
    for each in ranked:
        order, name = each.unit.order, named[each.unit.order]
        behind = order in newer or (name not in in_part and order not in replaces and old.get(name) in likely)
        loss = OUT_OF_DATE * (1 + behind) if name in old and (behind or name not in in_part) else 0.0
        one = replaces.get(order, each)
        score, share = max(each.score, one.score) - loss, max(each.share, one.share) * math.exp(-loss)
        found.append(replace(each, score=score, share=share))
    whole = 1 - sum(each.share for each in ranked) + sum(each.share for each in found)
    return sorted((replace(each, share=each.share / whole) for each in found), key=lambda each: -each.score)
