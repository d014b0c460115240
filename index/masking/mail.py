"""Mail addresses, also with spaces (`kim @ example . com`) or spelled out (`kim (at) example (dot) com`)."""

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from index.languages import LANGUAGES, every, of
from index.languages.tables.numbers import Privacy, phrases_in
from index.masking.digits import MASK

#: The text before the sign, up to a letter of another script where it is Latin: particles are written on to it.
_LATIN: Final = re.compile(r"[A-Za-z0-9\u00c0-\u024f_.+%'-]")
_ANY: Final = re.compile(r"[\w.+%'-]")
_LONGEST_LOCAL: Final = 256
_LABEL: Final = r"[\w-]{1,63}+"


@cache
def words(part: Callable[[Privacy], str]) -> str:
    """The words of a table for a sign of an address, in all languages, as alternatives."""
    return "|".join(
        sorted(map(re.escape, every(lambda tables: phrases_in(part(tables.privacy)))), key=len, reverse=True)
    )


@cache
def _signs() -> tuple[re.Pattern[str], re.Pattern[str]]:
    at, dot = words(lambda tables: tables.at), words(lambda tables: tables.dot)
    bracketed = r"[\[({{<] ?(?:{sign}|{words}) ?[\])}}>]"
    at_sign = rf"@|%40|&#64;|&#x40;|&commat;|{bracketed.format(sign='@', words=at)}|(?<=\S ) ?(?:{at})(?= )"
    spaced_dot = rf" ?\.| \. | ?{bracketed.format(sign='[.]', words=dot)} ?| (?:{dot}) "
    domain = rf"((?:{_LABEL}(?:{spaced_dot}))+)([^\W\d_]{{2,24}}+(?![\w-])|xn--[\w-]{{2,59}}+)"
    return re.compile(at_sign, re.IGNORECASE), re.compile(rf" {{0,2}}{domain}", re.IGNORECASE)


@cache
def _dots(at: str) -> frozenset[str]:
    """The dots of the languages with this spelling of the at sign."""
    tables = [of(language).privacy for language in LANGUAGES]
    return frozenset(dot for each in tables if at in phrases_in(each.at) for dot in phrases_in(each.dot))


def spelled_out(text: str) -> bool:
    """Whether `text` may hold an address without an at sign."""
    return _signs()[0].search(text) is not None


def hidden(text: str) -> set[int]:
    """The places to mask in `text`, which is plain: all letters of an address but its first and its last label."""
    results: set[int] = set()
    at_sign, domain = _signs()
    after = 0
    for sign in at_sign.finditer(text):
        if sign.start() < after or not (right := domain.match(text, sign.end())):
            continue
        end = sign.start()
        while end > after and text[end - 1] == " " and sign.start() - end < 2:
            end -= 1
        if end > after + 1 and text[end - 1] == '"':  # of a name in quotes, the last word is masked
            end -= 1
        start = end
        local = _LATIN if end and text[end - 1].isascii() else _ANY
        while start > after and end - start < _LONGEST_LOCAL and local.match(text, start - 1):
            start -= 1
        if start == end or text[start:end].strip(".+%'-_") == "":
            continue
        if sign[0].strip().isalnum() and not any(
            f" {dot} " in right[1].lower() for dot in _dots(sign[0].strip().lower())
        ):
            continue  # "at" alone is a word
        results |= {position for position in range(start + 1, end) if text[position] != MASK}
        results |= {position for position in range(*right.span(1)) if text[position].isalnum()}
        after = right.end()
    return results
