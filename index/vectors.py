"""Passage vectors in hnswlib, labelled by passage number, nearest by cosine."""

from collections.abc import Sequence
from pathlib import Path

import hnswlib
import numpy as np
from numpy.typing import NDArray

from index.embedder import Vectors
from index.errors import IndexProblem

_LINKS, _EF_BUILD = 16, 120
_EF_SEARCH = 120
#: Removed vectors still cost time and room; past this share of them the graph is built anew.
_REBUILD_ABOVE = 0.3


def build(path: Path, labels: NDArray[np.int64], vectors: Vectors) -> None:
    """A new graph. One thread: with more, the graph and so the ties between equal passages would vary."""
    graph = hnswlib.Index(space="ip", dim=vectors.shape[1])
    graph.init_index(max_elements=max(len(labels), 1), M=_LINKS, ef_construction=_EF_BUILD, random_seed=7)
    if len(labels):
        graph.add_items(vectors, labels, num_threads=1)
    graph.save_index(str(path))


def update(
    old: Path, new: Path, dimension: int, removed: Sequence[int], labels: NDArray[np.int64], vectors: Vectors
) -> None:
    """Write `new`: the graph at `old` without `removed` and with `labels`."""
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


class VectorIndex:
    """Safe for any number of threads."""

    def __init__(self, path: Path, dimension: int, live: int) -> None:
        """`live`: how many vectors are not removed. Raises IndexProblem."""
        self._graph = hnswlib.Index(space="ip", dim=dimension)
        try:
            self._graph.load_index(str(path))
        except RuntimeError as error:
            raise IndexProblem(f"vectors {path} cannot be read ({error}); build the index again") from error
        self._live = live
        self._graph.set_ef(_EF_SEARCH)
        self._graph.set_num_threads(1)

    def search(self, vector: Vectors, k: int) -> dict[int, float]:
        """Passage numbers and their cosines, best first."""
        k = min(k, self._live, _EF_SEARCH)
        if k < 1 or not vector.any():
            return {}
        try:
            labels, distances = self._graph.knn_query(vector, k=k)
        except RuntimeError:  # fewer than k can be reached, past many removed ones or equal ones
            return self.search(vector, k // 2)
        return dict(zip(labels[0].tolist(), (1 - distances[0]).tolist(), strict=True))

    def rows(self, numbers: Sequence[int]) -> Vectors:
        return np.asarray(self._graph.get_items(numbers), dtype=np.float32)

    def cosines(self, vector: Vectors, numbers: Sequence[int]) -> list[float]:
        """The cosine of each of these passages, in that order."""
        return [float(cosine) for cosine in self.rows(numbers) @ vector[0]] if numbers else []

    @property
    def size(self) -> int:
        """Vectors in the graph, removed ones included."""
        return int(self._graph.get_current_count())
