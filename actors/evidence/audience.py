"""Whom a statement is for: everybody, or some alone. Two like statements that differ in this disagree about their scope."""

import re
from typing import Final

import msgspec

_ALL: Final = {
    "en": r"\b(?:all|every|everyone|everybody|any)\b",
    "fr": r"\b(?:tous|toutes|chaque|n'importe quel(?:le)?)\b",
    "ko": r"(?:모든|누구나|전원|모두)",
    "zh": r"(?:所有|全体|任何|每位|每名)",
    "ar": r"(?<!\w)[لبو]?(?:جميع|كل|كافة)(?!\w)",
}
_ONLY: Final = {
    "en": r"\b(?:only|solely|exclusively)\b",
    "fr": r"\b(?:seulement|uniquement|exclusivement|seuls?|seules?)\b",
    "ko": r"[가-힣]{2,}만(?=[\s.,])|에 한해|에 한하여|에게만",
    "zh": r"(?:仅限|只有|仅)",
    "ar": r"(?<!\w)(?:فقط|حصرا|حصريا)(?!\w)",
}
_PATTERNS: Final = {
    language: (re.compile(_ALL[language], re.I), re.compile(_ONLY[language], re.I)) for language in _ALL
}
#: Characters of the statement shown on each side of the word that gives its scope.
_AROUND: Final = 24


class Audience(msgspec.Struct, frozen=True):
    """`everybody`: else some alone. `text` is the stretch that says so, as written."""

    everybody: bool
    text: str


def audience_of(sentence: str, language: str) -> Audience | None:
    """The scope that a sentence states; None when it states none, or both."""
    if language not in _PATTERNS:
        return None
    every, only = (pattern.search(sentence) for pattern in _PATTERNS[language])
    found = every or only
    if found is None or (every and only):
        return None
    return Audience(every is not None, _stretch(sentence, found.start(), found.end()))


def _stretch(sentence: str, start: int, end: int) -> str:
    """Whole words around the place, within the clause."""
    left = re.split(r"[,;:，；：、،]", sentence[max(0, start - _AROUND) : start])[-1]
    right = re.split(r"[.,;:。，；：、،!?؟]", sentence[end : end + _AROUND])[0]
    if start > _AROUND and len(left) == _AROUND and " " in left:
        left = left.partition(" ")[2]
    if len(right) == _AROUND and " " in right:
        right = right.rpartition(" ")[0]
    return (left + sentence[start:end] + right).strip()
