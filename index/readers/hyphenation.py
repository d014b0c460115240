"""Join lines to a paragraph, and the words that were divided at their ends."""

import re
from collections.abc import Iterable

from index.languages.scripts import WIDE

_SOFT = "\u00ad"
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_LAST, _FIRST = re.compile(r"([^\W\d_]+)[-\u00ad\u2010]$"), re.compile(r"[^\W\d_]+")
_HAN_END = re.compile(f"[{WIDE}\uff00-\uffef]$")
_HAN_START = re.compile(f"^[{WIDE}\uff00-\uffef]")
#: Parts of a compound that are words themselves have as many letters; shorter ones are syllables as often.
_LEAST = 3


def words_of(lines: Iterable[str]) -> frozenset[str]:
    """The words of a document's lines, in small letters, without those that the end of a line may have divided."""
    words: set[str] = set()
    divided = False
    for line in lines:
        found = [word.lower() for word in _WORD.findall(line)]
        after, divided = divided, _LAST.search(line) is not None
        words.update(found[1 if after else 0 : -1 if divided else None])
    return frozenset(words)


def joined(lines: Iterable[str], words: frozenset[str]) -> str:
    """One paragraph. A compound keeps its hyphen where the document's own words show that it is one."""
    text = ""
    for line in map(str.strip, lines):
        text = _add(text, line, words) if text else line
    return text.replace(_SOFT, "-")


def _add(text: str, line: str, words: frozenset[str]) -> str:
    last, first = _LAST.search(text), _FIRST.match(line)
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
