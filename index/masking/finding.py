"""The values of a text that a mask hides, each whole: personal data, and with it secrets and addresses.

Secrets are what a shared text must not give away besides personal data: passwords, keys, tokens, and addresses of machines and
streets. One is known by its form, by the word before it, or by its disorder: letters and digits that change too often for a word.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

from index.languages import every
from index.languages.tables.numbers import phrases_in
from index.masking.digits import MASK, REACH
from index.masking.mail import words
from index.masking.text import mask

_START: Final = r"(?<![A-Za-z0-9])"
#: Forms that services give their keys so that scanners find them.
_KNOWN = re.compile(
    rf"{_START}(?:"
    r"(?:AKIA|ASIA)[0-9A-Z]{16}|gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_\w{22,}|glpat-[\w-]{16,}|xox[abeoprs]-[A-Za-z0-9-]{10,}"
    r"|[prs]k_(?:live|test)_[A-Za-z0-9]{12,}|sk-[\w-]{12,}|AIza[\w-]{30,}|(?:npm|hf|gw|whsec)_\w{16,}|pypi-[\w-]{16,}"
    r"|SG\.[\w-]{12,}\.[\w-]{12,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|\d{8,10}:AA[\w-]{30,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
)
_IN_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{1,15}://([^\s/:@]+:[^\s/@]+)@|(?i:bearer|basic) ([A-Za-z0-9+/=._~-]{8,})")
#: Hosts of addresses, and of a network that is nobody else's; IP and MAC.
_ADDRESS = re.compile(
    r"(?<=://)(?:[^\s/@]*@)?([\w-]+(?:\.[\w-]+)+)"
    rf"|{_START}((?:[\w-]+\.)+(?:local|lan|internal|intranet|corp|home))(?![\w-])"
    r"|(?<![\d.])((?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d))(?![\d.])"
    r"|(?<![\w:])((?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|(?:[0-9A-Fa-f]{1,4}::?){3,7}[0-9A-Fa-f]{1,4})(?![\w:])"
)
_TOKEN = re.compile(r"[A-Za-z0-9+/_=!#$%^&*?~@-]{10,}")
_SIGNS: Final = frozenset("!#$%^&*?~@")
#: From how many characters on disorder alone makes a secret, without and with such signs.
_LONG: Final = 20
_FEWEST_CHANGES: Final = 3
_BITS: Final = 3.0


def secrets_in(text: str) -> Iterator[tuple[int, int]]:
    """The stretches of `text` that a shared text must not show; they may overlap."""
    for match in _KNOWN.finditer(text):
        yield match.span()
    for pattern in (_IN_ADDRESS, _ADDRESS, _labelled()):
        for match in pattern.finditer(text):
            yield match.span(match.lastindex or 0)
    for match in _streets().finditer(text):
        yield match.span()
    for match in _TOKEN.finditer(text):
        if _is_disorder(match[0]):
            yield match.span()


def _is_disorder(token: str) -> bool:
    """Whether letters and digits take turns as in no word, name or number of an article."""
    signed = bool(_SIGNS & {*token})
    if len(token) < _LONG and not signed:
        return False
    kinds = ["d" if char.isdigit() else "l" if char.isalpha() else "" for char in token]
    plain = [kind for kind in kinds if kind]
    changes = sum(one != other for one, other in pairwise(plain))
    counts = Counter(token).values()
    bits = -sum(n / len(token) * math.log2(n / len(token)) for n in counts)
    return changes >= _FEWEST_CHANGES + signed and bits >= _BITS


@cache
def _labelled() -> re.Pattern[str]:
    """A value after a word for a secret: any after a colon, else one of letters and digits mixed."""
    phrases = every(lambda tables: phrases_in(tables.privacy.secrets))
    words = "|".join(re.escape(word).replace(r"\ ", "[ _]") for word in sorted(phrases, key=len, reverse=True))
    value = r"[!-~]*[A-Za-z0-9](?:[/+=]{1,2}(?!\S))?"
    mixed = rf"(?=[!-~]*\d)(?=[!-~]*[A-Za-z])(?:{value})"
    marked = rf"[\"'`]? ?[:=：] ?[\"'`]?((?=[!-~]{{4}}){value})"
    return re.compile(
        rf"(?<![A-Za-z])(?:{words})(?:{marked}|[^\n.!?。:=]{{0,16}}?(?:[^!-~]|[\"'`])((?=[!-~]{{5}}){mixed}))",
        re.IGNORECASE,
    )


@cache
def _streets() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{form})" for form in every(lambda tables: [tables.privacy.streets]) if form))


_TAIL = re.compile(r"(?:[ ()./,·_~*-]{0,3}[A-Za-z0-9]){1,4}(?![A-Za-z0-9])")


@dataclass(frozen=True, slots=True)
class Value:
    """What to mask, and where: `hidden` are places in `text`. `before` and `after` are what makes it personal data, if it is."""

    text: str
    hidden: frozenset[int]
    before: str = ""
    after: str = ""
    personal: bool = False


def personal_in(text: str) -> Iterator[Value]:
    """The personal data of a text, each whole, with the part that its mask hides."""
    masked = mask(text)
    if masked == text:
        return
    at, dot = words(lambda tables: tables.at), words(lambda tables: tables.dot)
    sign = rf"[^\w{MASK}\n,;]{{0,3}}(?:@|{at}|{dot}|\.)[^\w{MASK}\n,;]{{0,3}}"
    for match in re.finditer(rf"{MASK}(?:(?:{sign}|[^\w{MASK}\n,;]{{0,4}}){MASK})*", masked, re.IGNORECASE):
        start, end = match.span()
        mail = re.search(rf"@|%40|&|{at}", text[start : end + 1], re.IGNORECASE) is not None
        if mail:
            start -= start > 0 and text[start - 1].isalnum()
            tail = re.compile(rf"(?:{sign})[^\W\d_]{{2,24}}", re.IGNORECASE).match(masked, end)
        else:
            tail = _TAIL.match(masked, end)
        end = tail.end() if tail else end
        hidden = frozenset(n for n in range(end - start) if masked[start + n] == MASK != text[start + n])
        if hidden:
            before = text[max(0, start - REACH) : start]
            yield Value(text[start:end], hidden, before, text[end : end + 12], personal=True)


def secret_in(text: str) -> Iterator[Value]:
    """The secrets and addresses of a text, as far as they are not personal data."""
    taken = {
        n for value in personal_in(text) for m in re.finditer(re.escape(value.text), text) for n in range(*m.span())
    }
    for start, end in secrets_in(text):
        free = "".join("\0" if n in taken else text[n] for n in range(start, end))
        for part in re.split("\0+", free):
            plain = re.sub(r"^[\W_]+|[\W_]+$", "", part)
            yield Value(plain, frozenset(n for n, char in enumerate(plain) if char.isalnum()))
