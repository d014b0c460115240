"""Quotations that are not in their evidence.

A quotation that opens in one sentence and closes in another is checked in parts: from its opening mark to the end of the
sentence, and from the start to its closing mark.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from actors.gate.places import closest_part
from actors.gate.thresholds import QUOTE_DEPTH, RETOLD_SHARE, TERM_WORDS, TITLE_SHARE
from index.languages.characters import normal, visible
from index.text.citations import strip_markers

_PAIRS: Final = {"“": "”", "„": "“", "«": "»", "「": "」", "『": "』", "﹁": "﹂", "‹": "›", "〝": "〞", "‘": "’"}
_CLOSERS: Final = frozenset(_PAIRS.values())
_WORD = re.compile(r"\w+")
_FENCE = re.compile(r"`{3,}[a-z]*")
_ELLIPSIS = re.compile(r"\s*(?:\[?\(?(?:\.{3}|…)\)?\]?)\s*")
# What a writer may drop or add at the edges of a quotation, and where two typesettings of a text may differ; marks of Markdown too.
_LOOSE = re.compile(r"[\s\"'“”„«»「」『』‹›`,.;:!?。，、；：！？؟،؛\\*_~#>|•\-]+")


def fabricated_quotes(sentence: str, evidence: Sequence[str]) -> Iterator[str]:
    """The quotations of `sentence` that are in none of `evidence`, in order."""
    for quoted in quotations(sentence):
        parts = [part for part in map(_loose, _ELLIPSIS.split(quoted)) if part]
        if parts and not any(_in_order(parts, _loose_text(text)) for text in evidence):
            yield quoted


def is_term(quoted: str, sentence: str, evidence: Sequence[str]) -> bool:
    """Whether the marks may set off a term or a title: a few words, all of which the evidence has, or capitalised words in a
    sentence that else retells the evidence.
    """
    words = _WORD.findall(normal(quoted))
    if len(words) <= TERM_WORDS and any(set(words) <= set(_WORD.findall(normal(text))) for text in evidence):
        return True
    capitals = sum(word[0].isupper() for word in _WORD.findall(visible(quoted)))
    there = closest_part(normal(strip_markers(sentence)), evidence) if capitals > TITLE_SHARE * len(words) else None
    return there is not None and there.coverage >= RETOLD_SHARE


def quotations(sentence: str) -> list[str]:
    """The text inside quotation marks, without the marks; an unpaired mark reaches to the sentence's edge."""
    text = _FENCE.sub("", strip_markers(visible(sentence))).replace("``", '"').replace("''", '"').replace("＂", '"')
    result: list[str] = []
    opened: list[tuple[str, int]] = []
    for at, written in enumerate(text):
        if len(opened) == QUOTE_DEPTH and written in _PAIRS:
            continue
        char = _straight(text, at, opened) if written == '"' else written
        if char in _PAIRS and not (char == "“" and opened and _PAIRS[opened[-1][0]] == char):
            opened.append((char, at + 1))
        elif char in _CLOSERS and not _is_apostrophe(text, at):
            if opened and _PAIRS[opened[-1][0]] == char:
                result.append(text[opened.pop()[1] : at])
            elif not opened and not result and char != "’":
                result.append(text[:at])
    result.extend(text[start:] for mark, start in opened if mark != "‘")
    return [quoted for quoted in result if any(map(str.isalnum, quoted))]


def _is_apostrophe(text: str, at: int) -> bool:
    """Whether the closing single mark at `at` joins two Latin letters, as in l’État."""
    around = text[max(0, at - 1) : at] + text[at + 1 : at + 2]
    return text[at] == "’" and len(around) == 2 and all(char.isalpha() and char < "\u0250" for char in around)


def _straight(text: str, at: int, opened: list[tuple[str, int]]) -> str:
    """Which way a straight mark faces: it closes when one is open; an inch mark after a digit is not a quotation mark."""
    if opened and opened[-1][0] == "“":
        return "”"
    if at > 0 and text[at - 1].isdigit() and text.count('"') % 2 == 1:
        return '"'
    before = text[at - 1] if at > 0 else " "
    return "“" if not before.isalnum() or text.count('"', at + 1) > 0 else "”"


def _in_order(parts: list[str], text: str) -> bool:
    at = 0
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


def _loose(text: str) -> str:
    return _LOOSE.sub("", normal(text))


@lru_cache(maxsize=512)
def _loose_text(text: str) -> str:
    return _loose(strip_markers(text))
