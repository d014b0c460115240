"""Names in a sentence where its evidence has others, for languages that capitalise names."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

import msgspec

from actors.facts.numbers.units import MONTHS
from actors.facts.reading import read
from actors.facts.stems import stem_of, stems
from actors.gate.thresholds import (
    INITIALS_LETTERS,
    LEAD_LABEL_CHARS,
    NAME_ROOT_LETTERS,
    OTHER_NAME_CHARS,
    SUBJECT_CHARS,
)
from index.languages import of
from index.languages.characters import normal, visible
from index.languages.negation import negations
from index.text.citations import strip_markers

_CAPITAL: Final = r"(?<![^\W_])[A-ZÀ-ÖØ-ÞŒ][\w'’-]*"
# What a list, heading or emphasis may put before the first word.
_MARKUP = re.compile(r"\A\s*#.*\Z|\A[\s>*_•–-]*(?:\(?\d{1,2}[.)]\s+)?[*_\"“«\s]*", re.S)
_WORD = re.compile(r"[^\W_]+")


class _Patterns(msgspec.Struct, frozen=True):
    """The patterns of a language: `run` is a whole name; `verb` ends the subject, which may use a name where the evidence
    uses a pronoun; `unnamed` opens a text that leaves its subject out.
    """

    run: re.Pattern[str]
    verb: re.Pattern[str]
    unnamed: re.Pattern[str]


class OtherName(msgspec.Struct, frozen=True):
    """`name` is the sentence's; `instead` are names that the evidence has and the sentence lacks."""

    name: str
    instead: tuple[str, ...]


def other_names(sentence: str, evidence: Sequence[str], language: str) -> Iterator[OtherName]:
    """The names after the subject that `evidence` lacks, if it has others that the sentence lacks."""
    patterns = _patterns(language)
    if patterns is None:
        return
    plain = _MARKUP.sub("", visible(strip_markers(sentence)))
    names = [(match.start(), match[0]) for match in patterns.run.finditer(plain)]
    if not names:
        return
    label = plain.find(":", 0, LEAD_LABEL_CHARS) + 1
    # The first word of a sentence is always capitalised.
    opening = next((at + len(name) for at, name in names if label <= at <= label + 3), label)
    verb = patterns.verb.search(plain, opening)
    subject_ends = verb.start() if verb else opening
    missing = [(at, name) for at, name in names if _missing(name, evidence)]
    unknown = [(at, name) for at, name in missing if at >= subject_ends]
    if len(unknown) == len(missing) and any(patterns.unnamed.match(text.lstrip()[:SUBJECT_CHARS]) for text in evidence):
        # The evidence does not name its subject, and the sentence's subject is named there: one name is allowed.
        unknown = unknown[1:]
    others = tuple(name for text in evidence for name in _names_beyond(text, plain, patterns.run))
    reversed_stretches = negations(normal(plain), language)
    for at, name in unknown:
        if others and not any(one.start <= at < one.end for one in reversed_stretches):
            yield OtherName(name, others[:3])


@cache
def _patterns(language: str) -> _Patterns | None:
    table = of(language).terms.names
    if not table.capitalised:
        return None
    with_pronoun = rf"(?:(?:{table.leads})\b.*?\b)?(?:{table.pronouns})\b"
    return _Patterns(
        re.compile(rf"{_CAPITAL}(?: (?:(?:{table.joiners}) )?{_CAPITAL})*"),
        re.compile(rf"\b(?:{table.verbs})\b"),
        re.compile(rf"{with_pronoun}|(?:{table.unnamed})\b", re.I),
    )


def _missing(name: str, evidence: Sequence[str]) -> bool:
    words = [word for word in _WORD.findall(normal(name)) if stems(word) and not word.isdigit() and word not in MONTHS]
    return any(all(_absent(word, read(text).text) for text in evidence) for word in words)


def _absent(word: str, text: str) -> bool:
    if word[: max(NAME_ROOT_LETTERS, len(stem_of(word)) - 1)] in text:
        return False
    known = {stem.stem for stem in stems(text)}
    return stem_of(word) not in known and not _is_initials(word, text)


def _is_initials(word: str, text: str) -> bool:
    """Whether `word` is made of the initials of consecutive words: ASSR."""
    if not INITIALS_LETTERS[0] <= len(word) <= INITIALS_LETTERS[1]:
        return False
    initials = "".join(word_match[0][0] for word_match in _WORD.finditer(text))
    return word in initials


def _names_beyond(text: str, sentence: str, run: re.Pattern[str]) -> list[str]:
    own = normal(sentence)
    return [
        match[0]
        for match in run.finditer(visible(text))
        if len(match[0]) >= OTHER_NAME_CHARS and normal(match[0]) not in own and normal(match[0]) not in MONTHS
    ]
