"""The words of a text as the rules compare them: folded, without clitics, particles and endings.

The script of a word decides how it is cut, not a language label: a Korean question that names `Lucene` is compared as
both. Stems are for comparing only and are never shown.
"""

import re
from functools import lru_cache

from index.languages import every
from index.languages.affixes import affixes, without_ending, without_head
from index.languages.folding import fold
from index.languages.scripts import ARABIC_WRITTEN, HAN, HANGUL, is_han, is_hangul
from index.languages.tables.kinds import words_in

_TOKEN = re.compile(
    r"\d+(?:[.,٫٬]\d+)*"  # a number with its separators
    rf"|[{HAN}]+|[{HANGUL}]+|[{ARABIC_WRITTEN}]+"
    rf"|[^\W\d_{HAN}{HANGUL}{ARABIC_WRITTEN}]+"  # any other letters
)
_WRITTEN_ON = re.compile(f"[{HANGUL}{ARABIC_WRITTEN}]")  # scripts whose endings are all in the tables

_EMPTY = every(lambda language: language.words.ranking.empty.split())
FUNCTION_WORDS = frozenset(word for word in _EMPTY if not is_han(word))
#: Cut out of a run of characters, in this order, before it is paired.
_EMPTY_HAN = tuple(word for word in _EMPTY if is_han(word))
_EMPTY_STEMS = frozenset(every(lambda language: words_in(language.words.ranking.empty_stems)))
_HEADS = affixes(every(lambda language: language.words.ranking.heads))
_ENDINGS = affixes(every(lambda language: language.words.ranking.endings))


def terms(text: str) -> list[str]:
    """The content words of `text` in order, stemmed; Chinese as character pairs. Function words are left out."""
    found: list[str] = []
    for word in _TOKEN.findall(fold(text)):
        if is_han(word):
            found += _pairs(word)
        elif word not in FUNCTION_WORDS and (found_stem := stem(word)) not in _EMPTY_STEMS:
            found.append(found_stem)
    return found


def grams(text: str) -> set[str]:
    """Overlapping pieces of the words of `text`: three letters, or two syllables or characters, with word starts marked.

    They forgive what stemming misses: compounds, transliterations, irregular forms.
    """
    pieces: set[str] = set()
    for word in _TOKEN.findall(fold(text)):
        if word in FUNCTION_WORDS:
            continue
        size = 2 if is_han(word) or is_hangul(word) else 3
        marked = f"^{word}" if size == 3 else word
        pieces.update(marked[i : i + size] for i in range(max(1, len(marked) - size + 1)))
    return pieces


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """One folded word without its ending; never empty."""
    first = word[0]
    if first.isdigit():
        return word.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+", word) else word
    if _WRITTEN_ON.match(word):
        return without_ending(without_head(word, _HEADS), _ENDINGS)
    return _latin(word)


def _pairs(run: str) -> list[str]:
    for word in _EMPTY_HAN:
        run = run.replace(word, " ")
    pieces: list[str] = []
    for part in run.split():
        pieces += [part[i : i + 2] for i in range(len(part) - 1)] or [part]
    return pieces


def _latin(word: str) -> str:
    """A light stem: plurals, verb and adjective endings, double letters."""
    if len(word) <= 3:
        return word
    word = without_ending(word, _ENDINGS)
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    if len(word) > 4 and word[-1] in "ei":
        word = word[:-1]
    return word
