"""Find a profile's words in a text: whole words where a script has spaces, substrings where it has none.

A word that begins with `^` counts only where a sentence begins: "^solve" is an order, "solve" need not be.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable

_ARABIC = re.compile(r"[\u0600-\u06ff]")
_UNSPACED = re.compile(r"[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ARABIC_MARKS = re.compile("[\u0640\u064b-\u065f\u0670]")  # tatweel and vowel signs, rarely written
_ALEFS = str.maketrans("أإآٱىة", "اااايه")
_START = r"(?:\A|[.!?:;؟،\n)…-])[\s\"'«“(*]*"
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


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
    if _ARABIC.search(plain):  # a conjunction, a preposition and the article are written onto the word, endings too
        return re.compile(rf"{start}(?<!\w)[وفبكل]?(?:ال|ل)?{plain}\w{{0,2}}(?!\w)")
    return re.compile(rf"{start}(?<!\w){plain}s?(?!\w)")
