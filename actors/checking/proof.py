"""Whether a span says what a claim says: its words, its numbers with their units, its names, duties and negations."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from actors.checking import thresholds
from actors.checking.claims import SHORT_WORDS, Claim, without_mark
from actors.checking.rows import says_row
from actors.checking.spans import Candidate, Stems, compared, content, density, words_of
from actors.facts.lexicon import forces
from actors.facts.numbers.units import unit_after
from actors.facts.reading import read
from actors.facts.slots import slot_index, slots
from actors.facts.stems import Stem
from actors.gate.check import check_sentence
from actors.gate.flags import standing
from index.languages import FALLBACK, LANGUAGES, union
from index.languages.characters import is_han, normal
from index.languages.detection import detect
from index.languages.negation import is_negated, negations

_NAME = re.compile(r"`[^`\n]+`|(?<=[^\W_] )[A-ZÀ-Ý][\w’'-]+|\b\w*\d\w*[^\W\d]\w*|\b[A-Z]{2,}\b")
_JOINS: Final = union(lambda language: language.words.joins)
_BY_LATIN = re.compile(r"[a-z]")
_QUESTION = re.compile(r"[?？؟][\s\"'”’»)]*\Z")


def proves(claim: Claim, span: Candidate) -> bool:
    """Whether the span says what the claim says."""
    return (_bare(claim.text) == _bare(span.text) or _bears_out(claim, span)) and on_lead(claim, span)


def _bears_out(claim: Claim, span: Candidate) -> bool:
    """Whether the span says what the claim says in words that differ a little, or as a row of a table does."""
    wanted = _wanted(claim.text, span)
    if wanted is None or not (says_row(claim.text, wanted, span) if span.is_row else _says(claim, wanted, span)):
        return False
    flags = check_sentence(f"{claim.text} [1]", [span.evidence(1)])
    if span.is_row:  # no sentence: its numbers have been looked up in their cells
        flags = tuple(flag for flag in flags if flag.strength == "strong" and flag.kind != "fabricated_number")
    return _binds_alike(claim, span) and standing(flags) == "verified"


def _says(claim: Claim, wanted: Stems, span: Candidate) -> bool:
    """Whether the span has the words of the claim: `wanted`, all but one in many, close together, and none in place of another."""
    own = span.own | words_of(_unjoined(span.text))
    missing = wanted - own - span.around
    weight = len(wanted) + len(slots(claim.text))
    share = share_of(wanted, own)
    return (
        len(missing) * thresholds.SPARE_WORDS <= len(wanted)
        and missing.isdisjoint(names_of(claim))
        and (share >= thresholds.OWN_SHARE or (share >= thresholds.OWN_SHARE_BELOW and wanted <= own | span.above))
        and (weight >= SHORT_WORDS or len(span.own) <= thresholds.LONGER * weight)
        and density(wanted, span.text) >= thresholds.CLOSE_TOGETHER
        and not _replaces(claim.text, span.text)
        and not _QUESTION.search(span.text)
    )


def _wanted(text: str, span: Candidate) -> Stems | None:
    """The words that a span must have: without the numbers that it has with their units, without what only joins, and without
    pairs of Chinese characters that it has in two pieces. None where it lacks a number; a bound of it is another number.
    """
    there = slot_index(f"{span.heads}\n{span.said}")
    plain = read(compared(text)).text
    for value in reversed([value for value in read(plain).values if not value.name]):
        same = [slot.value.unit for slot in there.same(value)]
        if not same:
            if value.sure:
                return None
            continue  # as often a word
        end = unit_after(plain, value.end)[1] if value.unit in same else value.end
        plain = f"{plain[: value.start]} {plain[end:]}"
    words = content(_unjoined(plain, " " if slots(text) else r"\g<0>"))
    held = span.there | words_of(_unjoined(span.text))
    whole = {at for word in words if word.stem in held for at in range(word.start, word.end)}
    return frozenset(
        word.stem
        for word in words
        if word.stem in held or not is_han(word.stem[0]) or not whole.issuperset(range(word.start, word.end))
    ) or words_of(text)


def _unnumbered(text: str) -> str:
    """A text without its numbers and their units; names keep theirs."""
    plain = read(compared(text)).text
    for value in reversed([value for value in read(plain).values if not value.name]):
        plain = f"{plain[: value.start]} {plain[unit_after(plain, value.end)[1] :]}"
    return plain


def _unjoined(text: str, kept: str = " ") -> str:
    """A text without the words that only join a thing to its value. Between Chinese characters nothing replaces them, between other
    letters `kept` does.
    """

    def left(found: re.Match[str]) -> str:
        return (
            (" " if _BY_LATIN.match(found.string, found.end()) else "") if is_han(found[0][0]) else found.expand(kept)
        )

    return _JOINS.sub(left, compared(text))


def _replaces(text: str, there: str) -> bool:
    """Whether a word of `text` stands where `there` has another one, or two that are no neighbours have changed places."""
    stated = _unjoined(_unnumbered(text), r"\g<0>")
    own, theirs = ([*_units(content(each))] for each in (stated, _unjoined(_unnumbered(there))))
    moved = [at for at, (one, other) in enumerate(zip(own, theirs, strict=False)) if one != other]
    if len(moved) == 2 and moved[1] - moved[0] > 1 and sorted(own) == sorted(theirs):
        return True
    return any(one[0] == "replace" for one in SequenceMatcher(None, own, theirs, autojunk=False).get_opcodes())


def _units(words: tuple[Stem, ...]) -> Iterator[str]:
    """The words in order; of pairs of Chinese characters, which overlap, each character once."""
    ended = 0
    for word in words:
        yield from word.stem[max(0, ended - word.start) :] if is_han(word.stem[0]) else (word.stem,)
        ended = word.end


def _bare(text: str) -> str:
    return without_mark(compared(text)).rstrip(".!。")


def names_of(claim: Claim) -> Stems:
    """The words of the claim that name something: in code, with a capital letter within the claim, or with a digit."""
    return words_of(" ".join(_NAME.findall(claim.text)))


def _binds_alike(claim: Claim, span: Candidate) -> bool:
    """Whether the span has each duty, ban and permission of the claim, and each of the two denies only what the other does."""
    stated, there = normal(claim.text), normal(span.text)
    if not _forces(stated) <= _forces(there):
        return False
    if is_negated(claim.text):
        return is_negated(span.text)
    denied = [there[one.start : one.end] for one in negations(there, _language(there)) if one.cue not in stated]
    return words_of(claim.text).isdisjoint(words_of("\n".join(denied)))


def _language(text: str) -> str:
    """The language of a text; that of numbers and signs alone is any."""
    found = detect(text)
    return found if found in LANGUAGES else FALLBACK


def _forces(text: str) -> set[str]:
    return {force.name for force in forces(text, _language(text))}


def on_lead(claim: Claim, span: Candidate) -> bool:
    """Whether the span of a short claim is about what the claim's lead names."""
    lead = words_of(claim.lead)
    return not lead or len(words_of(claim.text)) >= SHORT_WORDS or share_of(lead, span.there) >= thresholds.LEAD_SHARE


def share_of(wanted: Stems, there: Stems) -> float:
    return len(wanted & there) / len(wanted) if wanted else 1.0
