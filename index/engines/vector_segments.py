"""A segment of the vector index: some passages' vectors, written once and shared by the snapshots that contain it.

`NAME.labels` holds the passage numbers, ascending, and `NAME.rows` the vectors, both to be mapped. A large segment has
`NAME.graph` in place of the rows, which finds the nearest: an HNSW graph of hnswlib; the rows in its file are
mapped. Its answers are candidates; their cosines are computed from the rows. Of a small segment all rows are compared.
"""

import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from weakref import WeakValueDictionary

import hnswlib
import numpy as np
from numpy.typing import NDArray

from index.embedders.embedder import Vectors
from index.snapshot.snapshot import link

Labels = NDArray[np.int64]
Places = NDArray[np.int64]
#: Passage numbers, ascending, and a row for each.
Batch = tuple[Labels, Vectors]

#: From so many vectors on, a graph is quicker than to compare them all.
GRAPH_FROM = 1024
#: Candidates that a graph looks at.
WIDTH = 120
_LINKS, _WIDTH_BUILD, _SEED = 16, 120, 7
_LABELS, _ROWS, _GRAPH = ".labels", ".rows", ".graph"
_BLOCK = 4096
#: The header of hnswlib 0.8: number of vectors, bytes per entry, offset of an entry's vector.
_HEADER = struct.Struct("<16xQQ8xQ4x4x24x8x8x")
#: The graphs that are in memory, by file.
_GRAPHS: WeakValueDictionary[tuple[int, int, int, int], hnswlib.Index] = WeakValueDictionary()
_LOADING = threading.Lock()
#: Below this share of the rows, only those are read; above it, all of them in sequence.
_GATHER_BELOW = 0.25


class VectorSegment:
    """Opened for reading; safe for any number of threads."""

    def __init__(self, folder: Path, name: str, dimension: int) -> None:
        """Raises OSError, ValueError or RuntimeError."""
        self.name = name
        self._folder = folder
        self.labels = np.asarray(np.memmap(folder / (name + _LABELS), dtype=np.int64, mode="r"))
        graph = folder / (name + _GRAPH)
        self.has_graph = graph.is_file()
        self._graph: hnswlib.Index | None = None
        self._rows = _rows_in(graph, dimension) if self.has_graph else _rows(folder / (name + _ROWS), dimension)
        if len(self._rows) != len(self.labels):
            raise ValueError(f"not as many vectors of {dimension} numbers as labels")
        self.first, self.last = int(self.labels[0]), int(self.labels[-1])

    def load(self) -> None:
        """Load the graph, if there is one; `near` needs it. Raises OSError or RuntimeError."""
        if self.has_graph:
            self._graph = _loaded(self._folder / (self.name + _GRAPH), self._rows.shape[1])

    def near(self, vector: Vectors) -> tuple[Places, NDArray[np.float32]]:
        """At most WIDTH of the nearest to one row, and how far they are, roughly; nearest first."""
        assert self._graph is not None
        wanted = min(WIDTH, len(self.labels))
        while wanted:
            try:
                positions, distances = self._graph.knn_query(vector, k=wanted)
            except RuntimeError:  # fewer than that can be reached, because many are equal
                wanted //= 2
                continue
            return positions[0].astype(np.int64), distances[0]
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)

    def places(self, numbers: Labels) -> Places:
        """The positions of the numbers that the segment has; `numbers` ascend."""
        start, end = np.searchsorted(numbers, (self.first, self.last + 1))
        wanted = numbers[start:end]
        if self.last - self.first + 1 == len(self.labels):
            return wanted - self.first
        index = np.searchsorted(self.labels, wanted)
        return np.asarray(index[self.labels[index] == wanted])

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
        """The rows of the segment, or the kept part of them."""
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
    parts = groupby(_pieces(batches, most), key=itemgetter(0))
    return [_write(folder, ((labels, rows) for _, labels, rows in some)) for _, some in parts]


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
    """Give a segment its graph; reports the rows of each block. One thread: with more, the graph would vary.

    A row has the same position in graph and segment: rows are added in their order.
    """
    graph, done = hnswlib.Index(space="ip", dim=dimension), 0
    graph.init_index(max_elements=count(name), M=_LINKS, ef_construction=_WIDTH_BUILD, random_seed=_SEED)
    with (folder / (name + _ROWS)).open("rb") as file:  # mapped, the rows would count as memory a second time
        while len(rows := np.fromfile(file, dtype=np.float32, count=_BLOCK * dimension).reshape(-1, dimension)):
            graph.add_items(rows, np.arange(done, done + len(rows)), num_threads=1)
            done += len(rows)
            tell(len(rows))
    graph.save_index(str(folder / (name + _GRAPH)))
    (folder / (name + _ROWS)).unlink()


def _loaded(path: Path, dimension: int) -> hnswlib.Index:
    """The graph in a file; the same object for every snapshot that is open here and links the file."""
    status = path.stat()
    file = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    with _LOADING:
        graph = _GRAPHS.get(file)
        if graph is None:
            graph = hnswlib.Index(space="ip", dim=dimension)
            graph.load_index(str(path))
            graph.set_ef(WIDTH)
            graph.set_num_threads(1)
            _GRAPHS[file] = graph
    return graph


def _rows(path: Path, dimension: int) -> Vectors:
    return np.asarray(np.memmap(path, dtype=np.float32, mode="r")).reshape(-1, dimension)


def _rows_in(path: Path, dimension: int) -> Vectors:
    """The vectors in a graph's file. Raises OSError or ValueError."""
    with path.open("rb") as file:
        number, size, offset = _HEADER.unpack(file.read(_HEADER.size))
    if path.stat().st_size < _HEADER.size + number * size or offset + 4 * dimension > size:
        raise ValueError(f"no vectors of {dimension} numbers")
    entries = np.memmap(path, dtype=np.uint8, mode="r", offset=_HEADER.size, shape=(number, size))
    return np.asarray(np.ndarray((number, dimension), "<f4", entries, offset, (size, 4)))
