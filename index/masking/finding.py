"""The values of a text that a mask hides, each whole: personal data, and with it secrets and addresses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from index.masking.labels import REACH
from index.masking.mail import words
from index.masking.secrets import secrets_in
from index.masking.sign import MASK
from index.masking.text import mask

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
