"""Mask personal data in a text: mail addresses, phone, card, account, passport and identity numbers.

A mask has the length of what it hides, so every offset into a text stays right. It keeps what people recognise their own data by:
the first letter and the last part of an address (`k••@•••••••.com`), the last four digits of a number (`•••-••••-5678`), and
nothing of a resident registration number. Its sign is one that Markdown leaves alone. Citation markers, years, amounts, dates,
versions and the numbers of articles, orders and books are left alone.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import cache, lru_cache
from typing import Any, Final, cast
from urllib.parse import unquote

import msgspec

from index.languages import LANGUAGES, of
from index.languages.characters import INVISIBLE
from index.languages.tables.numbers import phrases_in
from index.masking import mail
from index.masking.digits import MASK, REACH, all_but_last
from index.source_paths import PAGES, PATH, source_path

#: A number as its mask leaves it: up to the last four letters and digits.
_MASKED_NUMBER = re.compile(rf"{MASK}[{MASK} ./-]*(?:[A-Za-z0-9][ ./-]?){{0,3}}[A-Za-z0-9]")
_FEWEST_DIGITS: Final = 5
#: Digits in circles, brackets and above the line are none of `\d`.
_OTHER_DIGITS: Final = "".join(
    char for char in map(chr, range(0x80, 0x2800)) if char.isdigit() and not char.isdecimal()
)
_ANYTHING = re.compile(rf"[\d@＠﹫{_OTHER_DIGITS}]|%40")


def mask(text: str, before: str = "", known: Collection[str] = ()) -> str:
    """`text` with its personal data masked, as long as it was; masking twice changes nothing.

    `before` is the text before it, where a label of its first number may be. `known`: strings that are masked everywhere,
    without a label.
    """
    return _alone(text) if not before and not known else _masked(text, before, known)


@lru_cache(maxsize=256)
def _alone(text: str) -> str:
    """A cited text is in the record, its references and the events."""
    return _masked(text, "", ())


def _masked(text: str, before: str, known: Collection[str]) -> str:
    if not _ANYTHING.search(text) and not read_out(text) and not mail.spelled_out(text):
        return text
    from index.masking import identity, numbers  # the libraries take long to load, and most profiles mask nothing

    before = before[-REACH:]
    whole, positions = plain(before + text)
    hidden = numbers.hidden(whole, mail.hidden(whole) | identity.hidden(whole) | _of(known, whole))
    if not hidden:
        return text
    letters = list(text)
    for at in hidden:
        position = (at if positions is None else positions[at]) - len(before)
        if position >= 0:
            letters[position] = MASK
    return "".join(letters)


def values_in(texts: Iterable[str]) -> frozenset[str]:
    """The numbers that are masked in `texts`, to be masked elsewhere too: an answer may give one without its label."""
    results: set[str] = set()
    for text in dict.fromkeys(texts):
        if (hidden := mask(text)) != text:
            whole, positions = plain(text)
            masked_text = hidden if positions is None else "".join(hidden[at] for at in positions)
            results |= {whole[slice(*number.span())] for number in _MASKED_NUMBER.finditer(plain(masked_text)[0])}
    return frozenset(value for value in results if sum(map(str.isdecimal, value)) >= _FEWEST_DIGITS)


def _of(known: Collection[str], text: str) -> set[int]:
    results: set[int] = set()
    for value in known:
        at = text.find(value)
        while at >= 0:
            end = at + len(value)
            if not any(char.isascii() and char.isalnum() for char in (text[max(0, at - 1) : at], text[end : end + 1])):
                results.update(all_but_last(text, at, end))
            at = text.find(value, end)
    return results


#: Fields that hold one of our ids or a word of a closed list: there is nothing of a person in them, and a mask would break them.
OURS: Final = frozenset(
    {
        "type", "run_id", "parent", "snapshot", "version", "variables", "lane", "id", "sub_query_id", "profile", "language", "kind",
        "strength", "outcome", "reason", "re_gate", "confidence", "model", "engine", "prompt", "date", "syntax", "score_type",
    }
)  # fmt: skip


def _masked_path(path: str) -> str:
    """The path of a source's page with its id masked as it is elsewhere, in any spelling of a path."""
    pages, _, position = path.partition("?")
    plain = unquote(pages.removeprefix(PAGES))
    hidden = mask(plain)
    return path if hidden == plain else source_path(hidden) + (f"?{position}" if position else "")


def masked[Value](value: Value) -> Value:
    """`value` with every text in it masked; what holds nothing personal is returned as it is."""
    return cast(Value, _masked_part(value))


def _masked_part(value: Any) -> Any:
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, str):
        return _masked_path(value) if value.startswith(PAGES) and PATH.fullmatch(value) else mask(value)
    if isinstance(value, msgspec.Struct):
        fields = ((name, getattr(value, name)) for name in value.__struct_fields__ if name not in OURS)
        changed = {name: new for name, old in fields if (new := _masked_part(old)) is not old and new != old}
        return msgspec.structs.replace(value, **changed) if changed else value
    if isinstance(value, dict):
        new = {_masked_part(key): inner if key in OURS else _masked_part(inner) for key, inner in value.items()}
        return new if new != value else value
    if isinstance(value, tuple | list):
        items = [_masked_part(item) for item in value]
        return value if items == list(value) else type(value)(items)
    return value


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
