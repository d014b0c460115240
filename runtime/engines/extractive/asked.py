"""What kind of thing a question asks for, and whether a sentence holds a thing of that kind, in five languages."""

import re

from runtime.engines.extractive.asked_patterns import (
    ASKED,
    COUNT,
    DEFINES,
    MANNER,
    NAME,
    NAME_LATIN,
    PLACE,
    REASON,
    TIME,
    Kind,
)

__all__ = ["Kind", "holds", "kind_of"]

_NUMERAL = re.compile(r"\d+(?:[.,٫٬]\d+)*")
# Kinds whose mere mention is enough, and kinds of which the question may itself name one that does not count.
_MENTIONED = {"reason": REASON, "manner": MANNER, "definition": DEFINES}
_NAMED = {"person": NAME, "count": COUNT, "time": TIME, "place": NAME_LATIN}


def kind_of(question: str) -> Kind:
    """The kind of thing that answers `question`; `other` when nothing in it tells."""
    question = question.strip()
    return next((kind for kind, pattern in ASKED if pattern.search(question)), "other")


def holds(kind: Kind, sentence: str, question: str) -> bool:
    """Whether `sentence` mentions a thing of `kind` that the question itself does not already name."""
    if kind == "other":
        return True
    if kind in _MENTIONED:
        return bool(_MENTIONED[kind].search(sentence))
    if kind == "place" and PLACE.search(sentence):
        return True
    if kind in ("count", "time") and set(_NUMERAL.findall(sentence)) - set(_NUMERAL.findall(question)):
        return True
    asked = question.casefold()
    return any(match.group().strip().casefold() not in asked for match in _NAMED[kind].finditer(sentence))
