"""Passage vectors in hnswlib, labelled by passage number, nearest by cosine."""

import functools
import struct
from collections.abc import Sequence
from pathlib import Path

import hnswlib
import numpy as np
from numpy.typing import NDArray

from index.allowed import REMEMBERED, Allowed
from index.embedder import Vectors
from index.errors import IndexProblem

FILE = "graph.hnsw"
_LINKS, _EF_BUILD = 16, 120
_EF_SEARCH = 120
#: Removed vectors still cost time and space; above this share of them the graph is rebuilt.
_REBUILD_ABOVE = 0.3
#: Below this share of the vectors, only those are read; above it, all of them in sequence.
_GATHER_BELOW = 0.25


def build(path: Path, labels: NDArray[np.int64], vectors: Vectors) -> None:
    """Build a new graph. One thread: with more, the graph would vary, and with it the order of equal passages."""
    graph = hnswlib.Index(space="ip", dim=vectors.shape[1])
    graph.init_index(max_elements=max(len(labels), 1), M=_LINKS, ef_construction=_EF_BUILD, random_seed=7)
    if len(labels):
        graph.add_items(vectors, labels, num_threads=1)
    graph.save_index(str(path))


def update(
    old: Path, new: Path, dimension: int, removed: Sequence[int], labels: NDArray[np.int64], vectors: Vectors
) -> None:
    """Write `new`: the graph at `old`, without `removed` and with `labels` added."""
    graph = hnswlib.Index(space="ip", dim=dimension)
    graph.load_index(str(old))
    known = graph.get_current_count()
    graph.resize_index(known + max(len(labels), 1))
    for number in removed:
        graph.mark_deleted(number)
    if len(labels):
        graph.add_items(vectors, labels, num_threads=1)
    graph.save_index(str(new))


def needs_rebuild(graph_size: int, live: int) -> bool:
    return graph_size - live > _REBUILD_ABOVE * graph_size


#: The header of hnswlib 0.8: number of vectors, bytes per entry, offset of an entry's label, offset of its vector.
_HEADER = struct.Struct("<16xQQQQ4x4x24x8x8x")


class _Rows:
    """The vectors in a graph's file, mapped into memory: reading them through hnswlib costs 25 µs a vector."""

    def __init__(self, path: Path, dimension: int) -> None:
        """Raises OSError or ValueError."""
        with path.open("rb") as file:
            count, size, label, vector = _HEADER.unpack(file.read(_HEADER.size))
        if path.stat().st_size < _HEADER.size + count * size or vector + 4 * dimension > size:
            raise ValueError(f"no vectors of {dimension} numbers")
        if not count:
            self._labels = self._places = np.zeros(0, dtype=np.int64)
            self._rows = np.zeros((0, dimension), dtype=np.float32)
            return
        entries = np.memmap(path, dtype=np.uint8, mode="r", offset=_HEADER.size, shape=(count, size))
        labels = np.ndarray(count, "<u8", entries, label, (size,)).astype(np.int64)
        self._places = np.argsort(labels)
        self._labels = labels[self._places]
        self._rows = np.ndarray((count, dimension), "<f4", entries, vector, (size, 4))

    def places(self, numbers: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Where each of these stands in the file. Raises KeyError for a number that is not in the graph."""
        wanted = np.asarray(numbers, dtype=np.int64)
        found = np.searchsorted(self._labels, wanted)
        if (found == len(self._labels)).any() or (self._labels[found] != wanted).any():
            raise KeyError(numbers)
        return self._places[found]

    def at(self, numbers: Sequence[int]) -> Vectors:
        """Raises KeyError for a number that is not in the graph."""
        return np.asarray(self._rows[self.places(numbers)], dtype=np.float32)

    def cosines(self, vector: Vectors, places: NDArray[np.int64]) -> Vectors:
        """The cosines of the vectors at these places. To gather rows costs more than to multiply them, so that of many, all are."""
        if len(places) < _GATHER_BELOW * len(self._labels):
            return np.asarray(self._rows[places] @ vector[0])
        return np.asarray((self._rows @ vector[0])[places])


class VectorIndex:
    """Safe for any number of threads."""

    def __init__(self, path: Path, dimension: int, live: int) -> None:
        """`live`: the number of vectors that are not removed. Raises IndexProblem."""
        self._graph = hnswlib.Index(space="ip", dim=dimension)
        try:
            self._graph.load_index(str(path))
            self._rows = _Rows(path, dimension)
        except (RuntimeError, OSError, ValueError, struct.error) as error:
            raise IndexProblem(f"vectors {path} cannot be read ({error}); build the index again") from error
        self._live = live
        self._graph.set_ef(_EF_SEARCH)
        self._graph.set_num_threads(1)
        self._places = functools.lru_cache(REMEMBERED)(lambda allowed: self._rows.places(allowed.numbers))

    def search(self, vector: Vectors, k: int, allowed: Allowed | None = None) -> dict[int, float]:
        """Passage numbers and their cosines, best first.

        Of those allowed, all are compared: the graph would lose near ones behind others, the more the fewer are allowed.
        """
        if allowed is not None:
            return self._among(allowed, vector, k) if k > 0 and vector.any() else {}
        k = min(k, self._live, _EF_SEARCH)
        if k < 1 or not vector.any():
            return {}
        try:
            labels, distances = self._graph.knn_query(vector, k=k)
        except RuntimeError:  # fewer than k can be reached, because many are removed or equal
            return self.search(vector, k // 2)
        return dict(zip(labels[0].tolist(), (1 - distances[0]).tolist(), strict=True))

    def _among(self, allowed: Allowed, vector: Vectors, k: int) -> dict[int, float]:
        cosines = self._rows.cosines(vector, self._places(allowed))
        least = np.partition(cosines, -k)[-k] if k < len(cosines) else -np.inf
        near = np.flatnonzero(cosines >= least)
        best = near[np.argsort(-cosines[near], kind="stable")][:k]
        return dict(zip(allowed.numbers[best].tolist(), cosines[best].tolist(), strict=True))

    def rows(self, numbers: Sequence[int]) -> Vectors:
        """Raises KeyError for a number that is not in the graph."""
        return self._rows.at(numbers)

    def cosines(self, vector: Vectors, numbers: Sequence[int]) -> list[float]:
        """The cosine of each of these passages, in that order."""
        return (self.rows(numbers) @ vector[0]).tolist() if numbers else []

    @property
    def size(self) -> int:
        """Vectors in the graph, removed ones included."""
        return int(self._graph.get_current_count())


def open_index(path: Path, dimension: int, live: int) -> VectorIndex:
    """Raises IndexProblem."""
    return VectorIndex(path, dimension, live)
