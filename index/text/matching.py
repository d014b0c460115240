"""Find the words of a text that a question has too, in any form: the words that a reader looks for.

Words in Latin letters match by their stem and are found whole. In scripts where particles are written onto a word, or words
without spaces, the matching stretch alone is found. Words of grammar, and words that only ask, never match.
"""

import re
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache

from index.languages import LANGUAGES, every, of
from index.languages.characters import fold, is_arabic, is_han, is_hangul
from index.languages.words import WORD, terms, terms_of, written
from index.text.question_words import without_question_words

type Stretch = tuple[int, int]

_MARKS = r"\u0300-\u036f\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed\u1160-\u11ff\u200b-\u200f\ufe00-\ufe0f"
_MARK = re.compile(f"[{_MARKS}]")
#: A character with what belongs to it: combining marks, the vowels and finals of a decomposed syllable, invisible characters.
_CLUSTER = re.compile(rf"(?s:.)[{_MARKS}]*")
_folded = lru_cache(maxsize=8192)(fold)
#: The text allowed between two matching words of one stretch.
_JOINS = frozenset((" ", "-", "\u00a0", "\u202f", "\u2011", "\u3000"))


_WITHOUT_SPACES = next(language for language in LANGUAGES if of(language).identity.script == "han")
_HARDLY_SAYS = frozenset(terms(" ".join(every(lambda language: language.words.gate_words.split()))))

_ASKS = frozenset(terms(" ".join(every(lambda language: [language.questions.wording.asking]))))


@lru_cache(maxsize=256)
def content_words(question: str) -> frozenset[str]:
    """The terms of a question that a passage can match; single letters and the like count only if there is nothing else."""
    result = frozenset(terms(without_question_words(question)))
    return frozenset(term for term in result - _HARDLY_SAYS if len(term) > 1 or not _is_letter(term)) or result


def _is_letter(term: str) -> bool:
    """Whether a term of one character is a mere letter, in a script where words have several."""
    return not (term.isdigit() or is_hangul(term) or is_han(term))


def matches(text: str, wanted: Set[str]) -> tuple[Stretch, ...]:
    """The stretches of `text` that match one of the terms, in order; stretches that touch or are side by side are one."""
    words, starts, ends = _words(text)
    results: list[Stretch] = []
    for first, last in _matching(words, wanted):
        start, end = starts[first], ends[last - 1]
        if results and (start <= results[-1][1] or text[results[-1][1] : start] in _JOINS):
            start = results.pop()[0]
        results.append((start, end))
    return tuple(results)


def lacking(question: str, text: str) -> tuple[str, ...]:
    """The words of a question, as written, that a text lacks; none where it has none of them, being in another language."""
    wanted = content_words(question)
    there = terms_in(text)
    absent = frozenset(term for term in wanted - there if not (is_hangul(term[0]) and matches(text, {term})))
    if absent == wanted:
        return ()
    spaced = frozenset(term for term in absent - _ASKS if not is_han(term))
    present = {at for stretch in matches(question, wanted - absent) for at in range(*stretch)}
    places = {at for stretch in matches(question, spaced) for at in range(*stretch)} - present
    words = "".join(letter if at in places else " " for at, letter in enumerate(question)).split()
    folded = fold(text)
    return (*words, *(word for word in _chinese_words(question) if word not in folded))


def _chinese_words(question: str) -> Iterator[str]:
    """Its words of several characters, since where one of a single character begins and ends is not known."""
    runs = [run for run in WORD.findall(fold(" ".join(written(without_question_words(question))))) if is_han(run)]
    if not runs:
        return
    from index.languages.translation import known_parts  # loads numpy and a table

    for run in runs:
        yield from (word for word in known_parts(run, _WITHOUT_SPACES) if len(word) > 1)


@lru_cache(maxsize=256)
def terms_in(text: str) -> frozenset[str]:
    """The terms of all its words, of Chinese all pairs."""
    return frozenset(term for *_, own in _words(text)[0] for term in own)


def _placed(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """The folded text, and where in `text` each of its characters begins and ends."""
    if text.isascii():
        return text.lower(), range(len(text)), range(1, len(text) + 1)
    clusters: Sequence[str] = _CLUSTER.findall(text) if _MARK.search(text) else text
    folded = list(map(_folded, clusters))
    if clusters is text and {1}.issuperset(map(len, folded)):
        return "".join(folded), range(len(text)), range(1, len(text) + 1)
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for cluster, letters in zip(clusters, folded, strict=True):
        starts += [at] * len(letters)
        at += len(cluster)
        ends += [at] * len(letters)
    return "".join(folded), starts, ends


@lru_cache(maxsize=256)  # the passages near one question are near the next
def _words(text: str) -> tuple[Sequence[tuple[int, str, Sequence[str]]], Sequence[int], Sequence[int]]:
    """Where each word of the folded text begins, the word, and its terms, of Chinese all pairs; and the rest of `_placed`."""
    folded, starts, ends = _placed(text)
    words = ((found.start(), found[0]) for found in WORD.finditer(folded))
    return [(at, word, _pairs(word) if is_han(word[0]) else terms_of(word)) for at, word in words], starts, ends


def _pairs(word: str) -> Sequence[str]:
    return [word[n : n + 2] for n in range(max(len(word) - 1, 1))]


def _matching(words: Sequence[tuple[int, str, Sequence[str]]], wanted: Set[str]) -> Iterator[Stretch]:
    syllables = [term for term in wanted if len(term) > 1 and is_hangul(term[0])]
    for at, word, own in words:
        if wanted.isdisjoint(own) and not syllables:
            continue
        if is_hangul(word[0]):
            yield from _inside(word, at, own, wanted, syllables)
        elif is_han(word[0]):
            yield from ((at + n, at + n + len(pair)) for n, pair in enumerate(own) if pair in wanted)
        elif not wanted.isdisjoint(own):
            stretch = word.find(own[0]) if is_arabic(word[0]) else -1
            yield (at + max(stretch, 0), at + len(word))


def _inside(word: str, at: int, own: Sequence[str], wanted: Set[str], syllables: Sequence[str]) -> Iterator[Stretch]:
    """The terms in a word of syllables: at its beginning before a particle, or anywhere in a compound."""
    if len(own) == 1 and own[0] in wanted:
        yield (at, at + len(own[0])) if word.startswith(own[0]) else (at, at + len(word))
        return
    if held := [term for term in syllables if term in word]:
        yield from sorted((at + (start := word.find(term)), at + start + len(term)) for term in held)
