"""One form for text that is to be compared: no invisible characters, one width, one set of digits, one case.

Every later step of the gate works on this form; a flag quotes it.
"""

import re
import unicodedata
from typing import Final

# Bidirectional controls, zero-width characters, soft hyphens, variation selectors and tags: nothing a reader sees.
INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef"
)
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_ARABIC_MARKS = re.compile(r"[\u0640\u064b-\u065f\u0670]")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_SUPERSCRIPT = re.compile(r"[\u00b2\u00b3\u00b9\u2070\u2074-\u2079]+")
_PLAIN: Final = str.maketrans(
    {
        **dict.fromkeys("‘’‛ʼ′´`", "'"),
        **dict.fromkeys("‐‑‒–—―−﹣", "-"),
        **dict.fromkeys("\u00a0\u202f\u2009\u2007\u2002\u2003\u2005\u2006\u2008\u200a\u3000\t\r\x0b\x0c", " "),
        **dict.fromkeys("\u2028\u2029\u0085", "\n"),
        **dict.fromkeys("أإآٱ", "ا"),
        "ى": "ي",
        "ة": "ه",
        "٫": ".",
        "٬": ",",
        "、": ",",
        "٪": "%",
    }
)


def visible(text: str) -> str:
    """`text` without the characters that a reader cannot see."""
    return _INVISIBLE.sub("", text)


def normal(text: str) -> str:
    """The form in which two texts are compared; applying it twice changes nothing."""
    previous, current = text, _once(text)
    # Composition can uncover a character that the table maps: a few passes reach the fixed point.
    while not current.isascii() and current != previous:
        previous, current = current, _once(current)
    return current


def _once(text: str) -> str:
    text = _ARABIC_MARKS.sub("", visible(text)) if not text.isascii() else text
    if not text.isascii():
        text = _SUPERSCRIPT.sub(lambda found: "^" + found[0], text)
        text = unicodedata.normalize("NFKC", text)
        text = _OTHER_DIGIT.sub(_digit, text)
    return text.translate(_PLAIN).lower()


def _digit(found: re.Match[str]) -> str:
    return str(unicodedata.decimal(found[0]))
