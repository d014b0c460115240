"""Words that reverse a statement: groups of which only one word can be true."""

import re
from typing import Final

from index.languages import every, union
from index.languages.folding import fold
from index.languages.scripts import is_han, is_hangul
from index.languages.tables.kinds import words_in

OPPOSITES: Final[dict[str, frozenset[str]]] = {}
for _group in every(lambda language: language.opposites.groups):
    for _word in words_in(_group):
        OPPOSITES[_word] = OPPOSITES.get(_word, frozenset()) | (words_in(_group) - {_word})
#: Those that occur inside a run of characters or before an ending.
_UNSPACED: Final = tuple(word for word in OPPOSITES if is_han(word) or is_hangul(word))

_WORD = re.compile(r"[^\W\d_]+")
_ARTICLE = re.compile(rf"^(?:{'|'.join(every(lambda language: language.words.articles.split()))})(?=\w{{3}})")
_SUPERLATIVE = union(lambda language: language.opposites.superlatives)


def words_of(text: str) -> frozenset[str]:
    """The folded words of `text`, and those words inside runs of characters that have a known opposite."""
    folded = fold(text)
    found = {_ARTICLE.sub("", word) for word in _WORD.findall(folded)}
    if not text.isascii():
        found |= {word for word in _UNSPACED if word in folded}
    return frozenset(found)


def opposed(asked: frozenset[str], said: frozenset[str]) -> int:
    """How many of the `asked` words are not `said` although their opposite is."""
    return sum(1 for word in asked if word in OPPOSITES and word not in said and OPPOSITES[word] & said)


def superlatives(asked: frozenset[str], said: frozenset[str]) -> int:
    """How many superlatives and ordinals of the question are not in the text."""
    return sum(1 for word in asked if word not in said and _SUPERLATIVE.fullmatch(word))
