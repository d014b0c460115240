"""Other names of what a question names: those in brackets in the documents, "tail call elimination (TCE)"; those that a profile
lists; what initials stand for, "AGM" and "Annual general meeting"; the same words written with a space or without; and the same
day written otherwise, "20 June" and "2026-06-20".

A unit that has the other name counts as one that has the name.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from actors.choosing.asked import Asked
from actors.evidence.standing import years_in
from actors.facts.days import days
from bus.wire.parts import Passage
from index.languages.characters import fold, is_han, is_hangul
from index.languages.words import terms

_BRACKETED: Final = re.compile(r"[(（]([^\n()（）,，。;；:：、|]{2,40})[)）]")
#: What a name before a bracket has none of, and how far back it is looked for.
_BREAK: Final = re.compile(r"[\n()（）,，。.;；:：、|]")
_BEFORE = 60
#: How much of what stands before a bracket may be a name: characters of Chinese, words of other scripts.
_MOST_CHARACTERS, _MOST_WORDS = 10, 5
#: The shortest part of a word that may be a word of its own: in Korean, and in other scripts with spaces.
_LEAST_HANGUL, _LEAST_LETTERS = 2, 3
#: Words that initials may stand for: the first begins with a capital, and each has four letters at least.
_SPELLED_OUT: Final = re.compile(r"(?<![^\W_])[A-ZÀ-Ý][a-zà-ÿ]{3,}(?:[ -][A-Za-zÀ-ÿ]{4,}){2,4}")
_LEAST_INITIALS = 3
#: A longer word is not divided.
_LONGEST_WORD = 30


class Alias(NamedTuple):
    """`name` is the question's, `other` means the same; both are folded."""

    name: str
    other: str


def listed(question: str, synonyms: Mapping[str, Sequence[str]]) -> tuple[Alias, ...]:
    """The other names of what a question names, of a list."""
    folded = fold(question)
    return tuple(
        Alias(fold(name), fold(other))
        for one, others in synonyms.items()
        for name, other in itertools.permutations((one, *others), 2)
        if is_named(fold(name), folded)
    )


def aliases(asked: Asked, passages: Sequence[Passage]) -> tuple[Alias, ...]:
    """What the question's names are also called: of its list, and in these passages."""
    question = fold(asked.text)
    found = [Alias(*pair) for pair in asked.synonyms]
    read = [_bracketed(passage.text) for passage in passages]
    texts = [text for text, _ in read]
    for _, brackets in read:
        for before, inside in brackets:
            if is_named(inside, question):
                found += [
                    Alias(inside, other)
                    for other in _name_before(before, inside, texts)
                    if not is_named(other, question)
                ]
            elif name := next((end for end in _ends(before) if is_named(end, question) and terms(end)), ""):
                found.append(Alias(name, inside))
    dated = itertools.chain.from_iterable(same_days(question, text) for text in texts) if days(question) else ()
    short = [
        Alias(initials, whole)
        for one in passages
        for initials, whole in _initials(one.text)
        if is_named(initials, question)
    ]
    return tuple(dict.fromkeys((*found, *_spaced(question, texts), *dated, *short)))


def same_days(question: str, text: str) -> Iterator[Alias]:
    """The days of a question as a text writes them, both folded; where the question has years, of these only."""
    years = years_in(question)
    for own, one in itertools.product(days(question), days(text)):
        if (one.month, one.day) == (own.month, own.day) and (not years or not one.year or one.year in years):
            yield Alias(own.written, one.written)


def _spaced(question: str, texts: Sequence[str]) -> list[Alias]:
    """What the texts write only with a space where the question has none, or only without where it has one."""
    every = "\n".join(texts)
    words = [(terms(word) or [""])[0] for word in question.split()]
    pairs = [
        (word, f"{word[:at]} {word[at:]}")
        for word in words
        if len(word) <= _LONGEST_WORD and word not in every
        for at in range(_least(word), len(word) - _least(word) + 1)
    ]
    pairs += [
        (f"{one} {other}", one + other)
        for one, other in itertools.pairwise(words)
        if min(len(one), len(other)) >= _least(other)
    ]
    return [Alias(one, other) for one, other in pairs if other in every and one not in every]


def _least(word: str) -> int:
    return _LEAST_HANGUL if is_hangul(word[:1]) else _LEAST_LETTERS


@lru_cache(maxsize=1024)
def _bracketed(passage: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """A text folded, and what stands in its brackets after what stands before them."""
    text = fold(passage)
    found: list[tuple[str, str]] = []
    for match in _BRACKETED.finditer(text):
        before = _BREAK.split(text[max(0, match.start() - _BEFORE) : match.start()])[-1].strip()
        inside = match[1].strip()
        if before and terms(inside) and not inside.isdigit():
            found.append((before, inside))
    return text, tuple(found)


@lru_cache(maxsize=1024)
def _initials(passage: str) -> tuple[tuple[str, str], ...]:
    """The first letters of each run of three to five words that may have initials, and these words; all folded."""
    runs = (re.split("[ -]", fold(run)) for run in _SPELLED_OUT.findall(passage))
    return tuple(
        ("".join(word[0] for word in run[:most]), " ".join(run[:most]))
        for run in runs
        for most in range(_LEAST_INITIALS, len(run) + 1)
    )


def _name_before(before: str, inside: str, texts: Sequence[str]) -> list[str]:
    """The longest end of what stands before a bracket that is a name: of these initials, or one that stands elsewhere too."""
    for end in _ends(before):
        words = end.split()
        if len(words) > 1 and "".join(word[0] for word in words) == inside:
            return [end]
    for end in _ends(before):
        if terms(end) and sum(text.count(end) for text in texts) > 1:
            return [end]
    return []


def _ends(text: str) -> list[str]:
    """The ends of a text that may be a name, the longest first."""
    if is_han(text[-1:]):
        run = re.split(r"\s", text)[-1][-_MOST_CHARACTERS:]
        return [run[at:] for at in range(len(run) - 1)]
    words = text.split()[-_MOST_WORDS:]
    return [" ".join(words[at:]) for at in range(len(words))]


def is_named(name: str, text: str) -> bool:
    """Whether a name stands in a text, as a whole where words have spaces between them; a particle may follow in Korean."""
    if name not in text or is_han(name[-1:]):
        return name in text
    after = "" if is_hangul(name[-1:]) else r"(?![^\W_])"
    return re.search(rf"(?<![^\W_]){re.escape(name)}{after}", text) is not None


def in_one_name(text: str, synonyms: Mapping[str, Sequence[str]]) -> str:
    """The text with the listed name of each thing in place of its other names, so that a name is compared with itself."""
    for one, others in synonyms.items():
        for other in others:
            if is_named(fold(other), fold(text)) and not is_named(fold(one), fold(text)):
                text = re.sub(re.escape(other), one, text, flags=re.IGNORECASE)
    return text


def with_other_names(statement: str, synonyms: Mapping[str, Sequence[str]]) -> str:
    """The statement, followed by what the things in it are also called."""
    others = [alias.other for alias in listed(statement, synonyms) if alias.other not in statement.lower()]
    return " ".join((statement, *others))
