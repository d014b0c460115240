"""The scripts, as ranges for a character class of a regular expression: `re.compile(f"[{HANGUL}]")`.

A script is not a language: what holds of all who write in it is asked of the script, everything else of a language's tables.
"""

import re
from typing import Final

HANGUL: Final = "\uac00-\ud7a3"  # whole syllables
JAMO: Final = "\u3131-\u318e"  # Hangul letters that make no syllable
HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"  # of the basic plane
ARABIC: Final = "\u0620-\u064a"  # letters without marks and digits
ARABIC_WRITTEN: Final = (
    "\u0620-\u065f\u066e-\u06d3\u06d5-\u06ff"  # letters of every language that is written in it, with marks
)

is_hangul: Final = re.compile(f"[{HANGUL}]").match
is_han: Final = re.compile(f"[{HAN}]").match
is_arabic: Final = re.compile(f"[{ARABIC}]").match
