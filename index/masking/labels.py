"""The words before a number that say what it is, in every language."""

import re
from functools import cache, lru_cache
from typing import Final, Literal, get_args

from index.languages import LANGUAGES, of
from index.languages.tables.numbers import phrases_in

Label = Literal["phone", "account", "passport", "identity", "other"]

#: How far before a number its label may begin, and how far it may end.
REACH: Final = 48
_FARTHEST: Final = 26
_WORD = re.compile(r"[A-Za-z\u00df-\u024f]+\.?\Z")
#: What ends the reach of a label: the end of a sentence, or an empty line.
_END = re.compile(r"[!?。！？](?:\s|\Z)|(?<=\w{5})\.\s|(?<=\d)[.,]\s|\n\s*\n|\n.*\S.*\n")


@cache
def _labels() -> tuple[re.Pattern[str], dict[str, Label]]:
    kinds: dict[str, Label] = {}
    for language in LANGUAGES:
        labels = of(language).privacy.labels
        for kind in get_args(Label):
            kinds |= dict.fromkeys(map(str.lower, phrases_in(getattr(labels, kind))), kind)
    words = "|".join(re.escape(word) for word in sorted(kinds, key=len, reverse=True))
    latin = "[a-z\u00df-\u024f]"
    first = re.escape("".join(sorted({word[0] for word in kinds})))
    return re.compile(rf"(?=[{first}])(?<!{latin})(?:{words})(?!{latin})"), kinds


def label_of(text: str, start: int) -> Label | None:
    """The kind that the nearest label before the number at `start` gives it; None without a label. `text` is plain."""
    return _last_label(text[max(0, start - REACH) : start].lower())


@lru_cache(maxsize=256)
def _last_label(before: str) -> Label | None:
    pattern, kinds = _labels()
    match = None
    for match in pattern.finditer(before):  # noqa: B007 - the last one counts
        pass
    if match is None:
        return None
    between = before[match.end() :]
    if len(between) > _FARTHEST or _END.search(between):
        return None
    return kinds[match[0]]


def kind_of_word(text: str, end: int) -> Label | None:
    """The kind that the Latin word ending at `end` gives as a label; None for any other word."""
    word = _WORD.search(text, max(0, end - REACH), end)
    return _labels()[1].get(word[0].lower()) if word else None
