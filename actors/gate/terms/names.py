"""Names that a sentence puts where its evidence has others; for the languages that capitalise them, English and French."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from actors.gate.citations import strip_markers
from actors.gate.normal import normal, visible
from actors.gate.numbers.text_numbers import read
from actors.gate.numbers.units import MONTHS
from actors.gate.stems import stem_of, stems
from actors.gate.terms.polarity import negations

_CAPITAL: Final = r"[A-ZÀ-ÖØ-ÞŒ][\w'’-]*"
_RUN = re.compile(rf"{_CAPITAL}(?: (?:(?:of|de|the|du|la|von|van|for) )?{_CAPITAL})*")
# The first verb ends the subject, which may be called by a name that the evidence replaces by a pronoun.
_VERB = re.compile(
    r"\b(?:is|was|are|were|has|had|have|did|does|do|will|can|could|would|may|might|must|should|shall|need|became|[a-z]+ed|[a-z]+s"
    r"|est|sont|était|étaient|a|ont|avait|fut|peut|doit|sera)\b"
)
_PRONOUN: Final = r"(?:he|she|it|they|his|her|its|their|il|elle|ils|elles|son|sa|ses|leur)"
# What a list, a heading or emphasis puts before the first word.
_MARKUP = re.compile(r"\A\s*#.*\Z|\A[\s>*_•–-]*(?:\(?\d{1,2}[.)]\s+)?[*_\"“«\s]*", re.S)
_LONGEST_LABEL: Final = 60
_OPENS_WITH_PRONOUN = re.compile(
    rf"(?:(?:as|during|on|from|after|this|at|by|while|since|en|après|depuis)\b.*?\b)?{_PRONOUN}\b", re.I
)
_OPENS_UNNAMED = re.compile(
    r"(?:(?:the|this|its) (?:[\w-]+ ){0,2}?(?:film|movie|series|show|song|album|single|book|novel|episode|game|band|company)"
    r"|filmed|directed|produced|production|written|(?:le|la|ce|cette) (?:film|série|chanson|album|livre|roman|société))\b",
    re.I,
)
_WORD = re.compile(r"[^\W_]+")
# A shared beginning as long as this makes two forms of one name: China and Chinese.
_ROOT: Final = 4


class OtherName(msgspec.Struct, frozen=True):
    """`name` is the sentence's; `instead` are some names that the evidence has and the sentence has not."""

    name: str
    instead: tuple[str, ...]


def other_names(sentence: str, evidence: Sequence[str], language: str) -> Iterator[OtherName]:
    """The names after the subject that `evidence` does not have, if it has others that the sentence does not."""
    if language not in ("en", "fr"):
        return
    plain = _MARKUP.sub("", visible(strip_markers(sentence)))
    found = [(match.start(), match[0]) for match in _RUN.finditer(plain)]
    if not found:
        return
    label = plain.find(":", 0, _LONGEST_LABEL) + 1
    # What opens a sentence is capitalised whatever it is.
    opening = next((at + len(name) for at, name in found if label <= at <= label + 3), label)
    verb = _VERB.search(plain, opening)
    subject_ends = verb.start() if verb else opening
    missing = [(at, name) for at, name in found if _missing(name, evidence)]
    unknown = [(at, name) for at, name in missing if at >= subject_ends]
    if len(unknown) == len(missing) and any(_leaves_subject_out(text) for text in evidence):
        # The evidence speaks of something it does not name, and the sentence's subject is named there: one name is free.
        unknown = unknown[1:]
    others = tuple(name for text in evidence for name in _names_beyond(text, plain))
    reversed_stretches = negations(normal(plain), language)
    for at, name in unknown:
        if others and not any(one.start <= at < one.end for one in reversed_stretches):
            yield OtherName(name, others[:3])


def _missing(name: str, evidence: Sequence[str]) -> bool:
    words = [word for word in _WORD.findall(normal(name)) if stems(word) and not word.isdigit() and word not in MONTHS]
    return any(all(_absent(word, read(text).text) for text in evidence) for word in words)


def _absent(word: str, text: str) -> bool:
    if word[: max(_ROOT, len(stem_of(word)) - 1)] in text:
        return False
    known = {stem.stem for stem in stems(text)}
    return stem_of(word) not in known and not _is_initials(word, text)


def _is_initials(word: str, text: str) -> bool:
    """Whether `word` is made of the first letters of words that follow one another: ASSR."""
    if not 2 <= len(word) <= 6:
        return False
    initials = "".join(found[0][0] for found in _WORD.finditer(text))
    return word in initials


def _leaves_subject_out(text: str) -> bool:
    opening = text.lstrip()[:120]
    return bool(_OPENS_WITH_PRONOUN.match(opening) or _OPENS_UNNAMED.match(opening))


def _names_beyond(text: str, sentence: str) -> list[str]:
    own = normal(sentence)
    return [
        match[0]
        for match in _RUN.finditer(visible(text))
        if len(match[0]) > 3 and normal(match[0]) not in own and normal(match[0]) not in MONTHS
    ]
