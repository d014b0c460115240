"""Terms that contradict the evidence: negation, duty and recommendation, ban and permission, limits, opposites, kinds.

A sentence is checked against the part of the evidence that it retells. A negation is turned when all the words in its scope
are in the evidence and none is negated there, or the other way round.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set
from functools import cache, lru_cache
from typing import Final

import msgspec

from actors.facts.lexicon import SPOKEN, Force, Role, Term, exclude, forces, terms
from actors.facts.reading import read
from actors.facts.stems import Stem, stem_of, stems
from actors.gate.copies.check import changed_in_copy, is_said_of_some
from actors.gate.places import ClosestPart, cells_of, closest_part, is_verbatim, likest
from actors.gate.thresholds import (
    COPY_CANDIDATES,
    KOREAN_ROOT_LETTERS,
    RETOLD_SHARE,
    SAME_SUBJECT_SHARE,
    SHORT_COPY_RATIO,
)
from index.languages import of
from index.languages.characters import is_hangul, normal, visible
from index.languages.detection import detect
from index.languages.negation import Negated, is_in_reach, negations
from index.text.citations import strip_markers

#: Rules whose words are a whole stretch that a negation turns.
_WHOLE: Final = frozenset({"added", "dropped"})


class Turned(msgspec.Struct, frozen=True):
    """`words` are the sentence's; `evidence` is the index of the text with the opposite; `sure`: the sentence repeats that text,
    so that the term is the difference, and no other wording.
    """

    words: str
    evidence: int
    why: str
    sure: bool


def reversed_terms(sentence: str, evidence: Sequence[str], language: str) -> Iterator[Turned]:
    text = normal(strip_markers(sentence))
    # Terms of one language say nothing about evidence in another.
    comparable = [index for index, item in enumerate(evidence) if language_of(item) == language]
    evidence = [evidence[index] for index in comparable]
    if is_verbatim(text, evidence):
        return
    there = closest_part(text, evidence)
    if there is None:
        return
    whole = "\n".join(read(item).text for item in evidence)
    cells = cells_of(there.text, text)
    for rule, words, why in [
        *_negation_added(text, cells, language),
        *(_negation_dropped(text, cells, language) if there.coverage >= SAME_SUBJECT_SHARE else ()),
        *_predicate(text, there.text, language),
        *_sweeping(text, whole, language),
        *_opposites(text, cells, language),
        *(_copied(text, sentence, evidence, language) if there.coverage >= RETOLD_SHARE else ()),
        *(_modality(text, cells, language) if _retells(text, there, language) else ()),
    ]:
        changed = "" if rule in _WHOLE else words
        sure = rule == "copied" or repeats(text, there.text, changed, language)
        yield Turned(words, comparable[there.evidence], why, sure)


def repeats(text: str, there: str, changed: str, language: str) -> bool:
    """Whether `there` has all other content words than the `changed` ones and few more, so that these are the difference."""
    at = text.find(changed) if changed else -1
    kept = {
        stem.stem for stem in subjects(text, language) if at < 0 or stem.end <= at or at + len(changed) <= stem.start
    }
    known = {stem.stem for stem in (*stems(there), *subjects(there, language))}
    return (
        bool(kept)
        and all(_is_among(each, known) for each in kept)
        and len(known) <= SHORT_COPY_RATIO * len(stems(text))
    )


def _is_among(stem: str, known: Set[str]) -> bool:
    """Whether a stem is among others; of a Korean one its beginning is enough, since a verb has more endings than are cut off."""
    if stem in known or not is_hangul(stem) or len(stem) < KOREAN_ROOT_LETTERS:
        return stem in known
    return any(len(each) >= KOREAN_ROOT_LETTERS and (stem.startswith(each) or each.startswith(stem)) for each in known)


def subjects(text: str, language: str) -> list[Stem]:
    """The content words of a text in normal form without those that oblige, permit, forbid or deny; of a word with such an ending
    what stands before it.
    """
    spans = [(force.term.start, force.term.end) for force in forces(text, language)]
    spans += [(one.at, one.at + len(one.cue)) for one in negations(text, language)]
    found = []
    for stem in stems(text):
        start = min((start for start, end in spans if start < stem.end and stem.start < end), default=stem.end)
        if start == stem.end:
            found.append(stem)
        elif start > stem.start and is_hangul(stem.stem):
            found.append(Stem(stem.start, start, stem_of(text[stem.start : start])))
    return found


def _retells(text: str, there: ClosestPart, language: str) -> bool:
    """Whether the closest part has half of the content words, or of those that neither oblige nor deny."""
    if there.coverage >= RETOLD_SHARE:
        return True
    own, known = ({stem.stem for stem in subjects(each, language)} for each in (text, there.text))
    return bool(own) and sum(_is_among(each, known) for each in own) >= RETOLD_SHARE * len(own)


@lru_cache(maxsize=512)
def language_of(text: str) -> str:
    """The language of a text of the evidence; cached, since every sentence needs it."""
    return detect(text)


def _start(stem: Stem) -> int:
    return stem.start


def _reach(text: str, negated: Negated) -> list[Stem]:
    found = stems(text)  # in order
    first = bisect_left(found, negated.start, key=_start)
    return [*found[first : bisect_left(found, negated.end, lo=first, key=_start)]]


def _negated_stems(text: str, language: str) -> set[str]:
    return {stem.stem for negated in negations(text, language) for stem in _reach(text, negated)}


def _negation_added(text: str, there: str, language: str) -> Iterator[tuple[str, str, str]]:
    known = {stem.stem for stem in stems(there)}
    turned = _negated_stems(there, language)
    for negated in negations(text, language):
        reach = {stem.stem for stem in _reach(text, negated)}
        if reach and reach <= known and not reach & turned:
            yield "added", text[negated.start : negated.end], "negated, which the evidence does not do"


def _copied(text: str, sentence: str, evidence: Sequence[str], language: str) -> Iterator[tuple[str, str, str]]:
    written = visible(strip_markers(sentence))
    likely = likest(text, evidence, COPY_CANDIDATES)
    for words, why, alone in changed_in_copy(text, written, likely, evidence, language):
        yield "copied" if alone else "retold", words, why


def _negation_dropped(text: str, there: str, language: str) -> Iterator[tuple[str, str, str]]:
    own = {stem.stem for stem in stems(text)}
    turned = _negated_stems(text, language)
    for negated in negations(there, language):
        reached = _reach(there, negated)
        reach = {stem.stem for stem in reached}
        shared = reach & own
        # The negator most surely applies to the word next to it.
        nearest = reached[-1 if negated.end <= negated.at else 0].stem if reached else ""
        if nearest in shared and len(shared) * 2 >= len(reach) and not reach & turned:
            yield (
                "dropped",
                ", ".join(sorted(shared)),
                f"the evidence negates this: “{there[negated.start : negated.end]}”",
            )


def _predicate(text: str, there: str, language: str) -> Iterator[tuple[str, str, str]]:
    other = other_predicate(text, there, language)
    if other is not None:
        yield "predicate", other[0], f"says it is {other[0]}, the evidence says {other[1]}"


def _sweeping(text: str, whole: str, language: str) -> Iterator[tuple[str, str, str]]:
    """A denial where the evidence denies nothing, or an absolute where it has none; only in languages where that is a sign."""
    if not of(language).terms.denials.sweeping:
        return
    denied = negations(text, language)
    if denied and not negations(whole, language) and not _of_role(whole, "implied", language):
        yield "denial", denied[0].cue, "denies, and the evidence denies nothing"
    absolute = _of_role(text, "absolute", language)
    if absolute and not _of_role(whole, "absolute", language):
        yield "absolute", absolute[0].text, "leaves no exception, the evidence does not say so"


def _modality(text: str, there: str, language: str) -> Iterator[tuple[str, str, str]]:
    """Duty made recommendation, ban made permission, a lower limit made an upper one, and the reverse of each."""
    own, theirs = forces(text, language), forces(there, language)
    names = {force.name for force in own}
    first: dict[str, Force] = {}
    for force in theirs:
        first.setdefault(force.name, force)
    for force in own:
        if force.name in first or is_said_of_some(force, text, there, language):
            continue
        against = next(
            (other for other in first.values() if exclude(force.name, other.name) and other.name not in names), None
        )
        if against is not None:
            why = f"{SPOKEN[force.name]}, where the evidence has {SPOKEN[against.name]}: “{against.term.text}”"
            yield "modality", force.term.text, why
            return


def _of_role(text: str, role: Role, language: str) -> list[Term]:
    return [term for term in terms(text, language) if any(sense.role == role for sense in term.senses)]


def _opposites(text: str, there: str, language: str) -> Iterator[tuple[str, str, str]]:
    own, theirs = terms(text, language), terms(there, language)
    for term in own:
        for sense in term.senses:
            if sense.role not in ("opposite", "kind"):
                continue
            same = [t for t in theirs for s in t.senses if s == sense]
            other = [
                t for t in theirs for s in t.senses if (s.role, s.group) == (sense.role, sense.group) and s != sense
            ]
            other = [t for t in other if not any(mine.text == t.text for mine in own)]
            if same or not other:
                continue
            if is_in_reach(text, term.start, language) != is_in_reach(there, other[0].start, language):
                continue
            if sense.role == "kind" and is_in_reach(text, term.start, language):
                continue
            yield sense.role, term.text, f"the evidence says {other[0].text}"


class _Says(msgspec.Struct, frozen=True):
    what: re.Pattern[str]
    noun_ends: re.Pattern[str]
    general: frozenset[str]


def other_predicate(text: str, there: str, language: str) -> tuple[str, str] | None:
    """The definition in `text` and the one in `there`, when they share no word; both in normal form."""
    says = _says(language)
    mine = says.what.search(text) if says else None
    theirs = says.what.search(there) if says and mine else None
    if not says or not mine or not theirs:
        return None
    # Another subject has another definition; a pronoun may refer to this one.
    subject = _subject(there, theirs)
    if subject and not subject & _subject(text, mine):
        return None
    noun = says.noun_ends.split(mine[1])[0].strip()
    defined = {stem.stem for stem in stems(noun)} - says.general
    if not defined or defined & {stem.stem for stem in stems(there)}:
        return None
    return noun, says.noun_ends.split(theirs[1])[0].strip()


def _subject(text: str, says: re.Match[str]) -> set[str]:
    """The content words before the verb."""
    return {stem.stem for stem in stems(text) if stem.end <= says.start()}


@cache
def _says(language: str) -> _Says | None:
    table = of(language).terms.predicates
    if not table.says_what:
        return None
    general = frozenset(stem_of(normal(word)) for word in table.general.split())
    return _Says(re.compile(rf"{table.says_what}([^,.;:()\n]+)"), re.compile(table.noun_ends), general)
