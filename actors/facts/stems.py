"""The content words of a text, reduced to stems.

Chinese, which is written without spaces, gives pairs of characters. Numbers are left out, since they are checked separately.
"""

import re
from functools import lru_cache
from typing import Final

import msgspec

from index.languages import every
from index.languages.characters import ARABIC, HAN, HANGUL, fold, is_hangul, normal
from index.languages.tables.kinds import words_in
from index.languages.words import stem as stem_of_folded

_WORD = re.compile(rf"[{HANGUL}]+|(?P<han>[{HAN}]+)|[{ARABIC}]+|[a-zà-öø-ÿœ][a-zà-öø-ÿœ0-9]*")
# Function words and near-empty words: their absence from the evidence proves nothing.
EMPTY: Final = frozenset(every(lambda language: words_in(language.words.gate_words)))


class Stem(msgspec.Struct, frozen=True):
    """One content word: the position of its full form, and the form to compare."""

    start: int
    end: int
    stem: str


@lru_cache(maxsize=4096)
def stems(text: str) -> tuple[Stem, ...]:
    """The content words of a text in normal form, in order."""
    result: list[Stem] = []
    for match in _WORD.finditer(text):
        word, start = match[0], match.start()
        if match.lastgroup:
            pairs = [word] if len(word) == 1 else [word[at : at + 2] for at in range(len(word) - 1)]
            result.extend(Stem(start + at, start + at + len(pair), pair) for at, pair in enumerate(pairs))
        elif word not in EMPTY:
            stem = stem_of(word)
            if stem not in EMPTY and (len(stem) > 1 or is_hangul(stem)):
                result.append(Stem(start, match.end(), stem))
    return tuple(result)


@lru_cache(maxsize=1024)
def stems_in(text: str) -> frozenset[str]:
    """The stems of a text as it is written."""
    return frozenset(stem.stem for stem in stems(normal(text)))


@lru_cache(maxsize=65536)
def stem_of(word: str) -> str:
    """The stem of `word`, one word of one script in normal form."""
    return stem_of_folded(fold(word))
