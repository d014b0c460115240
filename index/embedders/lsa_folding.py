"""Fold many texts into an LSA model at once: the same vectors as one by one, at a third of the cost.

The n-grams of a few dozen texts are hashed, looked up and counted together, as long as their arrays stay in the processor's cache.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import batched

import numpy as np
from numpy.typing import NDArray

from index.embedders.embedder import Vectors, unit
from index.embedders.lsa import Lsa, saturation
from index.text.ngrams import Hashes, encode_all, placed_grams

#: Texts whose n-grams are counted together, and texts with vectors made together.
_TOGETHER, BATCH = 48, 1920
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
