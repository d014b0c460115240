"""How much of a question a passage covers, whatever the passage's length.

BM25 and cosine both weigh a match against the length of the passage; neither measures how much of the question is matched at
all, and that tells their candidates apart. Each passage's n-grams (4 letters, or 2 characters for Han or Hangul) are kept as
a set of 16-bit hashes, so that word endings matter little and a look-up takes microseconds. About two n-grams in a hundred of
a passage share a hash; that blurs a score but never finds or loses a passage.

The phrases of a passage are kept in the same way: 10 letters that begin or end with a word and run on into its neighbours, or
4 characters. The share of the question's phrases in a passage tells words that stand together from words that merely occur.

A document usually says first what it is about. So the share of the question that its lead (title, headings and first
sentences) covers is reported beside the share that the passage covers.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from index.ngrams import SPACE, Hashes, encode, fixed_grams, is_han, is_hangul

SLOTS = 1 << 16
#: The lead of a document: this many characters of its title, headings and first passage.
LEAD = 300
#: What a word of the conversation counts beside one of the question. From one half up, passages that answered the question
#: before come first, and a question that stands alone is drawn away by an unrelated history; DECISIONS.md has the figures.
TOPIC_SHARE = 0.4
_PHRASE = 10
_MIX_1, _MIX_2, _MIX_3 = np.uint32(0x9E3779B1), np.uint32(0x85EBCA77), np.uint32(0xC2B2AE3D)
GramSet = NDArray[np.uint16]


def gram_set(text: str) -> GramSet:
    """The distinct hashes of a text's n-grams, ascending."""
    return hash_sets(text)[0]


def word_set(word: str) -> GramSet:
    """The n-grams of a word wherever it stands: of Chinese and Korean only its pairs, as no space need follow it."""
    codes = encode(word)
    wide = is_han(codes) | is_hangul(codes)
    if not wide.any():
        return gram_set(word)
    pairs, _ = fixed_grams(codes, 2, 4)
    return _set(pairs[wide[: len(pairs)] & (codes != SPACE)[1 : len(pairs) + 1]])


def hash_sets(text: str) -> tuple[GramSet, GramSet]:
    """The distinct hashes of a text's n-grams and those of its phrases, ascending."""
    codes = encode(text)
    wide = is_han(codes) | is_hangul(codes)
    space = codes == SPACE
    pairs, fours = fixed_grams(codes, 2, 4)
    within = ~(space[1:-2] | space[2:-1] | wide[:-3]) if len(fours) else np.zeros(0, dtype=bool)
    pairs = pairs[wide[: len(pairs)] & ~space[1 : len(pairs) + 1]]
    starts = max(len(codes) - _PHRASE + 1, 0)
    at_edge = (space[:starts] | space[_PHRASE - 1 :][:starts]) & ~wide[:starts]
    return _set(pairs, fours[within]), _set(fours[wide[: len(fours)]], _joined(fours)[at_edge])


def _joined(fours: Hashes) -> Hashes:
    """The hash of every phrase, from the hashes of the three 4-grams in it."""
    mixed: Hashes = fours[:-6] * _MIX_1 ^ fours[3:-3] * _MIX_2 ^ fours[6:] * _MIX_3
    return mixed ^ (mixed >> np.uint32(16))


def _set(*hashes: Hashes) -> GramSet:
    held = (np.concatenate(hashes) & np.uint32(SLOTS - 1)).astype(np.uint16)
    held.sort()
    first = np.ones(len(held), dtype=bool)
    np.not_equal(held[1:], held[:-1], out=first[1:])
    return held[first]


def rarity(counts: NDArray[np.int64], passages: int) -> NDArray[np.float32]:
    """The weight of every hash, from how many passages contain it (the idf of BM25)."""
    odds = np.maximum(passages - counts + 0.5, 0.5) / (counts + 0.5)
    return np.asarray(np.log(1 + odds), dtype=np.float32)


def cover(
    question: GramSet, weights: NDArray[np.float32], passages: Sequence[GramSet], topic: GramSet | None = None
) -> list[float]:
    """The share (0..1) of the question, and of its topic by TOPIC_SHARE, that each passage contains, by weight."""
    asked = question if topic is None else np.union1d(question, topic)
    wanted = weights[asked]
    if topic is not None:
        wanted = np.where(np.isin(asked, question), wanted, wanted * np.float32(TOPIC_SHARE))
    total = float(wanted.sum())
    if total <= 0 or not passages:
        return [0.0] * len(passages)
    weight_at = np.zeros(SLOTS, dtype=np.float32)
    weight_at[asked] = wanted / total
    return [float(np.add.reduce(weight_at.take(held))) for held in passages]
