"""Find the word that a misspelt one was meant to be: one that the passages have and that differs by one letter.

The first and the last letter must agree, because another first or last letter often makes another word. Only words in Latin and
Arabic letters: a Chinese or Korean character has thousands of neighbours.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain

from index.languages.characters import ALPHABETS, fold

#: Shorter words have too many neighbours.
LEAST = 6
_WORD = re.compile(r"[^\W\d_]+")


def unknown(query: str, texts: Iterable[str]) -> list[str]:
    """The words of `query` that could be misspelt: long, no names, and in none of the texts, not even their first half."""
    every = "\n".join(texts)
    rest = _absent([w for w in _WORD.finditer(query) if not w.start() or not w[0][0].isupper()], every.casefold())
    return [fold(word[0]) for word in _absent(rest, fold(every))] if rest else []


def _absent(words: list[re.Match[str]], text: str) -> list[re.Match[str]]:
    halves = ((word, fold(word[0])[: max(4, len(word[0]) // 2 + 1)]) for word in words if len(word[0]) >= LEAST)
    return [word for word, half in halves if half not in text]


def neighbours(word: str) -> frozenset[str]:
    """What differs from a folded word by one letter inserted, left out or exchanged, or by two that changed places."""
    alphabet = next((letters for letters in ALPHABETS if set(word) <= set(letters)), "")
    if not alphabet:
        return frozenset()
    inner = range(1, len(word) - 1)
    near = chain(
        (word[:at] + word[at + 1 :] for at in inner),
        (word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in inner),
        (word[:at] + letter + word[at + 1 :] for at in inner for letter in alphabet),
        (word[:at] + letter + word[at:] for at in range(1, len(word)) for letter in alphabet),
    )
    return frozenset(near) - {word}


def meant(word: str, near: frozenset[str], texts: Iterable[str]) -> str:
    """The most frequent neighbour among the words of the texts; the word itself where there is none."""
    counts = Counter(found for found in _WORD.findall(fold("\n".join(texts))) if found in near)
    return min(counts, key=lambda other: (-counts[other], other), default=word)


def replaced(query: str, meant_by: Callable[[str], str]) -> str:
    """The query with each word for which `meant_by` has another, both folded, replaced by it."""

    def other(found: re.Match[str]) -> str:
        word = fold(found[0])
        return found[0] if (result := meant_by(word)) == word else result

    return _WORD.sub(other, query)
