"""Carry names across languages: countries and currencies, which Unicode's CLDR names in every language (by Babel).

A question about Switzerland in Korean then finds the row of a table in French. Nothing else of a question is translated.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from index.languages import LANGUAGES
from index.languages.characters import WIDE, is_latin

#: Shorter names in Latin letters are other words, too.
_LEAST_LATIN = 4
_WIDE = re.compile(f"[{WIDE}]")
_WORD = re.compile(r"\w+")


def crossed(question: str, language: str, into: Iterable[str]) -> dict[str, str]:
    """By language, the question with its names as each of the other languages has them; none for a question without such a name."""
    if language not in LANGUAGES:
        return {}
    names, starts = _names(language)
    if starts and starts.isdisjoint(_starts(question)):
        return {}
    pattern = _pattern(language)
    if not pattern.search(question):
        return {}

    def carried(told: dict[str, str]) -> str:
        return pattern.sub(lambda name: f" {told.get(names[name[0].casefold()], name[0])} ", question)

    return {other: carried(_told(other)) for other in into if other != language and other in LANGUAGES}


@cache
def _told(language: str) -> dict[str, str]:
    """Every code's name in a language: of a territory `CH`, of a currency `CHF`."""
    from babel import Locale

    locale = Locale(language)
    territories = {code: name for code, name in locale.territories.items() if len(code) == 2}
    return territories | dict(locale.currencies)


@cache
def _names(language: str) -> tuple[dict[str, str], frozenset[str]]:
    """Codes by name, and how the names begin (nothing in a script without spaces)."""
    names = {
        name.casefold(): code
        for code, name in _told(language).items()
        if len(name) >= (_LEAST_LATIN if name.isascii() else 2)
    }
    firsts = [word[0] for name in names if (word := _WORD.search(name))]
    unspaced = any(map(_WIDE.match, names))
    starts = frozenset() if unspaced else frozenset(one[: _LEAST_LATIN if is_latin(one[0]) else 2] for one in firsts)
    return names, starts


@cache
def _pattern(language: str) -> re.Pattern[str]:
    """What finds the names; few questions have a word that begins like a name, and to compile it takes .1 s."""
    names, _ = _names(language)
    return re.compile("|".join(map(_as_word, sorted(names, key=lambda name: -len(name)))), re.IGNORECASE)


def _starts(text: str) -> Iterator[str]:
    """How each word begins: with its first letters and, since a particle may follow in other scripts, with its first two."""
    for word in _WORD.findall(text.casefold()):
        yield word[:_LEAST_LATIN]
        yield word[:2]


def _as_word(name: str) -> str:
    """A name where it begins a word, and in Latin letters is one; particles and endings follow it in other scripts."""
    if _WIDE.match(name):
        return re.escape(name)
    return rf"(?<!\w){re.escape(name)}" + (r"(?!\w)" if name[0].isascii() else "")
