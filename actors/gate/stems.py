"""The words of a text that carry its content, cut down to what their forms share.

Crude on purpose: a stem is only ever compared with another made the same way. Chinese, which writes no spaces, gives pairs
of characters. Numbers have a check of their own and are left out.
"""

import re
from functools import lru_cache
from typing import Final

import msgspec

from index.languages import every
from index.languages.affixes import affixes, without_ending, without_head
from index.languages.scripts import ARABIC, HAN, HANGUL, is_arabic, is_han, is_hangul
from index.languages.tables.kinds import words_in

_WORD = re.compile(rf"[{HANGUL}]+|[{HAN}]+|[{ARABIC}]+|[a-zà-öø-ÿœ][a-zà-öø-ÿœ0-9]*")
# Words of grammar, and those that say hardly more: their absence from the evidence proves nothing.
_EMPTY: Final = frozenset(every(lambda language: words_in(language.words.gate.empty)))
_HEADS: Final = affixes(every(lambda language: language.words.gate.heads))
_PARTICLES: Final = affixes(every(lambda language: language.words.gate.particles))
_ENDINGS: Final = affixes(every(lambda language: language.words.gate.endings))


class Stem(msgspec.Struct, frozen=True):
    """One content word: where its full form stands, and what it is compared by."""

    start: int
    end: int
    stem: str


@lru_cache(maxsize=4096)
def stems(text: str) -> tuple[Stem, ...]:
    """The content words of a text in normal form, in order."""
    found: list[Stem] = []
    for match in _WORD.finditer(text):
        word, start = match[0], match.start()
        if is_han(word):
            pairs = [word] if len(word) == 1 else [word[at : at + 2] for at in range(len(word) - 1)]
            found.extend(Stem(start + at, start + at + len(pair), pair) for at, pair in enumerate(pairs))
        elif word not in _EMPTY:
            stem = stem_of(word)
            if stem not in _EMPTY and (len(stem) > 1 or is_hangul(stem)):
                found.append(Stem(start, match.end(), stem))
    return tuple(found)


@lru_cache(maxsize=65536)
def stem_of(word: str) -> str:
    """What the forms of `word` share: one word of one script, in normal form."""
    if is_hangul(word):
        return _hangul(word)
    if is_arabic(word):
        return without_ending(without_head(word, _HEADS), _ENDINGS)
    return _latin(word)


def _latin(word: str) -> str:
    word = without_ending(word, _ENDINGS)
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word.rstrip("ie") if len(word.rstrip("ie")) >= 3 else word


def _hangul(word: str) -> str:
    for endings in (_PARTICLES, _ENDINGS):
        longest = next((ending.letters for ending in endings if word.endswith(ending.letters)), "")
        left = len(word) - len(longest)
        if longest and (left >= 2 or (left == 1 and len(word) == 2)):
            word = word[:left]
    return word[:3] if len(word) > 3 else word
