"""A text in plain characters, one for one, so that recognisers read every width, script of digits and kind of dash alike."""

import re
import unicodedata
from functools import cache
from typing import Final

from index.languages import LANGUAGES, of
from index.languages.characters import INVISIBLE
from index.languages.tables.numbers import phrases_in

#: Also the key around a digit (1️⃣).
_INVISIBLE = re.compile(f"[{INVISIBLE}\u20e3]")
#: The mark of a note after a number is no digit of it.
_NOTE = re.compile("[⁰¹²³⁴-⁹₀-₉]+")
_MIDDLE_DOTS: Final = (0x2027, 0x2219, 0x22C5, 0x30FB, 0x318D, 0xFF65)
_ALIKE: Final = {
    **dict.fromkeys("‐‑‒–—―−﹣ー˗⁃⁻₋", "-"),
    **dict.fromkeys(map(chr, _MIDDLE_DOTS), "·"),
    **dict.fromkeys("،٬", ","),
    "٫": ".",
    **dict.fromkeys("⁄∕", "/"),
    **{char: char for char in "，。！？；：、"},  # they part words as a space does, so they stay
}


@cache
def _read_out() -> tuple[re.Pattern[str], dict[int, int]]:
    """Three groups of letters for digits with hyphens between, and the digit of each letter."""
    written = [phrases_in(of(language).privacy.digits) for language in LANGUAGES]
    digits = {ord(letter): ord(str(n)) for words in written for n, word in enumerate(words) for letter in word}
    letter, dash = f"[{''.join(map(chr, digits))}]", "[-‐‑‒–—―−]"
    return re.compile(rf"{letter}{{2,4}}{dash}{letter}{{3,4}}{dash}{letter}{{4}}"), digits


def read_out(text: str) -> bool:
    """Whether a number in `text` is written in letters for its digits."""
    return _read_out()[0].search(text) is not None


class _Plain(dict[int, str]):
    """The plain character for each that was ever met; what has none of its own stays."""

    def __missing__(self, code: int) -> str:
        self[code] = letter = _letter(chr(code))
        return letter


def _letter(char: str) -> str:
    if char.isascii():
        return char
    if char in _ALIKE:
        return _ALIKE[char]
    if char.isdigit():  # also ① and ¹
        return str(unicodedata.digit(char))
    if char.isspace():
        return "\n" if char in "\u2028\u2029\u0085" else " "
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 and plain.isascii() else char


_PLAIN: Final = _Plain()


def _without_note(match: re.Match[str]) -> str:
    follows = match.start() > 0 and match.string[match.start() - 1].isdecimal()
    return "^" * len(match[0]) if follows else match[0]


def plain(text: str) -> tuple[str, list[int] | None]:
    """`text` in plain characters, and the place of each in it; None where they correspond one to one.

    Characters that a reader cannot see are left out: they split no number.
    """
    positions = None
    if text.isascii():
        return text, None
    if _INVISIBLE.search(text):
        positions = [at for at, char in enumerate(text) if not _INVISIBLE.match(char)]
        text = "".join(text[at] for at in positions)
    text = _NOTE.sub(_without_note, text)
    pattern, digits = _read_out()
    text = pattern.sub(lambda number: number[0].translate(digits), text)
    return text.translate(_PLAIN), positions
