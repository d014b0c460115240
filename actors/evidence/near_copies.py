"""Two statements that agree word for word except in one stretch, and whether the two stretches contradict each other.

They do if one of them denies, if they oblige and permit, if they are opposites, or if each names something that the other does
not. An added detail contradicts nothing, nor does another form or spelling of a word.
"""

import re
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final, Literal

import msgspec

from actors.evidence import thresholds
from actors.evidence.statements import Statement, written
from actors.facts.lexicon import exclude, forces, terms
from actors.facts.reading import TOKEN, read
from actors.facts.stems import stems
from index.languages import LANGUAGES
from index.languages.characters import HAN, normal
from index.languages.negation import negations
from index.text.sentences import CELLS

_HAN = re.compile(f"[{HAN}]")
_SETS_OFF: Final = (",", ":", "،")

Turn = Literal["negation", "force", "opposite", "other"]


class NearCopy(msgspec.Struct, frozen=True):
    """`first` and `second` are the stretches in normal form, `turn` is their difference, `share` (0..1) how much is the same.

    `as_written`: both as written, with their neighbours where they mean nothing alone. `before` and `after`: the content words on
    each side that both have. `set_off`: a comma follows one of the stretches.
    """

    turn: Turn
    first: str
    second: str
    as_written: tuple[str, str]
    share: float
    before: int
    after: int
    set_off: bool


@lru_cache(maxsize=4096)
def _tokens(text: str) -> tuple[tuple[int, int, str], ...]:
    return tuple((match.start(), match.end(), match[0]) for match in TOKEN.finditer(text))


def near_copy(first: str, second: str, language: str) -> NearCopy | None:
    """How two statements differ; None if they do not, differ in several stretches, or do not exclude each other."""
    one, other = read(first).text, read(second).text
    mine, theirs = _tokens(one), _tokens(other)
    least, most = sorted((len(mine), len(theirs)))
    begin = 0
    while begin < least and mine[begin][2] == theirs[begin][2]:
        begin += 1
    end = 0
    while end < least - begin and mine[-1 - end][2] == theirs[-1 - end][2]:
        end += 1
    if (
        not most
        or (begin + end) / most < thresholds.NEAR_COPY_SHARE
        or begin + end == most
        or language not in LANGUAGES
    ):
        return None
    here, there = _stretch(mine, begin, end), _stretch(theirs, begin, end)
    if max(here[1] - here[0], there[1] - there[0]) > thresholds.REPLACED_CHARS:
        return None
    between = {word for _, _, word in mine[begin : len(mine) - end]} & {
        word for _, _, word in theirs[begin : len(theirs) - end]
    }
    turn = None if len(between) > thresholds.COMMON_WORDS else _turn(one, here, other, there, language)
    if turn is None:
        return None
    words = stems(one)
    # "must" and "not", and a character of a longer word, are shown with their neighbours.
    beside = 2 if turn in ("negation", "force") or _HAN.search(one[slice(*here)] + other[slice(*there)]) else 0
    return NearCopy(
        turn=turn,
        first=one[slice(*here)],
        second=other[slice(*there)],
        as_written=(
            written(first, one, *_stretch(mine, max(0, begin - beside), max(0, end - beside))),
            written(second, other, *_stretch(theirs, max(0, begin - beside), max(0, end - beside))),
        ),
        share=(begin + end) / most,
        before=sum(stem.end <= here[0] for stem in words),
        after=sum(stem.start >= here[1] for stem in words),
        set_off=one[here[1] : here[1] + 1] in _SETS_OFF or other[there[1] : there[1] + 1] in _SETS_OFF,
    )


def _stretch(tokens: tuple[tuple[int, int, str], ...], begin: int, end: int) -> tuple[int, int]:
    """The characters between the first `begin` and the last `end` tokens."""
    inside = tokens[begin : len(tokens) - end]
    if inside:
        return inside[0][0], inside[-1][1]
    at = tokens[begin - 1][1] if begin else 0
    return at, at


def _turn(one: str, here: tuple[int, int], other: str, there: tuple[int, int], language: str) -> Turn | None:
    mine, theirs = one[slice(*here)], other[slice(*there)]
    if _has_number(one, here) or _has_number(other, there):
        return None  # numbers are compared as amounts
    if (_denials(one, here, language) - _denials(other, there, language)) % 2:
        return "negation"
    forced = [
        {force.name for force in forces(text, language) if _overlap(force.term.start, force.term.end, at)}
        for text, at in ((one, here), (other, there))
    ]
    if any(exclude(a, b) for a in forced[0] for b in forced[1]):
        return "force"
    if _opposed(one, here, other, there, language):
        return "opposite"
    return "other" if _exchanged(mine, theirs) else None


def _has_number(text: str, at: tuple[int, int]) -> bool:
    """Whether the stretch has a number, in figures or in words."""
    return any(map(str.isdigit, text[slice(*at)])) or any(_overlap(v.start, v.end, at) for v in read(text).values)


def _denials(text: str, at: tuple[int, int], language: str) -> int:
    return sum(at[0] <= one.at < at[1] for one in negations(text, language))


def _overlap(start: int, end: int, at: tuple[int, int]) -> bool:
    return start < at[1] and at[0] < end


def _opposed(one: str, here: tuple[int, int], other: str, there: tuple[int, int], language: str) -> bool:
    return any(
        mine.role in ("opposite", "kind") and (mine.role, mine.group) == (theirs.role, theirs.group) and mine != theirs
        for term in terms(one, language)
        if _overlap(term.start, term.end, here)
        for was in terms(other, language)
        if _overlap(was.start, was.end, there) and not set(term.senses) & set(was.senses)
        for mine in term.senses
        for theirs in was.senses
    )


def _exchanged(mine: str, theirs: str) -> bool:
    """Whether each stretch has a word that the other lacks, in any form."""
    words, instead = ({stem.stem for stem in stems(text)} for text in (mine, theirs))
    if not words - instead or not instead - words or max(map(len, words | instead)) == 1:
        return False
    if any(len(a) > 1 and (a.startswith(b) or b.startswith(a)) for a in words for b in instead):
        return False
    return SequenceMatcher(None, mine, theirs, autojunk=False).ratio() < thresholds.SPELLING_RATIO


def contradicted(first: Statement, second: Statement) -> NearCopy | None:
    """How the second statement contradicts the first; None if it does not, or if they are about two things.

    Most near copies in real documentation are about two things: neighbouring rows and items, the same step for two programs, the
    same clause of two laws. A difference at the beginning of a statement, in its title or its headings is no conflict.
    """
    if first.source_id == second.source_id:
        return None
    if first.ends[0] != second.ends[0] and first.ends[1] != second.ends[1]:
        return None
    copy = near_copy(first.text, second.text, first.language)
    return copy if copy and not _of_two_things(copy, first, second) else None


def _of_two_things(copy: NearCopy, first: Statement, second: Statement) -> bool:
    fewest = thresholds.NAME_CONTEXT_WORDS if copy.turn == "other" else thresholds.TURN_CONTEXT_WORDS
    if copy.before + copy.after < fewest or in_key(first.text, copy.first) or in_key(second.text, copy.second):
        return True
    if copy.turn in ("negation", "force"):
        return False
    if copy.turn == "other" and copy.share < thresholds.NAME_AGREEMENT_SHARE:
        return True
    if _named_above(copy.first, first, second) or _named_above(copy.second, second, first):
        return True
    opening = not copy.before or (copy.set_off and copy.before == 1)
    return opening and not first.beside & second.beside


def in_key(text: str, stretch: str) -> bool:
    """Whether a stretch is in the first cell of a row, which names the subject of the row."""
    key, between, _ = text.partition(CELLS)
    return bool(between and stretch) and normal(stretch) in normal(key)


def _named_above(stretch: str, one: Statement, other: Statement) -> bool:
    """Whether its title or headings name the difference, and those of the other do not."""
    named = {stem.stem for stem in stems(stretch)} & one.about
    return bool(other.about) and bool(named - other.about)
