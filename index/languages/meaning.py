"""How near texts are in meaning across languages, by vectors of the pieces of words (docs/other-languages.md).

Input: a question and texts, in any of the six languages. Output: a number from 0 to 1 for each text, or a vector for each, by
which an index finds passages near a question. Neither says anything about word order or negation. The vectors were learnt from
texts in two languages with one meaning: pieces that translate each other point the same way, and rare pieces have long vectors.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import accumulate, chain, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from index.languages.characters import fold, is_han

_VECTORS: Final = Path(__file__).with_name("meaning.npy")
_PIECES: Final = Path(__file__).with_name("meaning.npz")
_WORD: Final = re.compile(r"[^\W_]+")
#: Stands before the first piece of a word.
_START: Final = "\u2581"
_LONGEST_WORD: Final = 64
#: Numbers in a vector.
DIMENSION: Final = 256
#: So many pieces of a question count: a long one would take as much memory as it has letters for each passage.
_LONGEST_QUESTION: Final = 256
#: What a letter of no piece costs: more than any piece.
_UNKNOWN: Final = 25.0
#: From this nearness on a passage in another language is near a question.
NEAR_ABROAD: Final = 0.28
#: The part of the whole texts in the result; the rest is that of the question's single pieces.
_WHOLE: Final = 0.35
#: So many pieces of a text are a block; a stretch has so many blocks, twice as many as the one before.
_BLOCK: Final = 8
_STRETCHES: Final = (2, 4, 8)

_Numbers = NDArray[np.uint16]
_Rows = NDArray[np.float32]
_Counts = NDArray[np.intp]


class _Table(NamedTuple):
    """One row for each piece: a vector of length 1 in whole numbers, the factor that they take, the weight of the piece, and its
    weight in a question, which is less for a piece that most texts have something like.
    """

    vectors: NDArray[np.int8]
    scale: _Rows
    weight: _Rows
    asked: _Rows

    def rows(self, numbers: NDArray[np.integer]) -> _Rows:
        return self.vectors.take(numbers, 0).astype(np.float32) * self.scale.take(numbers)[:, None]


class _Spelling(NamedTuple):
    """Each piece's number, by how it is written; log-probabilities, by number; the length of the longest piece, by first letter."""

    numbers: dict[str, int]
    likely: list[float]
    longest: dict[str, int]


def nearness(question: str, texts: Sequence[str], *, together: bool = False) -> list[float]:
    """The mean of two likenesses for each text, by _WHOLE: of the whole texts, the cosine of the sums of their vectors; of the
    question's pieces, the square of the cosine with the nearest piece of the text, by their weights.

    `together`: pieces that stand together count more: the mean of this for the whole text and for its best stretch of each of
    the lengths _STRETCHES. The title and headings stand in front, so the whole text counts, too.
    """
    wanted = _numbers(question)[:_LONGEST_QUESTION]
    held = [_numbers(text) for text in texts]
    if not len(wanted) or not any(map(len, held)):
        return [0.0] * len(texts)
    table = _table()
    once, places = _distinct(np.concatenate(held), len(table.scale))
    asked, heavy = table.rows(wanted), table.asked.take(wanted)
    shares = np.zeros((len(wanted), len(once) + 1), dtype=np.float32)
    cosines = asked @ table.rows(once).T
    np.square(np.minimum(np.maximum(cosines, 0, out=cosines), 1, out=cosines), out=shares[:, :-1])
    sizes = np.array(list(map(len, held)))
    blocks = sizes // _BLOCK + 1 if together else np.ones_like(sizes)
    most = _by_block(shares, places, sizes, blocks)
    heavy /= heavy.sum()
    single = heavy @ _by_text(most, blocks)
    if together:
        single = (single + _in_stretches(most, heavy, blocks)) / (1 + len(_STRETCHES))
    whole = directions(texts) @ _unit(table.weight.take(wanted) @ asked)
    results: list[float] = (_WHOLE * np.clip(whole, 0, 1) + (1 - _WHOLE) * single).tolist()
    return results


def directions(texts: Sequence[str]) -> _Rows:
    """A row for each text: the sum of the vectors of its pieces, of length 1; of zeros for a text without any."""
    return np.array([_direction(text) for text in texts], dtype=np.float32).reshape(len(texts), DIMENSION)


def likeness(words: Sequence[str], texts: Sequence[str]) -> list[float]:
    """For each word, 0 to 1: the mean cosine of its pieces with the nearest piece in all the texts, by their weights."""
    pieces = np.unique(np.concatenate([_numbers(text) for text in texts])) if texts else np.array([], dtype=np.uint16)
    wanted = [_numbers(word) for word in words]
    if not len(pieces) or not any(map(len, wanted)):
        return [0.0] * len(words)
    table = _table()
    every = np.concatenate(wanted)
    nearest = np.clip(table.rows(every) @ table.rows(pieces).T, 0, 1).max(axis=1)
    ends = list(accumulate(map(len, wanted)))
    parts = zip(np.split(nearest, ends[:-1]), np.split(table.weight.take(every), ends[:-1]), strict=True)
    return [float(near @ heavy / heavy.sum()) if len(near) else 0.0 for near, heavy in parts]


@lru_cache(maxsize=512)
def across_words(text: str) -> frozenset[str]:
    """The pairs of Chinese characters of which one ends a word and the other begins the next, where one of these has several."""
    found: list[str] = []
    for word in _WORD.findall(fold(text)):
        pieces = [_written()[number].lstrip(_START) for number in _split(word)]
        found += (
            one[-1] + two[0]
            for one, two in pairwise(filter(None, pieces))
            if len(one + two) > 2 and is_han(one[-1]) and is_han(two[0])
        )
    return frozenset(found)


@cache
def _written() -> list[str]:
    """The pieces, by number."""
    return list(_spelling().numbers)


def _distinct(pieces: _Numbers, most: int) -> tuple[_Numbers, _Counts]:
    """Each number below `most` once, and where each of `pieces` is among these."""
    places = np.arange(len(pieces))
    last = np.empty(most, dtype=np.intp)
    last[pieces] = places
    own = last[pieces]
    first = own == places
    return pieces[first], (first.cumsum() - 1)[own]


def _by_block(shares: _Rows, places: _Counts, sizes: _Counts, blocks: _Counts) -> _Rows:
    """The highest share of each row in each block of each text; the text's last block takes in the last share, too."""
    texts = np.arange(len(sizes))
    at = np.full(len(places) + len(sizes), shares.shape[1] - 1)
    at[np.arange(len(places)) + np.repeat(texts, sizes)] = places
    starts = np.repeat(sizes.cumsum() - sizes + texts, blocks) + _inside(blocks) * _BLOCK
    highest: _Rows = np.maximum.reduceat(shares.take(at, 1), starts, axis=1)
    return highest


def _by_text(most: _Rows, blocks: _Counts) -> _Rows:
    highest: _Rows = np.maximum.reduceat(most, blocks.cumsum() - blocks, axis=most.ndim - 1)
    return highest


def _in_stretches(most: _Rows, heavy: _Rows, blocks: _Counts) -> _Rows:
    """For each text the share of its best stretch, summed over the lengths. Changes `most`."""
    left = np.repeat(blocks, blocks) - _inside(blocks)
    single = np.zeros(len(blocks), dtype=np.float32)
    for length in _STRETCHES:
        # Half a stretch is joined with the half behind it in the same text.
        at = np.flatnonzero(left > length // 2)
        most[:, at] = np.maximum(most[:, at], most[:, at + length // 2])
        single += _by_text(heavy @ most, blocks)
    return single


def _inside(blocks: _Counts) -> _Counts:
    """The number of each block in its text."""
    return np.arange(blocks.sum()) - np.repeat(blocks.cumsum() - blocks, blocks)


def _unit(row: _Rows) -> _Rows:
    return (row / max(float(np.linalg.norm(row)), 1e-9)).astype(np.float32)


@lru_cache(maxsize=4096)
def _direction(text: str) -> _Rows:
    numbers = _numbers(text)
    return _unit(_table().weight.take(numbers) @ _table().rows(numbers))


@lru_cache(maxsize=4096)
def _numbers(text: str) -> _Numbers:
    """The numbers of the pieces of a text, in order."""
    return np.concatenate([_in_line(line) for line in text.split("\n")])


@lru_cache(maxsize=16_384)
def _in_line(line: str) -> _Numbers:
    return np.fromiter(chain.from_iterable(map(_split, _WORD.findall(fold(line)))), dtype=np.uint16)


@lru_cache(maxsize=65_536)
def _split(word: str) -> tuple[int, ...]:
    """The most likely pieces of a folded word; letters of no piece are left out."""
    numbers, likely, longest = _spelling()
    text = _START + word[:_LONGEST_WORD]
    best: list[tuple[float, int, int | None]] = [(0.0, 0, None), *((-1e9, 0, None) for _ in text)]
    for start in range(len(text)):
        so_far = best[start][0]
        for end in range(start + 1, min(len(text), start + longest.get(text[start], 0)) + 1):
            number = numbers.get(text[start:end])
            if number is not None and so_far + likely[number] > best[end][0]:
                best[end] = so_far + likely[number], start, number
        if best[start + 1][0] < so_far - _UNKNOWN:
            best[start + 1] = so_far - _UNKNOWN, start, None
    found: list[int] = []
    end = len(text)
    while end:
        _, end, number = best[end]
        if number is not None:
            found.append(number)
    return tuple(reversed(found))


@cache
def _table() -> _Table:
    with np.load(_PIECES) as file:
        return _Table(np.load(_VECTORS, mmap_mode="r"), file["scale"], file["weight"], file["asked"])


@cache
def _spelling() -> _Spelling:
    with np.load(_PIECES) as file:
        likely: list[float] = file["cost"].tolist()
        written = bytes(file["pieces"]).decode().split("\n")
    # Of pieces with one first letter the longest comes last; the loops are in C, since each process waits for this once.
    by_length = sorted(filter(None, written), key=len)
    longest = dict(zip(map(itemgetter(0), by_length), map(len, by_length), strict=True))
    return _Spelling(dict(zip(written, range(len(written)), strict=True)), likely, longest)
