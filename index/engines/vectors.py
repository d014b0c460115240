"""Passage vectors in segments (vector_segments.py), labelled by passage number, nearest by cosine.

`segments.msgpack` names the segments of a snapshot, in the order of their passages, and the passages that were removed since their
segment was written. An update writes new vectors as a segment, links the rest, and merges the newest segments as they grow, so
that an index has few of them and few are written again.
"""

import functools
import os
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from index.build_job import Tell
from index.embedders.embedder import Vectors
from index.engines import vector_segments
from index.engines.vector_segments import GRAPH_FROM, WIDTH, Batch, Labels, Places, VectorSegment
from index.errors import IndexProblem
from index.snapshot.views import REMEMBERED, Allowed

FILE = "segments.msgpack"
#: One graph of so many is searched soonest; of more, so many at most are built, each on a core of its own.
_ALONE, _MOST = 131_072, 4
#: Merging goes up to so many, or to this part of the index, so that no update takes long.
_MERGED, _PART = 65_536, 16
#: Removed vectors still cost time and space; a segment with a larger share of them is written again.
_REWRITE_ABOVE = 0.3
#: A graph that is made holds its vectors in memory; as many are made at once as fit into this.
_AT_ONCE_BYTES = 1_000_000_000
#: Twice `k` plus so many candidates get their cosine; a graph knows distances roughly.
_SPARE = 30


class _List(msgspec.Struct, frozen=True):
    """`removed` are 64-bit numbers, ascending."""

    dimension: int
    segments: list[str]
    removed: bytes = b""


def build(path: Path, dimension: int, batches: Iterable[Batch], total: int, tell: Tell) -> int:
    """Write an index of `total` vectors with ascending labels; returns their number."""
    segments = max(1, min(_MOST, -(-total // _ALONE)))
    names = vector_segments.write(path.parent, batches, max(1, -(-total // segments)))
    _add_graphs(path.parent, names, dimension, tell)
    path.write_bytes(msgspec.msgpack.encode(_List(dimension, names)))
    return sum(map(vector_segments.count, names))


def update(old: Path, new: Path, removed: Labels, batches: Iterable[Batch], total: int, tell: Tell) -> int:
    """Write `new`: the vectors of `old` without `removed`, and `total` more, with higher labels; returns how many it has,
    removed ones included. Raises IndexProblem.
    """
    folder = new.parent
    before = SegmentedVectors(old, 0)
    dimension = before.dimension
    gone = np.union1d(before.removed, removed)
    added = vector_segments.write(folder, batches, _full(before.size + total))
    segments = [*before.segments, *(VectorSegment(folder, name, dimension) for name in added)]
    segments = [segment for segment in segments if _kept(segment, gone).any()]
    kept = [_kept(segment, gone) for segment in segments]
    live = [int(np.count_nonzero(each)) for each in kept]
    names, fresh, still = list[str](), list[str](), [np.zeros(0, dtype=np.int64)]
    for start, end in merges(live, _full(sum(live))):
        (first, *others), most = segments[start:end], sum(live[start:end])
        if others or most < (1 - _REWRITE_ABOVE) * len(first.labels):
            some = (part for position in range(start, end) for part in segments[position].batches(kept[position]))
            written = vector_segments.write(folder, some, most)
            names, fresh = [*names, *written], [*fresh, *written]
            continue
        if first.name in added:
            fresh.append(first.name)
        else:
            first.link_into(folder)
            still.append(first.labels[~kept[start]])
        names.append(first.name)
    for name in {*added} - {*names}:
        vector_segments.delete(folder, name)
    _add_graphs(folder, fresh, dimension, tell)
    new.write_bytes(msgspec.msgpack.encode(_List(dimension, names, np.concatenate(still).tobytes())))
    return sum(map(vector_segments.count, names))


def merges(sizes: Sequence[int], full: int) -> list[tuple[int, int]]:
    """The segments from start to end that become one, for segments of so many live vectors, the oldest first.

    The newest takes in those before it as long as they are no larger than what it has become: then each vector is written again
    only when its segment doubles, and sizes fall by halves. A segment without a graph is always taken in.
    """
    start, size = len(sizes), 0
    while start and (not size or (sizes[start - 1] <= max(size, GRAPH_FROM) and size + sizes[start - 1] <= full)):
        start -= 1
        size += sizes[start]
    return [*((position, position + 1) for position in range(start)), *([(start, len(sizes))] if sizes else [])]


def _full(total: int) -> int:
    return max(_MERGED, total // _PART)


def _kept(segment: VectorSegment, gone: Labels) -> NDArray[np.bool_]:
    kept = np.ones(len(segment.labels), dtype=bool)
    kept[segment.places(gone)] = False
    return kept


def _add_graphs(folder: Path, names: Iterable[str], dimension: int, tell: Tell) -> None:
    """To those that are large enough, each on a core of its own: the same segments for any number of cores."""
    large = [name for name in names if vector_segments.count(name) >= GRAPH_FROM]
    total, done, lock = sum(map(vector_segments.count, large)), 0, threading.Lock()

    def linked(rows: int) -> None:
        nonlocal done
        with lock:
            done += rows
            tell("graph", done, total)

    largest = max(map(vector_segments.count, large), default=1) * 4 * dimension
    with ThreadPoolExecutor(max(1, min(os.cpu_count() or 1, _AT_ONCE_BYTES // largest))) as pool:
        for one in [pool.submit(vector_segments.add_graph, folder, name, dimension, linked) for name in large]:
            one.result()


class SegmentedVectors:
    """Safe for any number of threads."""

    def __init__(self, path: Path, live: int) -> None:
        """`live`: the number of vectors that are not removed. Its graphs are not loaded yet. Raises IndexProblem."""
        try:
            listing = msgspec.msgpack.decode(path.read_bytes(), type=_List)
            self.dimension = listing.dimension
            self.segments = [VectorSegment(path.parent, name, self.dimension) for name in listing.segments]
            self.removed: Labels = np.frombuffer(listing.removed, dtype=np.int64)
        except (RuntimeError, OSError, ValueError, msgspec.DecodeError) as error:
            raise IndexProblem(f"vectors {path} cannot be read ({error}); build the index again") from error
        self._live = live
        self._firsts = np.array([segment.first for segment in self.segments], dtype=np.int64)
        kept = [_kept(segment, self.removed) for segment in self.segments]
        self._kept = [None if each.all() else each for each in kept]
        self._places = functools.lru_cache(REMEMBERED)(
            lambda allowed: [segment.places(allowed.numbers) for segment in self.segments]
        )

    def search(self, vector: Vectors, k: int, allowed: Allowed | None = None) -> dict[int, float]:
        """Passage numbers and their cosines, best first, equal ones by number.

        Of those allowed, all are compared: a graph would lose near ones behind others, the more the fewer are allowed.
        """
        k = k if allowed is not None else min(k, self._live, WIDTH)
        if k < 1 or not vector.any() or not self.segments:
            return {}
        compared = self._places(allowed) if allowed is not None else self._near(vector, k)
        labels, cosines = zip(
            *(
                (segment.labels if positions is None else segment.labels[positions], segment.cosines(vector, positions))
                for segment, positions in zip(self.segments, compared, strict=True)
            ),
            strict=True,
        )
        return _best(np.concatenate(labels), np.concatenate(cosines), k)

    def _near(self, vector: Vectors, k: int) -> list[Places | None]:
        """The places in every segment that may be among the `k` nearest, ascending; None for all."""
        near: list[tuple[Places, NDArray[np.float32]] | None] = []
        for segment, kept in zip(self.segments, self._kept, strict=True):
            result = segment.near(vector) if segment.has_graph else None
            if result is not None and kept is not None:
                positions, distances = result
                result = (positions[kept[positions]], distances[kept[positions]])
                if len(result[0]) < min(k, int(np.count_nonzero(kept))):
                    result = None  # the removed rows come before the others
            near.append(result)
        distances = np.sort(np.concatenate([np.zeros(0, dtype=np.float32), *(result[1] for result in near if result)]))
        farthest = distances[min(2 * k + _SPARE, len(distances)) - 1] if len(distances) else 0.0
        return [
            (None if kept is None else np.flatnonzero(kept))
            if result is None
            else np.sort(result[0][result[1] <= farthest])
            for result, kept in zip(near, self._kept, strict=True)
        ]

    def rows(self, numbers: Sequence[int]) -> Vectors:
        """Raises KeyError for a number that is not in the index."""
        wanted = np.asarray(numbers, dtype=np.int64)
        rows = np.zeros((len(wanted), self.dimension), dtype=np.float32)
        holders = np.searchsorted(self._firsts, wanted, "right") - 1
        for holder in set(holders.tolist()):
            mine = np.flatnonzero(holders == holder)
            ascending = mine[np.argsort(wanted[mine], kind="stable")]
            positions = self.segments[holder].places(wanted[ascending]) if holder >= 0 else ()
            if len(positions) < len(mine):
                raise KeyError(numbers)
            rows[ascending] = self.segments[holder].rows(np.asarray(positions))
        return rows

    def cosines(self, vector: Vectors, numbers: Sequence[int]) -> list[float]:
        """The cosine of each of these passages, in that order."""
        return (self.rows(numbers) @ vector[0]).tolist() if numbers else []

    @property
    def size(self) -> int:
        """Vectors in the index, removed ones included."""
        return sum(len(segment.labels) for segment in self.segments)


def _best(labels: Labels, cosines: Vectors, k: int) -> dict[int, float]:
    """The highest `k` of scores with ascending labels."""
    least = np.partition(cosines, -k)[-k] if k < len(cosines) else -np.inf
    near = np.flatnonzero(cosines >= least)
    best = near[np.argsort(-cosines[near], kind="stable")][:k]
    return dict(zip(labels[best].tolist(), cosines[best].tolist(), strict=True))


def open_index(path: Path, live: int) -> SegmentedVectors:
    """Raises IndexProblem."""
    opened = SegmentedVectors(path, live)
    try:
        for segment in opened.segments:
            segment.load()
    except (RuntimeError, OSError) as error:
        raise IndexProblem(f"vectors {path} cannot be read ({error}); build the index again") from error
    return opened
