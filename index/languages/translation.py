"""Words of a question as other languages have them: each word's nearest words, learnt from texts in both (docs/other-languages.md).

Input: a text and its language. Output: its words in another language, so that a search finds passages in that language. It is
a bag of words for a search engine, not a translation for a reader. For a word that the table lacks, the most frequent one with
its stem counts. Numbers, codes in capitals and Latin words without a neighbour stay; others are left out.
"""

from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from index.languages import LANGUAGES
from index.languages.characters import fold, is_han, is_latin
from index.languages.words import FUNCTION_WORDS, WORD, stem

_FILE: Final = Path(__file__).with_name("translation.npz")
_NONE: Final = 0xFFFF
#: Of Chinese words, in characters.
_LONGEST: Final = 6


def translated(text: str, language: str, other: str) -> str:
    """The content words of `text` in `other`, the nearest first for each; empty where the table has none of them."""
    if language == other or not {language, other} <= set(LANGUAGES):
        return ""
    words = _words(other)
    if not words or not _words(language):
        return ""
    near = _nearest(language, other)
    codes = {fold(word) for word in WORD.findall(text) if word.isupper() and len(word) > 1}
    known = [(word, number) for word in WORD.findall(fold(text)) for number in _known(word, language)]
    if not any(number is not None for _, number in known):
        return ""
    found = (
        ([] if number is None or word in codes else [words[each] for each in near[number] if each != _NONE])
        or ([word] if word[0].isdigit() or is_latin(word[0]) else [])
        for word, number in known
    )
    return " ".join(dict.fromkeys(chain.from_iterable(found)))


def share_known(text: str, language: str) -> float:
    """The share of a text's words that the table has in that language; 0 without a word."""
    words = [word for word in WORD.findall(fold(text)) if not word[0].isdigit()]
    return sum(word in _numbers(language) for word in words) / len(words) if words else 0.0


def _known(word: str, language: str) -> Iterator[int | None]:
    """The numbers of the words in one match of WORD: of Chinese the longest ones in turn; None for an unknown word."""
    numbers = _numbers(language)
    if not is_han(word):
        if word not in FUNCTION_WORDS:
            yield numbers.get(word, _stems(language).get(stem(word)))
        return
    yield from (numbers[part] for part in known_parts(word, language))


def known_parts(run: str, language: str) -> Iterator[str]:
    """The words of a folded run without spaces that the table knows, each the longest that begins there."""
    numbers = _numbers(language)
    start = 0
    while start < len(run):
        ends = range(min(len(run), start + _LONGEST), start, -1)
        end = next((end for end in ends if run[start:end] in numbers), None)
        if end is not None:
            yield run[start:end]
        start = end or start + 1


@cache
def _words(language: str) -> tuple[str, ...]:
    """Every word of a language, folded; none of a language that the table lacks."""
    with np.load(_FILE) as table:
        return tuple(bytes(table[language]).decode().split("\n")) if language in table else ()


@cache
def _numbers(language: str) -> dict[str, int]:
    return {word: number for number, word in enumerate(_words(language))}


@cache
def _stems(language: str) -> dict[str, int]:
    """Of the words with one stem the most frequent."""
    return {stem(word): number for number, word in reversed(list(enumerate(_words(language))))}


@cache
def _nearest(language: str, other: str) -> NDArray[np.uint16]:
    """One row for each word of `language`: the numbers of its nearest words in `other`, and _NONE."""
    with np.load(_FILE) as table:
        nearest: NDArray[np.uint16] = table[f"{language}-{other}"]
    return nearest
