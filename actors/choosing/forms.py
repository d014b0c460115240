"""Find what kind of thing a question asks for, and whether a sentence mentions one."""

import re
from functools import cache, lru_cache
from typing import Final, Literal, get_args

from index.languages import FALLBACK, LANGUAGES, of, pattern, union

Kind = Literal["reason", "count", "time", "person", "place", "definition", "manner", "limit", "yes_no", "other"]

#: In search order: more specific kinds first.
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)[:-1]
# Kinds where any mention is enough; of the others, one that the question itself names does not count.
_MENTIONED: Final = ("reason", "manner", "definition", "limit", "yes_no")
#: The kinds of questions that may ask for a price, which no other number answers.
_PRICED: Final = ("count", "limit")
_ASKS_PRICE: Final = union(lambda language: language.questions.asks.price)
_PRICE: Final = union(lambda language: language.questions.things.price)
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
    _, language, of_price = _asked(question)
    if of_price and kind in _PRICED:
        return bool(_PRICE.search(sentence))
    if kind in _MENTIONED:
        return bool(_things(kind, language).search(sentence))
    if kind == "place" and pattern(of(language).questions.things.place, re.NOFLAG).search(sentence):
        return True
    if kind in ("count", "time", "limit") and set(_NUMERAL.findall(sentence)) - set(_NUMERAL.findall(question)):
        return True
    asked = question.casefold()
    return any(match.group().strip().casefold() not in asked for match in _things(kind, language).finditer(sentence))


@lru_cache(maxsize=1024)
def _asked(question: str) -> tuple[Kind, str, bool]:
    """The kind, the language whose words ask for it, and whether it is a price."""
    question = question.strip()
    of_price = bool(_ASKS_PRICE.search(question))
    for kind in KINDS:
        for language in LANGUAGES:
            if pattern(getattr(of(language).questions.asks, kind)).search(question):
                return kind, language, of_price
    return "count" if of_price else "other", FALLBACK, of_price


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
