"""What the files of index/languages hold: meaning.npy and meaning.npz of pieces, translation.npz of words and their neighbours."""

import re
from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from index.languages import LANGUAGES
from index.languages.words import FUNCTION_WORDS
from tests.bench.meaning.packing import Arrays
from tests.bench.meaning.sources import SCRIPTS

#: The words of a language at most, the neighbours of each, and the lowest cosine of a neighbour.
_WORDS, _NEIGHBOURS, _NEAR = 32_000, 4, 0.33
NONE = 0xFFFF
#: Pieces of a passage, of a text that a passage is made of at least, and how many passages of each language.
_PIECES, _SENTENCE, _PASSAGES = 150, 12, 100
#: A word whose vector is so much shorter than the usual one means little.
_LIGHT = 0.38
_START = "\u2581"  # of a word
_LATIN = "[a-z\u00df-\u024f]{2,}"
type Rows = NDArray[np.float32]


class Words(NamedTuple):
    """The words of a language, the most frequent first, with their vectors and how often they occur."""

    written: list[str]
    vectors: Rows
    counts: NDArray[np.int64]


def meaning(arrays: Arrays, vectors: Rows) -> tuple[NDArray[np.int8], Arrays]:
    """The directions of the vectors in whole numbers; the factors of these, and the weights of the pieces."""
    length, units = np.linalg.norm(vectors, axis=1), _units(vectors)
    scale = np.abs(units).max(1) / 127
    asked = length * (1 - commonness(arrays, units)) ** 2
    weights = {"scale": scale, "weight": length, "asked": asked.astype(np.float32)}
    return np.round(units / (scale[:, None] + 1e-12)).astype(np.int8), weights


def commonness(arrays: Arrays, units: Rows) -> Rows:
    """How much of each piece a passage has by chance: the mean square of the cosine with its nearest piece, over passages of every
    language alike, each of several texts.
    """
    random = np.random.default_rng(1)
    long = np.diff(arrays["ends"]) >= _SENTENCE
    shares = []
    for number in np.unique(arrays["languages"]):
        texts = np.flatnonzero(long & (arrays["languages"] == number))
        starts = random.choice(len(texts), min(_PASSAGES, len(texts)), replace=False)
        passages = [_passage(arrays, texts[start : start + _PIECES // _SENTENCE]) for start in starts.tolist()]
        ends = np.cumsum([0, *map(len, passages)])[:-1]
        held = units[np.concatenate(passages)].T
        rows = (np.clip(units[start : start + 500] @ held, 0, 1) for start in range(0, len(units), 500))
        shares.append(np.concatenate([np.square(np.maximum.reduceat(each, ends, axis=1)).mean(1) for each in rows]))
    return np.array(shares).mean(0)


def _passage(arrays: Arrays, texts: NDArray[np.int64]) -> NDArray[np.uint16]:
    ends = arrays["ends"]
    return np.concatenate([arrays["tokens"][ends[text] : ends[text + 1]] for text in texts.tolist()])[:_PIECES]


def words(arrays: Arrays, pieces: list[str], vectors: Rows, fewest: int = 3) -> dict[str, Words]:
    """Words of at most five pieces that occur often enough; in Chinese a word is a piece. Languages without any are left out."""
    begins = np.array([piece.startswith(_START) for piece in pieces])
    found: dict[str, Words] = {}
    for number, language in enumerate(LANGUAGES):
        counts: Counter[tuple[int, ...]] = Counter()
        for text in np.flatnonzero(arrays["languages"] == number):
            ids = arrays["tokens"][arrays["ends"][text] : arrays["ends"][text + 1]]
            starts = range(len(ids)) if language == "zh" else np.flatnonzero(begins[ids]).tolist()
            tokens = ids.tolist()
            counts.update(tuple(tokens[a:b]) for a, b in zip(starts, [*starts[1:], len(tokens)], strict=True))
        letters = f"{SCRIPTS[language]}+" if language in SCRIPTS else _LATIN
        kept: dict[str, tuple[int, ...]] = {}
        for ids, count in counts.most_common():
            word = "".join(pieces[each] for each in ids).replace(_START, "")
            often = count >= fewest and len(ids) < 6 and len(kept) < _WORDS
            if often and all(pieces[each] for each in ids) and re.fullmatch(letters, word):
                kept.setdefault(word, ids)
        if kept:
            rows = np.array([vectors[list(ids)].sum(0) for ids in kept.values()])
            found[language] = Words(list(kept), rows, np.array([counts[ids] for ids in kept.values()]))
    return found


def translation(every: dict[str, Words]) -> Arrays:
    """The words of each language, and for two languages the numbers of each word's nearest words."""
    arrays: Arrays = {}
    for language, own in every.items():
        arrays[language] = np.frombuffer("\n".join(own.written).encode(), np.uint8)
        length = np.linalg.norm(own.vectors, axis=1)
        light = (length < _LIGHT * np.median(length)) | np.isin(own.written, list(FUNCTION_WORDS))
        for other in every.keys() - {language}:
            near = neighbours(own.vectors, every[other], shortest=1 if other == "zh" else 2)
            near[light] = NONE
            arrays[f"{language}-{other}"] = near
    return arrays


def neighbours(vectors: Rows, theirs: Words, shortest: int = 2) -> NDArray[np.uint16]:
    """The numbers of the nearest words, frequent ones a little nearer; of forms of one word only the nearest."""
    own, units = _units(vectors), _units(theirs.vectors)
    units[[word in FUNCTION_WORDS or len(word) < shortest for word in theirs.written]] = 0  # near to none
    bonus = 0.01 * np.log(theirs.counts + np.float32(1))
    found = np.full((len(own), _NEIGHBOURS), NONE, np.uint16)
    for start in range(0, len(own), 1000):
        scores = own[start : start + 1000] @ units.T + bonus
        rows = np.arange(len(scores))
        chosen: list[list[int]] = [[] for _ in rows]
        for _ in range(min(2 * _NEIGHBOURS, len(units))):
            best = scores.argmax(1)
            for row in np.flatnonzero(scores[rows, best] - bonus[best] >= _NEAR):
                known = [theirs.written[each] for each in chosen[row]]
                if len(known) < _NEIGHBOURS and not any(_alike(theirs.written[best[row]], each) for each in known):
                    chosen[row].append(int(best[row]))
            scores[rows, best] = -9
        for row, numbers in enumerate(chosen, start):
            found[row, : len(numbers)] = numbers
    return found


def _units(rows: Rows) -> Rows:
    return rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-9)


def _alike(one: str, other: str) -> bool:
    return one in other or other in one or (len(one) > 3 and one[:4] == other[:4] and one[0] < "\u0250")
