"""Mask personal data in a text: mail addresses, phone, card, account, passport and identity numbers.

A mask has the length of what it hides, so every offset into a text stays right. It keeps what people recognise their own data by:
the first letter and the last part of an address (`k••@•••••••.com`), the last four digits of a number (`•••-••••-5678`), and
nothing of a resident registration number. Its sign is one that Markdown leaves alone. Citation markers, years, amounts, dates,
versions and the numbers of articles, orders and books are left alone.

Also: mask a text that arrives in pieces: what could still become personal data waits until it no longer can.
"""

import re
from collections.abc import Collection, Iterable
from functools import cache, lru_cache
from typing import Any, Final, cast
from urllib.parse import unquote

import msgspec

from index.languages import every
from index.languages.tables.numbers import phrases_in
from index.masking import mail
from index.masking.number import MASK, REACH, all_but_last
from index.masking.plain import plain, read_out
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


#: What parts two words so that no address or number goes across.
_PARTING: Final = "\n。！？；：，、"
_GAP = re.compile(rf"[\s{_PARTING}]+")
_WORD_CLOSED = re.compile(r"[.!?:;,\"'”’»)…]\Z")
_MARKER_CLOSED = re.compile(r"\d[\]］】〕][.!?:;,)]*\Z")
_CAPITALS_ONLY = re.compile(r"[A-ZＡ-Ｚ]{1,4}\Z")
_WORDLESS = re.compile(r"[^\w]+\Z")
#: What waits and is longer than this is looked at again only when it has grown by a share of itself: a look reads all of it.
_LONG: Final = 256
_GROWN: Final = 1.125


class MaskStream:
    """The pieces returned, put together, are the masked text, wherever it was cut."""

    def __init__(self, known: Collection[str] = (), *, active: bool = True) -> None:
        """`before`: what was shown before the first piece. A stream that is not active shows every piece as it is."""
        self._known = known
        self.before = ""
        self._active = active
        self._waiting = ""
        self._look_at = 0.0  # the length from which it is looked at again

    def feed(self, piece: str) -> str:
        """What can be shown now; may be empty."""
        if not self._active:
            return piece
        self._waiting += piece
        if len(self._waiting) < self._look_at:
            return ""
        safe = self._take(certain(self._waiting))
        self._look_at = _GROWN * len(self._waiting) if len(self._waiting) > _LONG else 0.0
        return safe

    def finish(self) -> str:
        return self._take(len(self._waiting))

    def _take(self, end: int) -> str:
        now, self._waiting = self._waiting[:end], self._waiting[end:]
        safe = mask(now, self.before, self._known)
        self.before = (self.before + now)[-2 * REACH :]
        return safe


def certain(text: str) -> int:
    """The part of `text` that stays as masked for any continuation."""
    gaps = [match.span() for match in _GAP.finditer(text)]
    start = gaps[-1][1] if gaps else 0  # of the last word, which is being written
    right, complete = text[start:], False
    for at in range(len(gaps) - 1, -1, -1):
        left = text[gaps[at - 1][1] if at else 0 : gaps[at][0]]
        if not _joins(left, text[slice(*gaps[at])], right, complete=complete):
            return start if start == len(text) else len(text[:start].rstrip())
        start, right, complete = (gaps[at - 1][1] if at else 0), left, True
    return 0


def _joins(left: str, gap: str, right: str, *, complete: bool) -> bool:
    """Whether an address or a number may go from the word `left` on to `right`, which may still grow unless `complete`."""
    if not left or any(char in _PARTING for char in gap) or _MARKER_CLOSED.search(left):
        return False
    if _is_sign(left, complete=True) or left.endswith(("@", "＠", "%40")):
        return True
    if _is_sign(right, complete=complete):
        return not _WORD_CLOSED.search(left) or left.endswith((")", "]"))
    if any(map(str.isdecimal, left)) or _WORDLESS.match(left) or _CAPITALS_ONLY.match(left):
        return not complete or _goes_on(right)
    return False


def _goes_on(word: str) -> bool:
    """Whether a word may be a further part of a number or of an address."""
    return any(map(str.isdecimal, word)) or bool(_WORDLESS.match(word) or _CAPITALS_ONLY.match(word))


def _is_sign(word: str, *, complete: bool) -> bool:
    """Whether a word may be the at sign or the dot of an address that is spelled out."""
    if not word or word[0] in "@＠﹫%[({<.（［":
        return True
    return word.lower() in _signs() if complete else any(sign.startswith(word.lower()) for sign in _signs())


@cache
def _signs() -> frozenset[str]:
    return frozenset(every(lambda tables: phrases_in(f"{tables.privacy.at} {tables.privacy.dot}")))
