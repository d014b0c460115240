"""Find what kind of thing a question asks for, and whether a sentence mentions one."""

import re
from functools import cache, lru_cache
from typing import Final, Literal, get_args

from index.languages import FALLBACK, LANGUAGES, of, pattern

Kind = Literal["reason", "count", "time", "person", "place", "definition", "manner", "limit", "yes_no", "other"]

#: In search order: more specific kinds first.
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)[:-1]
# Kinds where any mention is enough; of the others, one that the question itself names does not count.
_MENTIONED: Final = ("reason", "manner", "definition", "limit", "yes_no")
_NUMERAL = re.compile(r"\d+(?:[.,٫٬]\d+)*")
_YEAR = r"\b1\d{3}\b|\b20\d{2}\b"
_CAPITALISED = r"(?<![.!?]\s)(?<!^)\b[A-ZÀ-Ý][\w'’.-]+(?:\s+(?:{small})?\s*[A-ZÀ-Ý][\w'’.-]*)*"


def kind_of(question: str) -> Kind:
    """The kind of thing that answers `question`; `other` if nothing in it tells."""
    return _asked(question)[0]


def holds(kind: Kind, sentence: str, question: str) -> bool:
    """Whether `sentence` mentions a thing of `kind` that the question itself does not already name."""
    if kind == "other":
        return True
    language = _asked(question)[1]
    if kind in _MENTIONED:
        return bool(_things(kind, language).search(sentence))
    if kind == "place" and pattern(of(language).questions.things.place, re.NOFLAG).search(sentence):
        return True
    if kind in ("count", "time", "limit") and set(_NUMERAL.findall(sentence)) - set(_NUMERAL.findall(question)):
        return True
    asked = question.casefold()
    return any(match.group().strip().casefold() not in asked for match in _things(kind, language).finditer(sentence))


@lru_cache(maxsize=1024)
def _asked(question: str) -> tuple[Kind, str]:
    """The kind, and the language whose words ask for it."""
    question = question.strip()
    for kind in KINDS:
        for language in LANGUAGES:
            if pattern(getattr(of(language).questions.asks, kind)).search(question):
                return kind, language
    return "other", FALLBACK


@cache
def _things(kind: Kind, language: str) -> re.Pattern[str]:
    """The pattern of a thing of `kind`; a place without a preposition is any capitalised name."""
    things = of(language).questions.things
    capitalised = _CAPITALISED.format(small="|".join(things.in_names.split()))
    match kind:
        case "count":
            return pattern((r"\d", *things.count))
        case "time":
            return pattern((_YEAR, *things.time))
        case "person":
            return pattern((capitalised, *things.name), re.NOFLAG)
        case "place":
            return pattern((capitalised,), re.NOFLAG)
        case _:
            return pattern(getattr(things, kind))
