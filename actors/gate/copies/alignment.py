"""The changes between a sentence and the sentence of the evidence that it copies."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

import msgspec

from actors.facts.reading import TOKEN
from actors.gate.thresholds import (
    COPY_SHARE,
    COPY_SHARE_HANGUL,
    CUT_SPARE_WORDS,
    MERGED_HAN_CHARS,
    MERGED_TURNED_WORDS,
    SHORT_COPY_RATIO,
    SHORT_COPY_WORDS,
)
from index.languages.characters import is_han, is_hangul


class CopyToken(msgspec.Struct, frozen=True):
    start: int
    end: int
    text: str


class CopyChange(msgspec.Struct, frozen=True):
    """Tokens `begin` to `end` of the sentence replace tokens `first` to `last` of the evidence; either side may be empty."""

    begin: int
    end: int
    first: int
    last: int


class Copy(msgspec.Struct, frozen=True):
    """A sentence and the one it copies, both in normal form; `share` (0..1) of its words are the same."""

    text: str
    there: str
    mine: tuple[CopyToken, ...]
    theirs: tuple[CopyToken, ...]
    changes: tuple[CopyChange, ...]
    share: float

    @property
    def short(self) -> bool:
        """Whether the copy takes a few words out of many: their neighbours there may be about something else."""
        return self.share * len(self.mine) < SHORT_COPY_WORDS and len(self.theirs) > SHORT_COPY_RATIO * len(self.mine)

    def size(self, change: CopyChange) -> int:
        """How many words the change takes, on the side where it takes more."""
        return max(change.end - change.begin, change.last - change.first)

    def words(self, change: CopyChange) -> str:
        """The words of the sentence there, with a word before and after."""
        first, last = max(0, change.begin - 1), min(len(self.mine), change.end + 1) - 1
        return self.text[self.mine[first].start : self.mine[last].end]


@lru_cache(maxsize=2048)
def tokens(text: str) -> tuple[CopyToken, ...]:
    return tuple(CopyToken(match.start(), match.end(), match[0]) for match in TOKEN.finditer(text))


def copy_of(text: str, there: str) -> Copy | None:
    """The changes from `there` to `text`, if it is a copy. An omission at either end is no change."""
    mine, theirs = tokens(text), tokens(there)
    words, others = [token.text for token in mine], [token.text for token in theirs]
    head = _same(words, others)
    tail = _same(words[head:][::-1], others[head:][::-1])
    matcher = SequenceMatcher(None, words[head : len(words) - tail], others[head : len(others) - tail], autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    kept = head + tail + sum(block.size for block in blocks)
    least = COPY_SHARE_HANGUL if any(map(is_hangul, words)) else COPY_SHARE
    if not words or kept < least * len(words):
        return None
    changes: list[CopyChange] = []
    for tag, begin, end, first, last in matcher.get_opcodes():
        change = CopyChange(begin + head, end + head, first + head, last + head)
        if tag != "equal" and (change.begin < change.end or 0 < change.begin < len(words)):
            changes.append(_cut(change, len(words)))
    return Copy(text, there, mine, theirs, tuple(_merged(changes, mine, theirs)), kept / len(words))


def _cut(change: CopyChange, length: int) -> CopyChange:
    """A copy may stop short at its ends: only the part of the evidence that it replaces counts against it."""
    first, last, most = change.first, change.last, change.end - change.begin + CUT_SPARE_WORDS
    if change.end == length:
        last = min(last, first + most)
    if change.begin == 0:
        first = max(first, last - most)
    return CopyChange(change.begin, change.end, first, last)


def _same(words: Sequence[str], others: Sequence[str]) -> int:
    """The number of equal words at their beginning."""
    return next(
        (at for at, (one, two) in enumerate(zip(words, others, strict=False)) if one != two),
        min(len(words), len(others)),
    )


def _merged(changes: list[CopyChange], mine: Sequence[CopyToken], theirs: Sequence[CopyToken]) -> list[CopyChange]:
    merged = changes[:1]
    for before, change in pairwise(changes):
        kept = mine[before.end : change.begin]
        beside = 0 < len(kept) <= MERGED_HAN_CHARS and is_han(kept[0].text[0])
        turned = len(kept) <= MERGED_TURNED_WORDS and _is_turned(before, change, mine, theirs)
        if beside or turned:
            last = merged.pop()
            merged.append(CopyChange(last.begin, change.end, last.first, change.last))
        else:
            merged.append(change)
    return merged


def _is_turned(before: CopyChange, after: CopyChange, mine: Sequence[CopyToken], theirs: Sequence[CopyToken]) -> bool:
    """Whether words moved from one place to the other and changed their order; a phrase that only moved is unchanged."""
    if before.begin == before.end and after.first == after.last:
        left, put = theirs[before.first : before.last], mine[after.begin : after.end]
    elif before.first == before.last and after.begin == after.end:
        left, put = theirs[after.first : after.last], mine[before.begin : before.end]
    else:
        return False
    return [token.text for token in left] != [token.text for token in put]
