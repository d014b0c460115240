"""The two search engines of an index, one for the terms and one for the vectors: what a build, a search and a check ask of each.

Another engine is a module that has these functions, and its name in the two lines at the end. A snapshot holds the files of the
engines that built it, so another engine needs the index built again.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from index.build_job import Job, Tell
from index.embedders.embedder import Vectors
from index.engines import lucene, vectors
from index.engines.vector_segments import Batch
from index.snapshot.allowed import Allowed


class TermIndex(Protocol):
    """Opened for searching, from any number of threads."""

    def search(
        self, query: str, language: str, k: int, allowed: Allowed | None = None, *, topic: str = ""
    ) -> list[tuple[int, float]]:
        """Passage numbers and scores above 0, best first, of those allowed; equal scores by number.

        A score does not depend on `allowed`. Words of `topic` count TOPIC_SHARE (coverage.py).
        """
        ...

    def close(self) -> None: ...


class TermEngine(Protocol):
    """Paths are those of a snapshot, in which the engine has a folder of its own."""

    def warm_up(self) -> None:
        """Load what `update` will need; called in a thread, while documents are read."""
        ...

    def update(self, job: Job, tell: Tell) -> dict[str, float]:
        """Bring the index up to date in `job.building`; returns the passages per language that changed, as `language.LANGUAGE`."""
        ...

    def open_index(self, snapshot: Path, languages: Mapping[str, int]) -> TermIndex:
        """`languages`: the languages there are and how many passages each has. Raises IndexProblem."""
        ...

    def problems(self, snapshot: Path, languages: Mapping[str, int]) -> list[str]:
        """The problems of an index that should have so many passages of each language. Raises IndexProblem."""
        ...

    def detach(self) -> None:
        """Called by every thread that searched, before it ends."""
        ...


class VectorIndex(Protocol):
    """Opened for searching, from any number of threads."""

    def search(self, vector: Vectors, k: int, allowed: Allowed | None = None) -> dict[int, float]:
        """Passage numbers and their cosines, best first; exact among those allowed when not all are."""
        ...

    def rows(self, numbers: Sequence[int]) -> Vectors: ...
    def cosines(self, vector: Vectors, numbers: Sequence[int]) -> list[float]: ...

    @property
    def size(self) -> int:
        """Vectors it holds, removed ones included."""
        ...


class VectorEngine(Protocol):
    """Vectors of length 1, labelled by passage number, in the folder `vectors`: `FILE` names the file that leads to all others.

    Vectors come in batches of labels and rows, labels ascending throughout, so that no more need be in memory at once.
    """

    FILE: str

    def build(self, path: Path, dimension: int, batches: Iterable[Batch], total: int, tell: Tell) -> int:
        """Returns the number of vectors."""
        ...

    def update(
        self,
        old: Path,
        new: Path,
        dimension: int,
        removed: NDArray[np.int64],
        batches: Iterable[Batch],
        total: int,
        tell: Tell,
    ) -> int:
        """Write `new`: the vectors of `old` without `removed` and with `total` more; returns how many it has, removed vectors
        included.
        """
        ...

    def open_index(self, path: Path, dimension: int, live: int) -> VectorIndex:
        """`live`: how many vectors are not removed. Raises IndexProblem."""
        ...


TERMS: TermEngine = lucene
VECTORS: VectorEngine = vectors
