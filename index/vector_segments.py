"""A segment of the vector index: some passages' vectors, written once and shared by the snapshots that contain it.

`NAME.labels` holds the passage numbers, ascending, and `NAME.rows` the vectors, both to be mapped. `NAME.graph` finds the
nearest of many: an HNSW graph (usearch) over the vectors rounded to eight bits, which is mapped as well. Its answers are
candidates, whose cosines are computed from the rows. A small segment has no graph: all its rows are compared.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from index.embedder import Vectors
from index.snapshot import link

if TYPE_CHECKING:
    from usearch.index import Index

Labels = NDArray[np.int64]
Places = NDArray[np.int64]
#: Passage numbers, ascending, and a row for each.
Batch = tuple[Labels, Vectors]

#: From so many vectors on, a graph is quicker than to compare them all.
GRAPH_FROM = 1024
#: Candidates that a graph looks at.
WIDTH = 120
_LINKS, _WIDTH_BUILD = 16, 120
_LABELS, _ROWS, _GRAPH = ".labels", ".rows", ".graph"
_BLOCK = 4096
_INT8 = 127
#: Below this share of the rows, only those are read; above it, all of them in sequence.
_GATHER_BELOW = 0.25


class Segment:
    """Opened for reading; safe for any number of threads."""

    def __init__(self, folder: Path, name: str, dimension: int) -> None:
        """Raises OSError, ValueError or RuntimeError."""
        self.name = name
        self._folder = folder
        self.labels = np.asarray(np.memmap(folder / (name + _LABELS), dtype=np.int64, mode="r"))
        rows = np.asarray(np.memmap(folder / (name + _ROWS), dtype=np.float32, mode="r"))
        if len(rows) != len(self.labels) * dimension:
            raise ValueError(f"no vectors of {dimension} numbers")
        self._rows = rows.reshape(-1, dimension)
        self.first, self.last = int(self.labels[0]), int(self.labels[-1])
        graph = folder / (name + _GRAPH)
        self._graph = _graph(dimension) if graph.is_file() else None
        if self._graph is not None:
            self._graph.view(str(graph))

    @property
    def has_graph(self) -> bool:
        return self._graph is not None

    def near(self, vector: Vectors) -> tuple[Places, NDArray[np.float32]]:
        """At most WIDTH of the nearest to one row, and how far they are, roughly; nearest first."""
        assert self._graph is not None
        found = self._graph.search(_rounded(vector)[0], WIDTH, threads=1)
        return found.keys.astype(np.int64), found.distances

    def places(self, numbers: Labels) -> Places:
        """Where those of these numbers stand that the segment holds; `numbers` ascend."""
        start, end = np.searchsorted(numbers, (self.first, self.last + 1))
        wanted = numbers[start:end]
        if self.last - self.first + 1 == len(self.labels):
            return wanted - self.first
        found = np.searchsorted(self.labels, wanted)
        return np.asarray(found[self.labels[found] == wanted])

    def rows(self, places: Places) -> Vectors:
        return self._rows[places]

    def cosines(self, vector: Vectors, places: Places | None) -> Vectors:
        """The cosines of the vectors at these places, None for all. To gather rows costs more than to multiply them, so that of
        many, all are.
        """
        if places is None:
            return np.asarray(self._rows @ vector[0])
        if len(places) < _GATHER_BELOW * len(self.labels):
            return np.asarray(self._rows[places] @ vector[0])
        return np.asarray((self._rows @ vector[0])[places])

    def batches(self, kept: NDArray[np.bool_] | None = None) -> Iterator[Batch]:
        """What the segment holds, or of it what is kept."""
        for start in range(0, len(self.labels), _BLOCK):
            labels, rows = self.labels[start : start + _BLOCK], self._rows[start : start + _BLOCK]
            some = slice(None) if kept is None else kept[start : start + _BLOCK]
            yield labels[some], rows[some]

    def link_into(self, folder: Path) -> None:
        for ending in (_LABELS, _ROWS, _GRAPH):
            if (path := self._folder / (self.name + ending)).is_file():
                link(path, folder / path.name)


def delete(folder: Path, name: str) -> None:
    for ending in (_LABELS, _ROWS, _GRAPH):
        (folder / (name + ending)).unlink(missing_ok=True)


def count(name: str) -> int:
    """How many vectors the segment of that name holds."""
    return int(name.rpartition("-")[2])


def write(folder: Path, batches: Iterable[Batch], most: int) -> list[str]:
    """Write segments of at most so many vectors, without graphs; returns their names."""
    pieces = groupby(_pieces(batches, most), key=itemgetter(0))
    return [_write(folder, ((labels, rows) for _, labels, rows in some)) for _, some in pieces]


def _pieces(batches: Iterable[Batch], most: int) -> Iterator[tuple[int, Labels, Vectors]]:
    """The batches cut where one of the segments, which are counted from 0, is full."""
    segment, room = 0, most
    for labels, rows in batches:
        start = 0
        while start < len(labels):
            end = min(len(labels), start + room)
            yield segment, labels[start:end], rows[start:end]
            start, room = end, room - (end - start)
            if not room:
                segment, room = segment + 1, most


def _write(folder: Path, batches: Iterable[Batch]) -> str:
    first, written = -1, 0
    paths = [folder / f"writing{ending}" for ending in (_LABELS, _ROWS)]
    with paths[0].open("wb") as numbers, paths[1].open("wb") as vectors:
        for labels, rows in batches:
            first = int(labels[0]) if first < 0 else first
            written += len(labels)
            numbers.write(np.ascontiguousarray(labels, dtype=np.int64).data)
            vectors.write(np.ascontiguousarray(rows, dtype=np.float32).data)
    name = f"{first:012d}-{written}"
    for path in paths:
        path.rename(folder / (name + path.suffix))
    return name


def add_graph(folder: Path, name: str, dimension: int, tell: Callable[[int], None]) -> None:
    """Give a segment its graph; tells how many rows each block had. One thread: with more, the graph would vary."""
    graph, done = _graph(dimension), 0
    for labels, rows in Segment(folder, name, dimension).batches():
        places = np.flatnonzero(rows.any(axis=1))  # an empty row is near to nothing
        graph.add(done + places, _rounded(rows[places]), threads=1)
        done += len(labels)
        tell(len(labels))
    graph.save(str(folder / (name + _GRAPH)))


def _graph(dimension: int) -> "Index":
    from usearch.index import Index  # a small index does without

    return Index(
        ndim=dimension,
        metric="cos",
        dtype="i8",
        connectivity=_LINKS,
        expansion_add=_WIDTH_BUILD,
        expansion_search=WIDTH,
        enable_key_lookups=False,
    )


def _rounded(rows: Vectors) -> NDArray[np.int8]:
    """Each row in eight bits, by its own largest number: an angle does not know of lengths."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    return np.rint(rows * (_INT8 / np.maximum(largest, 1e-12))).astype(np.int8)
