"""Canonical forms for comparing texts, without characters that a reader cannot see.

How much is merged depends on the purpose. `normal` is for checking: it keeps apart what a claim can turn on, so ² is not 2,
accents stay, and so do the Arabic letters that carry a hamza. `fold` is for finding: all of these become their plain letter.
The n-grams of the index work on single characters (index/text/ngrams.py) and keep accents, but fold Arabic letters as `fold` does.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

#: Bidirectional controls, zero-width characters, soft hyphens, variation selectors, annotations and tags.
INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
TATWEEL: Final = "\u0640"  # stretches a word
_ARABIC_MARKS = re.compile(f"[{TATWEEL}\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]")
_ARABIC_LETTERS: Final = {**dict.fromkeys("أإآٱ", "ا"), "ى": "ي", "ة": "ه"}
#: Letters that writers use interchangeably, and those that carry a hamza.
ARABIC_LETTERS: Final = {**_ARABIC_LETTERS, "ؤ": "و", "ئ": "ي"}
_OTHER_DIGIT = re.compile(r"\d(?<![0-9])")
_SUPERSCRIPT = re.compile(r"[\u00b2\u00b3\u00b9\u2070\u2074-\u2079]+")
_PLAIN: Final = str.maketrans(
    {
        **dict.fromkeys("‘’‛ʼ′´`", "'"),
        **dict.fromkeys("‐‑‒–—―−﹣", "-"),
        **dict.fromkeys("\u00a0\u202f\u2009\u2007\u2002\u2003\u2005\u2006\u2008\u200a\u3000\t\r\x0b\x0c", " "),
        **dict.fromkeys("\u2028\u2029\u0085", "\n"),
        **_ARABIC_LETTERS,
        "٫": ".",
        "٬": ",",
        "、": ",",
        "٪": "%",
    }
)


def _without_accents(letter: str) -> str:
    return "".join(part for part in unicodedata.normalize("NFD", letter) if not unicodedata.combining(part))


_FOLDED: Final = str.maketrans(
    {
        **{chr(code): _without_accents(chr(code)) for code in range(0xC0, 0x250)},
        **ARABIC_LETTERS,
    }  # accented Latin letters
)

_FOLDS: Final = re.compile(f"[{''.join(map(chr, _FOLDED))}]")  # looking for one is much faster than translating


_SENTENCE: Final = 2000  # characters


def visible(text: str) -> str:
    """`text` without the characters that a reader cannot see."""
    return _INVISIBLE.sub("", text)


def ascii_digits(text: str) -> str:
    """`text` with the decimal digits of every script turned into 0 to 9."""
    return text if text.isascii() else _OTHER_DIGIT.sub(lambda found: str(unicodedata.decimal(found[0])), text)


def normal(text: str) -> str:
    """The form in which two texts are compared; applying it twice changes nothing."""
    return _normal_sentence(text) if len(text) <= _SENTENCE else _normal(text)


def _normal(text: str) -> str:
    previous, current = text, _once(text)
    # Composition can produce a character that the table maps: a few passes reach the fixed point.
    while not current.isascii() and current != previous:
        previous, current = current, _once(current)
    return current


_normal_sentence = lru_cache(maxsize=256)(_normal)  # every check of a sentence asks for its form


def _once(text: str) -> str:
    if not text.isascii():
        text = _ARABIC_MARKS.sub("", visible(text))
        text = _SUPERSCRIPT.sub(lambda found: "^" + found[0], text)
        text = ascii_digits(unicodedata.normalize("NFKC", text))
    return text.translate(_PLAIN).lower()


def fold(text: str) -> str:
    """The form for searching: case, accents of Latin letters, Arabic marks and spelling variants are merged."""
    text = unicodedata.normalize("NFKC", text).casefold()
    if text.isascii():
        return text
    text = _ARABIC_MARKS.sub("", visible(text))
    return text.translate(_FOLDED) if _FOLDS.search(text) else text
