"""What a document says of documents that it replaces: "This plan replaces all earlier ones"."""

import re
from functools import cache, lru_cache

from index.languages import union
from index.text.sentences import split

#: Such sentences stand at the beginning or the end of a document.
_BEGINNING, _END = 20_000, 5_000
#: How many are kept with the metadata of a document, and their length.
_MOST, _MOST_CHARS = 3, 200


@cache
def _replaces() -> re.Pattern[str]:
    return union(lambda language: language.terms.standing.replaces)


@lru_cache(maxsize=1024)
def replacing(text: str) -> tuple[str, ...]:
    """The sentences of a passage that say that something is replaced or repealed."""
    return _found_in(text)


def _found_in(text: str) -> tuple[str, ...]:
    says = _replaces()
    return tuple(text[a:b] for a, b in split(text) if says.search(text, a, b)) if says.search(text) else ()


def said_of_others(text: str) -> str:
    """What a whole document says that it replaces, a sentence a line; empty for nothing."""
    ends = text if len(text) <= _BEGINNING + _END else f"{text[:_BEGINNING]}\n{text[-_END:]}"
    said = (sentence for sentence in _found_in(ends) if len(sentence) <= _MOST_CHARS)
    return "\n".join(" ".join(sentence.split()) for sentence, _ in zip(said, range(_MOST), strict=False))
