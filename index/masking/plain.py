"""A text in plain characters, one for one, so that recognisers read every width, script of digits and kind of dash alike."""

import re
import unicodedata
from typing import Final

from index.languages.folding import INVISIBLE

_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_MIDDLE_DOTS: Final = (0x2027, 0x2219, 0x22C5, 0x30FB, 0x318D, 0xFF65)
_ALIKE: Final = {
    **dict.fromkeys("‐‑‒–—―−﹣ー˗⁃", "-"),
    **dict.fromkeys(map(chr, _MIDDLE_DOTS), "·"),
    **dict.fromkeys("،٬", ","),
    "٫": ".",
    **dict.fromkeys("⁄∕", "/"),
    **{char: char for char in "，。！？；：、"},  # they part words as a space does, so they stay
}


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
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    if char.isspace():
        return "\n" if char in "\u2028\u2029\u0085" else " "
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 and plain.isascii() else char


_PLAIN: Final = _Plain()


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
    return text.translate(_PLAIN), positions
