"""The characters of texts: the scripts, and canonical forms for comparing.

A script is a range for a regular-expression character class: `re.compile(f"[{HANGUL}]")`. It is not a language: facts about all
writers of a script belong here, all others in a language's tables.

Canonical forms are without characters that a reader cannot see. How much is merged depends on the purpose. `normal` is for
checking: it keeps apart what a claim can turn on, so ² is not 2, accents stay, and so do the Arabic letters that carry a hamza.
`fold` is for finding: all of these become their plain letter. The n-grams of the index work on single characters
(index/text/ngrams.py) and keep accents, but fold Arabic letters as `fold` does.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final, Literal

Script = Literal["hangul", "han", "arabic", "latin"]

HANGUL: Final = "\uac00-\ud7a3"  # whole syllables
JAMO: Final = "\u3131-\u318e"  # Hangul letters outside a syllable
HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"  # in the basic plane
HAN_HIGH: Final = "\U00020000-\U0002fa1f"  # rare characters in the higher planes
HAN_MORE: Final = "\uf900-\ufaff" + HAN_HIGH  # with compatibility duplicates
KANA: Final = "\u3041-\u309f\u30a0-\u30ff"
WIDE: Final = "\u2e80-\u9fff"  # Han in the basic plane, with radicals, punctuation and kana
ARABIC: Final = "\u0620-\u064a"  # letters without marks and digits
ARABIC_WRITTEN: Final = "\u0620-\u065f\u066e-\u06d3\u06d5-\u06ff"  # letters of all languages in this script, with marks
ARABIC_BLOCK: Final = "\u0600-\u06ff"  # with marks, digits and punctuation
LATIN: Final = "A-Za-z\u00c0-\u024f"

#: All letters of a script, used to detect the script of a text.
LETTERS: Final[dict[Script, str]] = {
    "hangul": HANGUL + "\u1100-\u11ff\u3131-\u318e",
    "han": HAN + HAN_MORE,
    "arabic": ARABIC + "\u066e-\u06d3\u06fa-\u06ff\ufb50-\ufdff\ufe70-\ufefc",
    "latin": LATIN + "\u1e00-\u1eff",
}
#: The letters of the folded words of a script that has few.
ALPHABETS: Final = ("abcdefghijklmnopqrstuvwxyz", "ابتثجحخدذرزسشصضطظعغفقكلمنهوي")
#: How many letters of a script say as much as one of another: an English name in a Korean sentence has many letters.
WEIGHTS: Final[dict[Script, float]] = {"hangul": 3.5, "han": 3.5, "arabic": 1.2, "latin": 1.0}

_OF: Final = {range_: re.compile(f"[{range_}]") for range_ in (HANGUL, HAN, ARABIC, LATIN)}
#: Scripts written from right to left.
FROM_RIGHT: Final[tuple[Script, ...]] = ("arabic",)


@lru_cache(maxsize=8192)
def is_hangul(character: str) -> bool:
    return _OF[HANGUL].match(character) is not None


@lru_cache(maxsize=8192)
def is_han(character: str) -> bool:
    return _OF[HAN].match(character) is not None


@lru_cache(maxsize=8192)
def is_arabic(character: str) -> bool:
    return _OF[ARABIC].match(character) is not None


@lru_cache(maxsize=8192)
def is_latin(character: str) -> bool:
    return _OF[LATIN].match(character) is not None


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


#: Accented Latin letters without their accents, and Arabic ones.
_FOLDED: Final = str.maketrans(
    {
        letter: "".join(part for part in unicodedata.normalize("NFD", letter) if not unicodedata.combining(part))
        for letter in map(chr, range(0xC0, 0x250))
    }
    | {"æ": "ae", "œ": "oe"}
    | ARABIC_LETTERS
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
