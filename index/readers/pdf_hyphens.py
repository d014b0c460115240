"""Join the lines of a PDF's paragraph: a word that the end of a line divided is whole again, and a compound keeps its hyphen."""

import re
from collections.abc import Iterable

from index.languages.characters import WIDE

_SOFT = "\u00ad"
_HYPHENS = ("-", _SOFT, "\u2010")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_LAST, _FIRST_WORD = re.compile(r"([^\W\d_]+)[-\u00ad\u2010]$"), re.compile(r"[^\W\d_]+")
_HAN_END = re.compile(f"[{WIDE}\uff00-\uffef]$")
_HAN_START = re.compile(f"^[{WIDE}\uff00-\uffef]")
#: Parts of a compound that are words themselves have as many letters; shorter ones are syllables as often.
_LEAST = 3


def words_of(lines: Iterable[str]) -> frozenset[str]:
    """The words of a document's lines, in small letters, without those that the end of a line may have divided."""
    tokens: set[str] = set()
    divided = False
    for line in lines:
        result = line.lower().split()
        after, divided = divided, line.endswith(_HYPHENS) and _LAST.search(line) is not None
        tokens.update(result[1 if after else 0 : -1 if divided else None])
    return frozenset(_WORD.findall(" ".join(tokens)))


def joined(lines: Iterable[str], words: frozenset[str]) -> str:
    """One paragraph. A compound keeps its hyphen where the document's own words show that it is one."""
    text = ""
    for line in map(str.strip, lines):
        text = _add(text, line, words) if text else line
    return text.replace(_SOFT, "-")


def _add(text: str, line: str, words: frozenset[str]) -> str:
    last = _LAST.search(text) if text.endswith(_HYPHENS) else None
    first = _FIRST_WORD.match(line)
    if last is None or first is None:
        if text.endswith((_SOFT, "-", "/")) and not text.endswith((" -", " /")):
            return text.rstrip(_SOFT) + line
        return text + ("" if _HAN_END.search(text) and _HAN_START.match(line) else " ") + line
    one, two = last[1].lower(), first[0].lower()
    divided = text.endswith(_SOFT) or first[0][0].islower() or (last[1].isupper() and first[0].isupper())
    if divided and not _is_compound(one, two, words):
        return text[:-1] + line
    return text.replace(_SOFT, "-") + line if text.endswith(_SOFT) else text + line


def _is_compound(one: str, two: str, words: frozenset[str]) -> bool:
    if one + two in words:
        return False
    if f"{one}-{two}" in words:
        return True
    return len(one) >= _LEAST and len(two) >= _LEAST and one in words and two in words
