"""Which stretches of a text are negated, and whether a text denies anything; by the `negation` table of a language's terms."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

import msgspec

from index.languages import of, union
from index.languages.tables.kinds import variants_in

_CLAUSE_END: Final = r"[.,;:!?()…。，；：！？、؟،؛\n]"
_CLAUSE_STARTS: Final = ".,!?\n"
#: The text between the parts of a circumfix; non-greedy.
_BETWEEN: Final = r"[^.,;:!?()\n]{0,60}?\b"
_NEVER: Final = "(?!)"
#: How many characters a negated list has at most.
_LIST: Final = 200
_ASKS: Final = re.compile(r"[?？؟]\s*$")


class Negated(msgspec.Struct, frozen=True):
    """A cue at its position, and the stretch before or after it that it negates."""

    cue: str
    at: int
    start: int
    end: int


class _Cues(msgspec.Struct, frozen=True):
    """The compiled table of a language."""

    before: re.Pattern[str]
    circumfix: re.Pattern[str]
    after: re.Pattern[str]
    pseudo: tuple[str, ...]
    clause_end: re.Pattern[str]
    apart: re.Pattern[str]
    shares: re.Pattern[str]
    joins: re.Pattern[str]
    reach: int
    words_back: int


@lru_cache(maxsize=2048)
def is_negated(text: str) -> bool:
    """Whether a text, as written and in any language, denies or excludes something."""
    return bool(_in_question().search(text))


@lru_cache(maxsize=2048)
def excludes(heading: str) -> bool:
    """Whether a heading, in any language, says that what is below it is denied, forbidden or left out; a question does not."""
    return not _ASKS.search(heading) and bool(_in_heading().search(heading))


def denies_too(sentence: str, heading: str) -> bool:
    """Whether a sentence has itself, in its main clause, a word by which a heading excludes: "Not covered", "it is not covered"."""
    main = _clause_ends().split(sentence.lower(), maxsplit=1)[0]
    own, theirs = ({word.strip() for word in _in_heading().findall(text)} for text in (main, heading.lower()))
    return not own.isdisjoint(theirs)


@lru_cache(maxsize=2048)
def negations(text: str, language: str) -> tuple[Negated, ...]:
    """The negations of a text in normal form and in one of LANGUAGES, in order."""
    cues = _cues(language)
    results = [
        Negated(match["closes"], match.start(), match.start(), _clause_end(text, match.end(), cues))
        for match in cues.circumfix.finditer(text)
    ]
    covered = [(one.start, one.end) for one in results]
    results += [
        Negated(match[0].strip(), match.start(), match.end(), _clause_end(text, match.end(), cues))
        for match in cues.before.finditer(text)
        if not _inside(match.start(), covered)
    ]
    results += _backward(text, cues)
    if results:
        denies_nothing = [span for phrase in cues.pseudo for span in _spans(phrase, text)]
        results = [one for one in results if not _inside(one.at, denies_nothing)]
    return tuple(sorted(results, key=lambda one: one.at))


def turns(one: Negated, text: str, at: int, language: str) -> bool:
    """Whether the negation turns the word at a place, beyond its reach only in a list: "not A or B", but not "not A and B"."""
    cues = _cues(language)
    low, high = (at, one.at) if one.end <= one.at else (one.start, at)
    if not 0 <= high - low <= _LIST or cues.apart.search(text, low, high):
        return False
    between = text[low:high]
    if cues.shares.search(between):
        return True
    return one.start <= at < one.end and not cues.joins.search(between)


def is_in_reach(text: str, at: int, language: str) -> bool:
    """Whether a negation of the text reaches this place."""
    return any(one.start <= at < one.end for one in negations(text, language))


@cache
def _in_question() -> re.Pattern[str]:
    return union(lambda language: language.terms.negation.in_question)


@cache
def _in_heading() -> re.Pattern[str]:
    return union(lambda language: language.terms.negation.in_heading)


@cache
def _clause_ends() -> re.Pattern[str]:
    return union(lambda language: language.terms.negation.ends or _NEVER)


@cache
def _cues(language: str) -> _Cues:
    table = of(language).terms.negation
    circumfix = rf"(?:{table.circumfix.opens}){_BETWEEN}(?P<closes>{table.circumfix.closes})\b"
    return _Cues(
        before=re.compile(table.before or _NEVER),
        circumfix=re.compile(circumfix if table.circumfix.opens else _NEVER),
        after=re.compile(table.after or _NEVER),
        pseudo=variants_in(table.pseudo),
        clause_end=re.compile(f"{_CLAUSE_END}|{table.ends or _NEVER}"),
        apart=re.compile(rf"[.;:!?。\n]|{table.ends or _NEVER}"),
        shares=re.compile(table.shares or _NEVER),
        joins=re.compile(of(language).terms.copies.joins or _NEVER),
        reach=table.reach,
        words_back=table.words_back,
    )


def _backward(text: str, cues: _Cues) -> Iterator[Negated]:
    for match in cues.after.finditer(text):
        start = match.start()
        for _ in range(cues.words_back):
            start = max(text.rfind(" ", 0, max(0, start - 1)), 0)
        clause = max(text.rfind(mark, 0, match.start()) for mark in _CLAUSE_STARTS)
        yield Negated(match[0], match.start(), max(start, clause + 1), match.start())


def _clause_end(text: str, at: int, cues: _Cues) -> int:
    stop = cues.clause_end.search(text, at, at + cues.reach)
    return stop.start() if stop else min(len(text), at + cues.reach)


def _spans(phrase: str, text: str) -> Iterator[tuple[int, int]]:
    at = text.find(phrase)
    while at >= 0:
        yield at, at + len(phrase)
        at = text.find(phrase, at + 1)


def _inside(at: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)
