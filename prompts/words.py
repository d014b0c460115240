"""Find a profile's words in a text: whole words where a script has spaces, substrings where it has none.

A word that begins with `^` counts only where a sentence begins: "^solve" is an order, "solve" need not be.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable

from index.languages import union
from index.languages.scripts import HAN, HANGUL

_UNSPACED = re.compile(rf"[\u1100-\u11ff\u3040-\u30ff{HAN}{HANGUL}]")
_ARABIC_MARKS = re.compile("[\u0640\u064b-\u065f\u0670]")  # tatweel and vowel signs, rarely written
_ALEFS = str.maketrans("أإآٱىة", "اااايه")
_START = r"(?:\A|[.!?:;؟،\n)…-])[\s\"'«“(*]*"
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


_ATTACHED = union(lambda language: language.words.attached).pattern
_INFLECTED = union(lambda language: language.words.inflected).pattern


def first_match(words: Iterable[str], text: str) -> str:
    """The first of `words` that occurs in `text`, as the profile spells it; empty when none does."""
    plain = normal(text)
    return next((word for word in words if _pattern(word).search(plain)), "")


def normal(text: str) -> str:
    """Compatibility form, lower case, without marks that a writer may leave out or hide a word with."""
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold().replace("’", "'")
    return _ARABIC_MARKS.sub("", plain).translate(_ALEFS)


@functools.lru_cache(maxsize=4096)
def _pattern(word: str) -> re.Pattern[str]:
    plain = r"\s+".join(re.escape(part) for part in normal(word.removeprefix("^")).split())
    start = _START if word.startswith("^") else ""
    if not plain:
        return re.compile(r"(?!)")
    if _UNSPACED.search(plain):
        return re.compile(start + plain)
    return re.compile(rf"{start}(?<!\w)(?:{_ATTACHED})?{plain}(?:{_INFLECTED})?(?!\w)")
