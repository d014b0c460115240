"""The scripts, as ranges for a character class of a regular expression: `re.compile(f"[{HANGUL}]")`.

A script is not a language: what holds of all who write in it is asked of the script, everything else of a language's tables.
"""

from typing import Final

HANGUL: Final = "\uac00-\ud7a3"  # whole syllables
HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"  # of the basic plane
ARABIC: Final = "\u0620-\u064a"  # letters without marks and digits
