"""The scope of a statement: everybody, or only some. Two similar statements with different scopes conflict."""

import re
from functools import cache

import msgspec

from actors.evidence.thresholds import SCOPE_CHARS
from index.languages import LANGUAGES, of


class StatedScope(msgspec.Struct, frozen=True):
    """`everybody`, else only some. `text` is the stretch that states it, as written."""

    everybody: bool
    text: str


def audience_of(sentence: str, language: str) -> StatedScope | None:
    """The scope that a sentence states; None when it states none, or both."""
    if language not in LANGUAGES:
        return None
    every, only = (pattern.search(sentence) for pattern in _patterns(language))
    match = every or only
    if match is None or (every and only):
        return None
    return StatedScope(every is not None, _stretch(sentence, match.start(), match.end()))


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    table = of(language).terms.audience
    return re.compile(table.everybody, re.I), re.compile(table.only_some, re.I)


def _stretch(sentence: str, start: int, end: int) -> str:
    """Whole words around that position, within the clause."""
    left = re.split(r"[,;:，；：、،]", sentence[max(0, start - SCOPE_CHARS) : start])[-1]
    right = re.split(r"[.,;:。，；：、،!?؟]", sentence[end : end + SCOPE_CHARS])[0]
    if start > SCOPE_CHARS and len(left) == SCOPE_CHARS and " " in left:
        left = left.partition(" ")[2]
    if len(right) == SCOPE_CHARS and " " in right:
        right = right.rpartition(" ")[0]
    return (left + sentence[start:end] + right).strip()
