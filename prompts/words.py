"""Find a profile's words in a text: as whole words in scripts with spaces, as substrings in others.

A word that begins with `^` counts only at the beginning of a sentence: "^solve" is an order, "solve" need not be.
"""

import functools
import re
from collections.abc import Iterable

from index.languages import union
from index.languages.folding import normal
from index.languages.scripts import HAN, HANGUL

_UNSPACED = re.compile(rf"[\u1100-\u11ff\u3040-\u30ff{HAN}{HANGUL}]")
_START = r"(?:\A|[.!?:;؟،\n)…-])[\s\"'«“(*]*"


_ATTACHED = union(lambda language: language.words.attached).pattern
_INFLECTED = union(lambda language: language.words.inflected).pattern


def first_match(words: Iterable[str], text: str) -> str:
    """The first of `words` that occurs in `text`, as the profile spells it; empty when none does."""
    plain = normal(text)
    return next((word for word in words if _pattern(word).search(plain)), "")


@functools.lru_cache(maxsize=4096)
def _pattern(word: str) -> re.Pattern[str]:
    plain = r"\s+".join(re.escape(part) for part in normal(word.removeprefix("^")).split())
    start = _START if word.startswith("^") else ""
    if not plain:
        return re.compile(r"(?!)")
    if _UNSPACED.search(plain):
        return re.compile(start + plain)
    return re.compile(rf"{start}(?<!\w)(?:{_ATTACHED})?{plain}(?:{_INFLECTED})?(?!\w)")
