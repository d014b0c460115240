"""The words of a text as all rules compare them: folded, without function words, reduced to the stem that their forms share.

Crude on purpose: a stem is only ever compared with another one made here, and never shown. The script of a word decides how
it is stemmed, not a language label: a Korean question that mentions `Lucene` is stemmed as both.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from index.languages import every
from index.languages.characters import ARABIC_WRITTEN, HAN, HANGUL, fold, is_han, is_hangul
from index.languages.tables.kinds import words_in

#: Scripts in which words only lose their affixes.
_AFFIXES_ONLY = re.compile(f"[{HANGUL}{ARABIC_WRITTEN}]")
_GROUPED_DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+")


class Affix(NamedTuple):
    #: Letters of the word that must remain.
    least: int
    #: Replacement.
    put: str


def affixes(rows: Iterable[str]) -> dict[str, Affix]:
    """The affixes in rows as `words.toml` has them, by their letters; of two alike the first counts."""
    results: dict[str, Affix] = {}
    for row in rows:
        least, *written = row.split()
        for one in written:
            letters, _, put = one.partition("=")
            results.setdefault(letters, Affix(int(least), put))
    return results


_HEADS: Final = affixes(every(lambda language: language.words.heads))
_ENDINGS: Final = affixes(every(lambda language: language.words.endings))
# Longest first. A word has one beginning of each length, and looking that up is much faster than trying every affix.
_HEAD_LENGTHS: Final = sorted({*map(len, _HEADS)}, reverse=True)
_ENDING_LENGTHS: Final = sorted({*map(len, _ENDINGS)}, reverse=True)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """One folded word, or a number, without its affixes; never empty."""
    if word[0].isdigit():
        return word.replace(",", "") if _GROUPED_DIGITS.fullmatch(word) else word
    if _AFFIXES_ONLY.match(word):
        return _without_ending(_without_head(word))
    if len(word) <= 3:
        return word
    word = _without_ending(word)
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    if len(word) > 3 and word[-1] in "ei":  # "file" and "files"
        word = word[:-1]
    return word[:-1] if len(word) > 5 and word.endswith("ll") else word  # "cancelling", "travail" and "travailler"


def _without_head(word: str) -> str:
    for length in _HEAD_LENGTHS:
        head = _HEADS.get(word[:length])
        if head is not None and len(word) - length >= head.least:
            return head.put + word[length:]
    return word


def _without_ending(word: str) -> str:
    for length in _ENDING_LENGTHS:
        ending = _ENDINGS.get(word[-length:])
        if ending is not None and len(word) - length >= ending.least:
            return word[:-length] + ending.put
    return word


#: Words of a folded text, each in one script.
WORD = re.compile(
    r"\d+(?:[.,٫٬]\d+)*"  # a number with its separators
    rf"|[{HAN}]+|[{HANGUL}]+|[{ARABIC_WRITTEN}]+"
    rf"|[^\W\d_{HAN}{HANGUL}{ARABIC_WRITTEN}]+"  # any other letters
)

#: A word with its hyphens, apostrophes and underscores; in Han a whole run.
_WRITTEN = re.compile(rf"[{HAN}]+|[^\W_{HAN}]+(?:[-'’._]+[^\W_{HAN}]+)*")

_LISTED = every(lambda language: language.words.function_words.split())
FUNCTION_WORDS = frozenset(word for word in _LISTED if not is_han(word))
#: Cut out of a run of characters, in this order, before it is split into pairs.
_HAN_FUNCTION_WORDS = tuple(word for word in _LISTED if is_han(word))
_FUNCTION_STEMS = frozenset(every(lambda language: words_in(language.words.function_stems)))


def terms(text: str) -> list[str]:
    """The content words of `text` in order, stemmed; Chinese as character pairs. Function words are left out."""
    return [term for word in WORD.findall(fold(text)) for term in terms_of(word)]


def written_terms(text: str) -> list[tuple[str, str]]:
    """As `terms`, each with the folded word that it comes from; a pair of Chinese characters with itself."""
    words = WORD.findall(fold(text))
    return [(term, term if is_han(word) else word) for word in words for term in terms_of(word)]


@lru_cache(maxsize=65536)
def terms_of(word: str) -> tuple[str, ...]:
    """The terms of one match of WORD: none for a function word, several for Chinese."""
    if is_han(word):
        return tuple(_pairs(word))
    if word in FUNCTION_WORDS or (result := stem(word)) in _FUNCTION_STEMS:
        return ()
    return (result,)


def written(text: str) -> list[str]:
    """The content words of `text` in order and as written; of Chinese the runs between function words."""
    results: list[str] = []
    for word in _WRITTEN.findall(text):
        if is_han(word):
            results += [run for run in _runs(word) if len(run) > 1]
        elif fold(word) not in FUNCTION_WORDS and terms(word):
            results.append(word)
    return results


def grams(text: str) -> set[str]:
    """Overlapping pieces of the words of `text`: three letters, or two syllables or characters; word starts are marked.

    They match what stemming misses: compounds, transliterations, irregular forms.
    """
    parts: set[str] = set()
    for word in WORD.findall(fold(text)):
        if word in FUNCTION_WORDS:
            continue
        size = 2 if is_han(word) or is_hangul(word) else 3
        marked = f"^{word}" if size == 3 else word
        parts.update(marked[i : i + size] for i in range(max(1, len(marked) - size + 1)))
    return parts


def _runs(run: str) -> list[str]:
    for word in _HAN_FUNCTION_WORDS:
        run = run.replace(word, " ")
    return run.split()


def _pairs(run: str) -> list[str]:
    parts: list[str] = []
    for part in _runs(run):
        parts += [part[i : i + 2] for i in range(len(part) - 1)] or [part]
    return parts
