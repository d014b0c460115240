"""Vectors in segments: however they came, they are found as if they had been built at once, and old snapshots stay as they were."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from index.build_job import no_progress
from index.embedders.embedder import Vectors, unit
from index.embedders.pieces import SPEC, Pieces
from index.engines import vectors
from index.engines.vector_segments import GRAPH_FROM, Batch
from index.engines.vectors import SegmentedVectors, merges
from index.errors import IndexProblem
from index.languages import meaning
from index.snapshot.views import Allowed

WIDE = 24
NONE = np.zeros(0, dtype=np.int64)


def rows_of(count: int, seed: int = 1) -> Vectors:
    """In clusters, as passages are."""
    chance = np.random.default_rng(seed)
    centres = chance.standard_normal((30, WIDE))
    return unit(
        (centres[chance.integers(0, 30, count)] + 0.6 * chance.standard_normal((count, WIDE))).astype(np.float32)
    )


def batches(labels: NDArray[np.int64], rows: Vectors) -> Iterator[Batch]:
    return ((labels[start : start + 500], rows[start : start + 500]) for start in range(0, len(labels), 500))


class Held:
    """An index, and all vectors that it should contain."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.live: dict[int, NDArray[np.float32]] = {}
        self.next = 0
        self.step = 0

    @property
    def path(self) -> Path:
        return self.folder / str(self.step) / vectors.FILE

    def change(self, add: int = 0, remove: NDArray[np.int64] = NONE) -> SegmentedVectors:
        rows, labels = rows_of(add, self.step + 5), np.arange(self.next, self.next + add)
        self.next += add
        before, self.step = self.path, self.step + 1
        self.path.parent.mkdir()
        if self.step == 1:
            size = vectors.build(self.path, WIDE, batches(labels, rows), add, no_progress)
        else:
            size = vectors.update(before, self.path, remove, batches(labels, rows), add, no_progress)
        for number in remove.tolist():
            del self.live[number]
        self.live |= zip(labels.tolist(), rows, strict=True)
        opened = vectors.open_index(self.path, len(self.live))
        assert size == opened.size
        return opened

    def found(self, opened: SegmentedVectors, k: int = 10, allowed: list[int] | None = None) -> float:
        """The share of the true best `k` that is found; all cosines are exact, and best first."""
        numbers = np.array(sorted(self.live) if allowed is None else allowed, dtype=np.int64)
        rows = np.array([self.live[number] for number in numbers.tolist()])
        right = 0
        for vector in rows_of(20, seed=99):
            cosines = dict(zip(numbers.tolist(), (rows @ vector).tolist(), strict=True))
            hits = opened.search(vector[None], k, None if allowed is None else Allowed(1, numbers))
            assert list(hits.values()) == pytest.approx([cosines[number] for number in hits], abs=1e-6)
            assert list(hits.values()) == sorted(hits.values(), reverse=True)
            right += len({*hits} & {*sorted(cosines, key=lambda number: -cosines[number])[:k]})
        return right / (20 * min(k, len(numbers)))


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.fixture
def held(tmp_path: Path) -> Held:
    return Held(tmp_path)


def test_few_vectors_are_scanned_and_many_use_graphs(held: Held) -> None:
    assert held.found(held.change(add=GRAPH_FROM - 1)) == 1
    opened = held.change(add=3000)
    assert [segment.has_graph for segment in opened.segments] == [True]
    assert held.found(opened) > 0.95


def test_grown_index_matches_a_fresh_one(held: Held) -> None:
    for add in (3000, 40, 900, 200, 1100, 1, 2500):
        opened = held.change(add)
        assert held.found(opened) > 0.95
        assert len(opened.segments) <= 4
    assert opened.size == held.next
    allowed = list(range(500, held.next, 3))
    assert held.found(opened, allowed=allowed) == held.found(opened, 400, allowed=allowed) == 1
    assert np.array_equal(opened.rows([held.next - 1, 3, 3100]), [held.live[n] for n in (held.next - 1, 3, 3100)])
    for absent in (-1, held.next):
        with pytest.raises(KeyError):
            opened.rows([3, absent])


def test_removed_vectors_vanish_from_results_and_memory(held: Held) -> None:
    held.change(add=3000)
    opened = held.change(remove=np.arange(0, 3000, 5))
    assert held.found(opened) > 0.95
    assert opened.size == 3000  # their segment is not written again for so few
    opened = held.change(add=10, remove=np.arange(1, 3000, 5))
    assert (opened.size, len(opened.removed)) == (len(held.live), 0)
    assert held.found(opened) > 0.95
    opened = held.change(remove=np.array(sorted(held.live)))
    assert (opened.size, opened.search(rows_of(1), 5)) == (0, {})
    assert held.found(held.change(add=30)) == 1


def test_neighbours_of_removed_vectors_are_reached(held: Held) -> None:
    opened = held.change(add=3000)
    vector = rows_of(1, seed=99)
    nearest = np.array(sorted(opened.search(vector, 120)))
    opened = held.change(remove=nearest)
    best = sorted((held.live[number] @ vector[0] for number in held.live), reverse=True)[:10]
    assert list(opened.search(vector, 10).values()) == pytest.approx(best, abs=1e-6)


def test_small_addition_writes_little(held: Held) -> None:
    first = held.change(add=5000)
    before, answers = digests(held.path.parent), first.search(rows_of(1, 7), 10)
    old = held.path
    for _ in range(3):
        held.change(add=60, remove=np.array([held.next - 1]))
        new = [path for path in held.path.parent.iterdir() if path.stat().st_nlink == 1]
        assert sum(path.stat().st_size for path in new) < 200 * (4 * WIDE + 8)
    assert digests(old.parent) == before
    assert vectors.open_index(old, 5000).search(rows_of(1, 7), 10) == answers


def test_interrupted_update_harms_nothing(held: Held) -> None:
    held.change(add=2000)
    before = digests(held.path.parent)

    def breaking() -> Iterator[Batch]:
        yield np.arange(2000, 2500), rows_of(500)
        raise OSError("no space left")

    (held.folder / "broken").mkdir()
    with pytest.raises(OSError, match="no space"):
        vectors.update(held.path, held.folder / "broken" / vectors.FILE, np.arange(50), breaking(), 900, no_progress)
    assert digests(held.path.parent) == before
    assert held.found(held.change(add=900)) > 0.95


def test_equal_vectors_make_equal_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_ALONE", 1500)
    made = []
    for name in "ab":
        held = Held(tmp_path / name)
        held.folder.mkdir()
        opened = held.change(add=5000)
        assert len(opened.segments) == 4
        assert held.found(opened) > 0.95
        held.change(add=1300)
        made.append(digests(held.path.parent))
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("sizes", "into"),
    [
        ([], []),
        ([7], [7]),
        ([50_000, 200], [50_000, 200]),
        ([50_000, 900, 200], [50_000, 1100]),
        ([50_000, 5000, 1100], [50_000, 5000, 1100]),
        ([50_000, 2000, 1500, 600], [50_000, 2000, 1500, 600]),
        ([50_000, 2000, 1500, 800, 900], [50_000, 5200]),
        ([60_000, 60_000], [60_000, 60_000]),
        ([60_000, 5000, 5000, 200], [60_000, 5000, 5000, 200]),
        ([60_000, 5000, 6000], [60_000, 11_000]),
    ],
)
def test_which_segments_become_one(sizes: list[int], into: list[int]) -> None:
    assert [sum(sizes[start:end]) for start, end in merges(sizes, 65_536)] == into


def test_growth_keeps_few_segments_and_rewrites() -> None:
    sizes, written, most = [100_000], 0, 0
    for step in range(3000):
        sizes.append(3 + 7 * (step % 5))
        groups = merges(sizes, 65_536)
        written += sum(sum(sizes[start:end]) for start, end in groups if end - start > 1)
        sizes = [sum(sizes[start:end]) for start, end in groups]
        most = max(most, len(sizes))
    added = sum(sizes) - 100_000
    assert most <= 8
    assert written < 60 * added  # most of it in segments without a graph


@pytest.mark.parametrize("ending", [".labels", ".rows", ".graph", "segments.msgpack"])
def test_a_damaged_segment_is_refused(held: Held, ending: str) -> None:
    held.change(add=500 if ending == ".rows" else 2000)
    (path,) = held.path.parent.glob(f"*{ending}")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3 + 1])
    with pytest.raises(IndexProblem, match="build the index again"):
        vectors.open_index(held.path, 2000)


def test_snapshots_share_a_linked_graph(held: Held) -> None:
    older, newer = held.change(add=2000), held.change(add=10)
    assert older.segments[0]._graph is not None
    assert newer.segments[0]._graph is older.segments[0]._graph
    assert held.found(newer) > 0.9


def test_built_in_vectors_match_across_languages() -> None:
    texts = ["the furnace is opened by the foreman", "the canteen serves soup at noon", "차량은 주차장에 둡니다", "…"]
    rows = Pieces().embed(texts, query=False)
    assert rows.shape == (4, SPEC.dimension)
    assert np.linalg.norm(rows[:3], axis=1) == pytest.approx(1, abs=1e-3)
    assert not rows[3].any()
    asked = Pieces().embed(["who opens the furnaces", "¿cuándo se sirve la sopa?", "where to park the car"], query=True)
    assert list((asked @ rows.T).argmax(axis=1)) == [0, 1, 2]


def test_other_vectors_have_another_version() -> None:
    files = (Path(meaning.__file__).with_name(name) for name in ("meaning.npy", "meaning.npz"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]
    assert (SPEC.version, digest) == ("1", "e396c83bb252"), (
        "these vectors need a higher version, and indexes a new build"
    )
