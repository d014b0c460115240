"""Groups of digits that could be one number, the words before one that say what it is, and what a mask leaves of it."""

import re
from collections.abc import Iterable
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import Final, Literal, Self, get_args

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


_BRACKETS: Final = "() "


class Number:
    """`text[start:end]`. `sizes`: of its groups; `gaps`: between them; `signs`: the same without brackets and spaces.

    `before` and `after`: the characters next to it. `crowded`: a further group follows or comes before, parted as its own are.
    """

    def __init__(self, text: str, groups: list[tuple[int, int]], first: int, last: int) -> None:
        own = groups[first:last]
        self.text = text
        self.start, self.end = own[0][0], own[-1][1]
        self.digits = "".join(text[start:end] for start, end in own)
        self.sizes = tuple(end - start for start, end in own)
        self.gaps = tuple(text[one[1] : other[0]] for one, other in pairwise(own))
        self.signs = frozenset(gap.strip(_BRACKETS) or " " for gap in self.gaps)
        self.lead = text[max(0, self.start - 4) : self.start].rstrip(_BRACKETS)[-1:]
        self.before = text[self.start - 1 : self.start]
        self.after = text[self.end : self.end + 1]
        left = text[groups[first - 1][1] : self.start] if first else None
        right = text[self.end : groups[last][0]] if last < len(groups) else None
        self.crowded = " " in (left, right) and self.signs <= {" "}
        self.apart = not any(self._joins(gap) for gap in (left, right) if gap is not None) and not self._in_word()

    @classmethod
    def of(cls, text: str, groups: list[tuple[int, int]], first: int, last: int) -> Self | None:
        """The number; None where it is only a part of something longer."""
        number = cls(text, groups, first, last)
        written = text[number.start : number.end]
        opened = written.rfind("(") > written.rfind(")")  # 04-7771900 (24 hours)
        hours = text.startswith("24/7", number.end - 2)
        return number if number.apart and not opened and not hours else None

    @property
    def plus(self) -> bool:
        return self.lead == "+"

    @property
    def bare(self) -> bool:
        """Whether it is digits alone."""
        return len(self.sizes) == 1

    @property
    def spelled(self) -> bool:
        """Whether each digit is written by itself, and they are no row of zeros and ones."""
        return set(self.sizes) == {1} and self.signs <= {" ", "-"} and not set(self.digits) <= {"0", "1"}

    @property
    def mixed(self) -> bool:
        """Whether different signs join it: 2019-05-03/4."""
        return len(self.signs - {" "}) > 1

    @cached_property
    def label(self) -> Label | None:
        return label_of(self.text, self.start)

    def _joins(self, gap: str) -> bool:
        return gap in ("-", ".", "_", "") or gap in self.signs - {" "}

    def _in_word(self) -> bool:
        """Whether it is part of a word of letters and digits, such as a hash; its label may be written on to it."""
        after = self.text[self.end : self.end + 2]
        before = self.text[max(0, self.start - 2) : self.start]
        if self.bare and (_is_latin(after[:1]) or (after[:1] == "-" and _is_latin(after[1:]))):
            return True
        if before[-1:] == ":" and before[:1].isdecimal():
            return True  # a time
        if before[-1:] == "_" or _is_latin(before[-1:]):
            return kind_of_word(self.text, self.start) is None
        tied = before[-1:] == "-" and before[:1].isalnum()
        return tied and (self.bare or _is_latin(after[:1]) or (after[:1] == "-" and after[1:].isalnum()))


def _is_latin(char: str) -> bool:
    return char.isascii() and char.isalpha()


#: Looks like a star and is no mark of Markdown, which would take stars for emphasis.
MASK: Final = "\u2217"
#: How many digits of a number remain, so that people recognise their own.
KEPT: Final = 4


def all_but_last(text: str, start: int, end: int, kept: int = KEPT) -> Iterable[int]:
    """The places of the letters and digits of `text[start:end]`, without the last ones."""
    positions = [at for at in range(start, end) if text[at].isalnum()]
    return positions[: len(positions) - kept]
