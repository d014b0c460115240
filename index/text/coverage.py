"""How much of a question a passage covers, independent of the passage's length.

BM25 and cosine both weigh a match against the length of the passage; neither measures how much of the question is matched at
all, which separates their candidates. Each passage's n-grams (4 letters, or 2 characters for Han or Hangul) are kept as
a set of 16-bit hashes, so that word endings matter little and a look-up takes microseconds. About two n-grams in a hundred of
a passage share a hash; that blurs a score but never finds or loses a passage.

The phrases of a passage are kept in the same way: 10 letters that begin or end with a word and run on into its neighbours, or
4 characters. The share of the question's phrases in a passage separates adjacent words from words that merely occur.

A document usually begins with its subject. So the share of the question that its lead (title, headings and first
sentences) covers is reported with the share that the passage covers.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from index.text.ngrams import SPACE, Encoded, Hashes, Places, encode_all, fixed_grams, is_han, is_hangul

SLOTS = 1 << 16
#: The lead of a document: this many characters of its title, headings and first passage.
LEAD = 300
#: The weight of a word of the conversation; a word of the question has 1. From one half up, passages that answered the question
#: before come first, and a question of its own is drawn away by an unrelated history; DECISIONS.md has the figures.
TOPIC_SHARE = 0.4
_PHRASE = 10
_NOTHING = np.zeros(1, dtype=np.uint16)
_MIX_1, _MIX_2, _MIX_3 = np.uint32(0x9E3779B1), np.uint32(0x85EBCA77), np.uint32(0xC2B2AE3D)
GramSet = NDArray[np.uint16]


@lru_cache(maxsize=16_384)
def word_set(word: str) -> GramSet:
    """The n-grams of a word in any position: of Chinese and Korean only its pairs, as no space need follow it."""
    encoded = encode_all((word,))
    codes = encoded.codes
    wide = is_han(codes) | is_hangul(codes)
    if not wide.any():
        return sets_of(encoded, 0)[0][0]
    pairs, _ = fixed_grams(codes, 2, 4)
    kept = pairs[wide[: len(pairs)] & (codes != SPACE)[1 : len(pairs) + 1]]
    return _sets(1, [kept & np.uint32(SLOTS - 1)])[0]


def sets_of(encoded: Encoded, phrases_of: int | None = None) -> tuple[list[GramSet], list[GramSet]]:
    """The distinct hashes of each text's n-grams, and of its phrases, ascending; of fewer than 65,536 texts.
    `phrases_of`: the phrases of so many of the first, by default of all.
    """
    codes, starts = encoded.codes, encoded.starts
    length = len(codes)
    until = starts if phrases_of is None else starts[: phrases_of + 1]
    end = int(until[-1])
    owners = np.repeat(np.arange(len(starts) - 1, dtype=np.uint32) << np.uint32(16), np.diff(starts))
    # With the padding at the end, there is an n-gram at every position; those that leave their text do not count.
    codes = np.concatenate((codes, np.zeros(_PHRASE, dtype=np.uint32)))
    space = codes == SPACE
    pairs, fours = fixed_grams(codes, 2, 4)
    fit_four = _fitting(starts, 4)
    within = fit_four & ~(space[1 : length + 1] | space[2 : length + 2])
    at_edge = _fitting(until, _PHRASE) & (space[:end] | space[_PHRASE - 1 :][:end])
    wide = is_han(codes[:length]) | is_hangul(codes[:length])
    if not wide.any():
        grams, phrases = [_keys(owners, fours, np.flatnonzero(within))], []
    else:
        grams = [
            _keys(owners, pairs, np.flatnonzero(wide & _fitting(starts, 2) & ~space[1 : length + 1])),
            _keys(owners, fours, np.flatnonzero(within & ~wide)),
        ]
        phrases = [_keys(owners, fours, np.flatnonzero((wide & fit_four)[:end]))]
        at_edge &= ~wide[:end]
    edges = np.flatnonzero(at_edge)
    joined = fours[edges] * _MIX_1 ^ fours[edges + 3] * _MIX_2 ^ fours[edges + 6] * _MIX_3
    joined ^= joined >> np.uint32(16)
    phrases.append(owners[edges] | (joined & np.uint32(SLOTS - 1)))
    return _sets(len(starts) - 1, grams), _sets(len(until) - 1, phrases)


def _fitting(starts: Places, size: int) -> NDArray[np.bool_]:
    """From which places on this many characters are of the same text."""
    fitting = np.ones(starts[-1], dtype=bool)
    last = starts[1:, None] - np.arange(1, size)
    fitting[last[last >= starts[:-1, None]]] = False
    return fitting


def _keys(owners: NDArray[np.uint32], hashes: Hashes, places: NDArray[np.intp]) -> NDArray[np.uint32]:
    """The hashes at these places, each below the number of its text."""
    return owners[places] | (hashes[places] & np.uint32(SLOTS - 1))


def _sets(texts: int, keys: list[NDArray[np.uint32]]) -> list[GramSet]:
    kept = np.concatenate(keys)
    kept.sort()
    first = np.ones(len(kept), dtype=bool)
    np.not_equal(kept[1:], kept[:-1], out=first[1:])
    kept = kept[first]
    bounds = kept.searchsorted(np.arange(texts + 1, dtype=np.uint32) << np.uint32(16)).tolist()
    sets = kept.astype(np.uint16)  # the lower half
    return [sets[start:end] for start, end in pairwise(bounds)]


def rarity(counts: NDArray[np.int64], passages: int) -> NDArray[np.float32]:
    """The weight of every hash, from how many passages contain it (the idf of BM25)."""
    odds = np.maximum(passages - counts + 0.5, 0.5) / (counts + 0.5)
    return np.asarray(np.log(1 + odds), dtype=np.float32)


def cover(
    question: GramSet, weights: NDArray[np.float32], passages: Sequence[GramSet], topic: GramSet | None = None
) -> list[float]:
    """The share (0..1) of the question, and of its topic by TOPIC_SHARE, that each passage contains, by weight."""
    counted = question if topic is None else np.union1d(question, topic)
    wanted = weights[counted]
    if topic is not None:
        wanted = np.where(np.isin(counted, question), wanted, wanted * np.float32(TOPIC_SHARE))
    total = float(wanted.sum())
    if total <= 0 or not passages:
        return [0.0] * len(passages)
    weight_at = np.zeros(SLOTS, dtype=np.float32)
    weight_at[counted] = wanted / total
    # All in one array, each after a 0, from which `reduceat` sums as it sums a passage alone.
    result = weight_at.take(np.concatenate([part for kept in passages for part in (_NOTHING, kept)]))
    starts = [0, *accumulate(len(kept) + 1 for kept in passages[:-1])]
    result[starts] = 0
    shares: list[float] = np.add.reduceat(result, starts).tolist()
    return shares
