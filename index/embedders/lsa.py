"""The default embedder: latent semantic analysis over character n-grams, fitted on the corpus that it will search.

Counts of n-grams, weighted as in BM25, are projected onto the corpus's strongest directions. It needs no download, knows no
language and does not search across languages. New passages are folded in with the existing directions; `coverage` is how
much of a text those directions know.

Many texts are folded in at once: the same vectors as one by one, at a third of the cost. The n-grams of a few dozen texts are
hashed, looked up and counted together, as long as their arrays stay in the processor's cache.
"""

import copy
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import batched
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from index.embedders.embedder import EmbedderSpec, Vectors, unit
from index.errors import IndexProblem
from index.text.ngrams import Hashes, encode, encode_all, grams, placed_grams
from index.text.question_words import without_question_words

NAME = "lsa"
DIMENSION = 384
THRESHOLD = 0.1
_MAX_FEATURES = 131_072
#: BM25's k1 (saturation of repeats) and b (share of length corrected for).
_K1, _B = 1.2, 0.4
#: The directions settle early: above this many passages, they are fitted on an even sample.
FIT_ON = 3_000
_SEED = 7
_EXACT_UP_TO = 800
_SPARE = 16
_ROW_BY_ROW = 8
_INT8 = 127
#: Texts whose n-grams are collected together.
_TOGETHER = 48

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Progress = Callable[[int], None]
#: The distinct n-grams of a text, and how often it contains each.
Counted = tuple[Hashes, NDArray[np.intp]]


class Lsa:
    """A fitted model; safe for any number of threads."""

    def __init__(self, directory: Path, version: str) -> None:
        """Raises IndexProblem when the model's files are incomplete."""
        try:
            self.features: Hashes = np.load(directory / "features.npy")
            self.idf: NDArray[np.float32] = np.load(directory / "idf.npy")
            self.mean_length = float(np.load(directory / "length.npy")[0])
            self.scales: NDArray[np.float32] = np.load(directory / "scales.npy")
            # Mapped, so that replicas on one machine share it. The plain view saves the overhead of memmap on every look-up.
            self.components: NDArray[np.int8] = np.asarray(np.load(directory / "components.npy", mmap_mode="r"))
        except (OSError, ValueError) as error:
            raise IndexProblem(f"the LSA model in {directory} cannot be read ({error}); build it again") from error
        self.spec = EmbedderSpec(NAME, version, self.components.shape[1], THRESHOLD)

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """For many texts, `Folding` is quicker."""
        weighed = [self._weigh(text, query=query)[:2] for text in texts]
        if len(texts) > _ROW_BY_ROW:
            return unit(_matrix(weighed, len(self.features)) @ np.asarray(self.components, dtype=np.float32))
        rows = np.zeros((len(texts), self.spec.dimension), dtype=np.float32)
        for row, (positions, weights) in zip(rows, weighed, strict=True):
            if len(positions):
                row[:] = weights @ self.components[positions].astype(np.float32)
        return unit(rows)

    def among(self, texts: Iterable[str]) -> "Lsa":
        """The same model, except that it knows no n-gram that none of these texts has: its weight is 0."""
        parts = (placed_grams(encode_all(some).codes)[0] for some in batched(texts, _TOGETHER))
        known = functools.reduce(np.union1d, parts, np.zeros(0, dtype=np.uint32))
        limited = copy.copy(self)
        limited.idf = np.where(np.isin(self.features, known, assume_unique=True), self.idf, np.float32(0))
        return limited

    def coverage(self, text: str) -> float:
        """The share (0..1) of the text's distinct n-grams that the model knows; 1 for a text without any."""
        return self._weigh(text, query=False)[2]

    def _weigh(self, text: str, *, query: bool) -> tuple[NDArray[np.intp], NDArray[np.float32], float]:
        counted = _count(without_question_words(text) if query else text)
        length = 0.0 if query else self.mean_length
        positions, weights, known = weigh(*counted, self.features, self.idf, length)
        return positions, weights * self.scales[positions], known


def weigh(
    held: Hashes,
    counts: NDArray[np.intp],
    features: Hashes,
    idf: NDArray[np.float32],
    mean_length: float,
) -> tuple[NDArray[np.intp], NDArray[np.float32], float]:
    """The known features of a text, their weights (a vector of length 1), and the share of its n-grams that are known.

    `mean_length` 0 weights a question: repeats count by their logarithm and length does not matter.
    """
    if not len(held) or not len(features):
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.float32), float(not len(held))
    positions = np.searchsorted(features, held)
    positions[positions == len(features)] = 0
    known = (features[positions] == held) & (idf[positions] > 0)
    positions = positions[known]
    repeats = counts[known].astype(np.float32)
    if mean_length:
        weights = repeats / (repeats + saturation(counts.sum(keepdims=True), mean_length)) * idf[positions]
    else:
        weights = (1 + np.log(repeats)) * idf[positions]
    length = math.sqrt(weights @ weights)
    return positions, (weights / length if length else weights).astype(np.float32), float(known.mean())


def saturation(lengths: NDArray[np.intp], mean_length: float) -> NDArray[np.float32]:
    """By how much repeats of an n-gram count less in texts of so many."""
    return (_K1 * (1 - _B + _B * lengths / mean_length)).astype(np.float32)


def _count(text: str) -> Counted:
    keys = grams(encode(text))
    keys.sort()
    firsts = (
        np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else np.zeros(0, dtype=np.intp)
    )
    return keys[firsts], np.concatenate((firsts[1:], [len(keys)])) - firsts


def sample_step(total: int) -> int:
    """The step between texts, of so many, that a model is fitted on."""
    return max(1, -(-total // FIT_ON))


def fit(sample: Sequence[str], directory: Path, progress: Progress = lambda done: None) -> None:
    """Fit on these texts and write the model. In a process with a JVM, BLAS must have one thread."""
    counted = []
    for done, text in enumerate(sample):
        if done % 100 == 0:
            progress(done)
        counted.append(_count(text))
    features, idf = _choose_features([keys for keys, _ in counted])
    mean_length = sum(float(counts.sum()) for _, counts in counted) / max(len(counted), 1) or 1.0
    weighed = [weigh(keys, counts, features, idf, mean_length)[:2] for keys, counts in counted]
    dimension = min(DIMENSION, len(sample), len(features))
    components: NDArray[np.float32] = np.zeros((len(features), max(dimension, 1)), dtype=np.float32)
    if dimension:
        components = _directions(_matrix(weighed, len(features)), dimension).astype(np.float32)
    scales = np.maximum(np.abs(components).max(axis=1, initial=0.0), 1e-12) / _INT8
    progress(len(sample))
    directory.mkdir(parents=True, exist_ok=True)
    np.save(directory / "features.npy", features)
    np.save(directory / "idf.npy", idf)
    np.save(directory / "length.npy", np.array([mean_length]))
    np.save(directory / "scales.npy", scales.astype(np.float32))
    np.save(directory / "components.npy", np.round(components / scales[:, None]).astype(np.int8, order="C"))


def _matrix(weighed: Sequence[tuple[NDArray[np.intp], NDArray[np.float32]]], features: int) -> "csr_matrix":
    from scipy.sparse import csr_matrix

    indptr = np.cumsum([0, *(len(positions) for positions, _ in weighed)])
    indices = np.concatenate([np.zeros(0, dtype=np.int32), *(positions.astype(np.int32) for positions, _ in weighed)])
    data = np.concatenate([np.zeros(0, dtype=np.float32), *(weights for _, weights in weighed)])
    return csr_matrix((data, indices, indptr), shape=(len(weighed), features))


def _directions(matrix: "csr_matrix", dimension: int) -> NDArray[np.float64]:
    """The strongest right singular vectors, one per column.

    Exact for a small corpus; for a large one by subspace iteration over the texts, which are far fewer than the features
    (Halko, Martinsson and Tropp, 2011).
    """
    flipped = matrix.T.tocsr()
    if matrix.shape[0] <= _EXACT_UP_TO:
        gram = (matrix @ flipped).toarray().astype(np.float64)
        basis = np.eye(len(gram))
    else:
        matrix = flipped.T  # by columns, so that each row of what it is multiplied with is fetched once
        start = np.random.default_rng(_SEED).standard_normal((matrix.shape[0], dimension + _SPARE)).astype(np.float32)
        basis = np.linalg.qr(matrix @ (flipped @ start))[0]
        basis = np.linalg.qr(matrix @ (flipped @ basis))[0]
        gram = (basis.T @ (matrix @ (flipped @ basis))).astype(np.float64)
    values, vectors = np.linalg.eigh(gram)
    strongest = np.argsort(-values)[:dimension]
    lengths = np.sqrt(np.maximum(values[strongest], 1e-12))
    return np.asarray(flipped @ (basis @ (vectors[:, strongest] / lengths)).astype(np.float32))


def _choose_features(seen: Sequence[Hashes]) -> tuple[Hashes, NDArray[np.float32]]:
    """All n-grams, or the most frequent when there are too many, and their weights by rarity."""
    keys, counts = np.unique(np.concatenate([np.zeros(0, dtype=np.uint32), *seen]), return_counts=True)
    if len(seen) > _EXACT_UP_TO:  # with so many texts, the directions cannot retain the content of a single text
        keys, counts = keys[counts > 1], counts[counts > 1]
    if len(keys) > _MAX_FEATURES:
        strongest = np.sort(np.argpartition(-counts, _MAX_FEATURES)[:_MAX_FEATURES])
        keys, counts = keys[strongest], counts[strongest]
    idf = np.log((1 + len(seen)) / (1 + counts)) + 1
    return keys.astype(np.uint32), idf.astype(np.float32)


#: Texts whose n-grams are counted together, and texts with vectors made together.
BATCH = 1920
#: The bits of a hash that lead to its place among the features, and those of a feature's place.
_LEADING, _PLACE = 18, 17


class Folding:
    """Holds the model's components as floats while many texts are folded in; safe for any number of threads."""

    def __init__(self, model: Lsa) -> None:
        self._model = model
        self._features = _Features(model.features)
        self._components: Vectors = model.components.astype(np.float32)
        self._components *= model.scales[:, None]

    def embed(self, texts: Iterable[str]) -> Iterator[Vectors]:
        """The vectors of BATCH texts at a time, in order."""
        return (self._embed(batch) for batch in batched(texts, BATCH))

    def _embed(self, texts: Sequence[str]) -> Vectors:
        from scipy.sparse import csr_matrix  # imported here because the process with the terms never needs it

        parts = [self._weigh(some) for some in batched(texts, _TOGETHER)]
        indices, weights, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
        starts = np.concatenate(([0], np.cumsum(counts)))
        matrix = csr_matrix((weights, indices, starts), shape=(len(texts), len(self._components)))
        # By columns each component is fetched once, not once a text; a row's sum is of the same numbers in the same order.
        return unit(matrix.tocsc() @ self._components)

    def _weigh(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.intp]]:
        """The known features of each text in turn, their weights, and how many each text has."""
        encoded = encode_all(texts)
        hashes, positions = placed_grams(encoded.codes)
        owners = np.repeat(np.arange(len(texts), dtype=np.uint32), np.diff(encoded.starts))[positions]
        lengths = np.bincount(owners, minlength=len(texts))
        features, known = self._features.find(hashes)
        keys = (owners[known] << np.uint32(_PLACE)) | features[known].astype(np.uint32)
        keys.sort()
        firsts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])) if len(keys) else keys)
        repeats = np.diff(firsts, append=len(keys)).astype(np.float32)
        keys = keys[firsts]
        indices = (keys & np.uint32((1 << _PLACE) - 1)).astype(np.int32)
        owners = keys >> np.uint32(_PLACE)
        bend = saturation(lengths, self._model.mean_length)[owners]
        weights: Vectors = repeats / (repeats + bend) * self._model.idf[indices]
        return indices, weights, np.bincount(owners, minlength=len(texts))


class _Features:
    """Finds hashes among the features, which are ascending: from where those with the same leading bits begin, one by one."""

    def __init__(self, features: Hashes) -> None:
        self._shift = np.uint32(32 - _LEADING)
        leading = np.arange(1 << _LEADING, dtype=np.uint32) << self._shift
        self._starts = features.searchsorted(leading).astype(np.int32)
        self._features = np.append(features, np.uint32(0xFFFFFFFF))
        self._count = len(features)

    def find(self, hashes: Hashes) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """The place of each, and whether it is a feature at all."""
        positions = self._starts[hashes >> self._shift]
        result = self._features[positions]
        behind = np.flatnonzero(result < hashes)
        while len(behind):
            positions[behind] += 1
            behind = behind[self._features[positions[behind]] < hashes[behind]]
        return positions, (self._features[positions] == hashes) & (positions < self._count)
