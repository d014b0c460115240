"""The scripts, as ranges for a regular-expression character class: `re.compile(f"[{HANGUL}]")`.

A script is not a language: facts about all writers of a script belong here, all others in a language's tables.
"""

import re
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


def is_hangul(character: str) -> bool:
    return _OF[HANGUL].match(character) is not None


def is_han(character: str) -> bool:
    return _OF[HAN].match(character) is not None


def is_arabic(character: str) -> bool:
    return _OF[ARABIC].match(character) is not None


def is_latin(character: str) -> bool:
    return _OF[LATIN].match(character) is not None
