"""Where a search finds its candidates: the seam between the index and the ranking.

A backend holds one snapshot open. It gives the candidates of both sides, terms and vectors, with all that the ranking needs of
each; fusion, duplicates and hits (ranking.py) are pure over them. The folder of an index is one body, OpenSearch another.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from index.embedders.embedder import Embedder, Vectors
from index.filters import Filter
from index.model import Entry, Groups, Metadata, Passage
from index.snapshot.snapshot import Manifest
from index.snapshot.views import Visible
from index.text.coverage import GramSet


class Rank(NamedTuple):
    """A passage's rank, from 1."""

    rank: int
    score: float


class Candidate(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A passage that either side found, with what the ranking needs of it. Its number is its own and decides between equal scores.

    `bm25` and `vector` are its places in the two rankings, if it has one. `cosine` is exact, whichever side found it; 0 where no
    vector was asked for. `sketch` shows near-duplicates; `begins`: the passage is its document's first; `lead` is
    of its document.
    """

    passage: Passage
    metadata: Metadata
    bm25: Rank | None
    vector: Rank | None
    cosine: float
    grams: GramSet
    phrases: GramSet
    lead: GramSet
    sketch: NDArray[np.uint32]
    begins: bool


class CandidateQuery(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What is looked for. `terms`: the question and its variants, each with its language; a passage keeps its best score.
    `besides`: a language whose passages are left out, and with them those in no known language.

    `vector` is one row of length 1, None to leave the vectors out. Words of `topic` count TOPIC_SHARE among the terms.
    `bm25_k` and `vector_k` are how many of each become candidates; a vector hit with a cosine below `threshold` does not.
    """

    terms: Sequence[tuple[str, str]] = ()
    topic: str = ""
    vector: Vectors | None = None
    bm25_k: int = 0
    vector_k: int = 0
    threshold: float = -1.0
    filter: Filter | None = None
    groups: Groups = None
    besides: str = ""

    @property
    def bm25_depth(self) -> int:
        """How many are ranked by terms: more than become candidates, so that a candidate of the vectors mostly has its score."""
        return self.bm25_k if self.vector is None else 2 * self.bm25_k


class Candidates(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The candidates, in any order. `best_cosine` is the highest of the vector ranking, candidate or not; 0 for none."""

    candidates: Sequence[Candidate]
    best_cosine: float


def chosen[K](
    asked: CandidateQuery,
    by_bm25: Sequence[tuple[K, float]],
    by_vector: Sequence[tuple[K, float]],
    sketch_of: Callable[[K], bytes],
) -> list[K]:
    """What becomes a candidate, each once, of the best `bm25_depth` and `vector_k`; both best first, equal ones by number.

    Copies of a passage, which have the same sketch, count once in `bm25_k`.
    """
    result: dict[K, None] = {}
    sketches: set[bytes] = set()
    for key, _ in by_bm25:
        sketches.add(sketch_of(key))
        if len(sketches) > asked.bm25_k:
            break
        result[key] = None
    return list(result | dict.fromkeys(key for key, cosine in by_vector if cosine >= asked.threshold))


def places[K](ranking: Sequence[tuple[K, float]]) -> dict[K, Rank]:
    return {key: Rank(rank, score) for rank, (key, score) in enumerate(ranking, 1)}


class Backend(Protocol):
    """One snapshot, open for any number of threads. Every method raises IndexProblem where what it asks cannot be reached:
    an answer is whole or it is none.
    """

    @property
    def manifest(self) -> Manifest: ...

    @property
    def embedder(self) -> Embedder: ...

    def seen(self, groups: Groups) -> Visible: ...

    def candidates(self, asked: CandidateQuery) -> Candidates:
        """Of the passages that the filter and the groups allow."""

    def passing(self, wanted: Filter, groups: Groups) -> int:
        """How many documents that callers in `groups` see pass the filter."""

    def entries(self, groups: Groups) -> Iterable[Entry]:
        """Every document that callers in `groups` see."""

    def source(self, source_id: str, groups: Groups) -> Entry | None:
        """A document by its id, or by an id from before its file was moved; None where callers in `groups` see none."""

    def sources(self, after: str, most: int, groups: Groups) -> list[Entry]:
        """The first documents with an id behind `after`, by id."""

    def passages(self, entry: Entry, start: int = 0, count: int | None = None) -> list[Passage]:
        """The passages of a document in order, from its `start`th, at most `count`."""

    def close(self) -> None: ...


class Snapshots(Protocol):
    """The snapshots of an index; as a string its address. Every method raises IndexProblem."""

    #: How often `newest` is worth a call, in seconds.
    look_s: float
    #: The longest that an earlier snapshot can stay open, in seconds.
    longest_open_s: float

    def newest(self) -> str:
        """The name of the current snapshot."""

    def names(self) -> list[str]:
        """Those that can be opened, oldest first."""

    def damage(self, name: str) -> list[str] | None:
        """Differences of a snapshot's files from those that were written; None where there are no files to compare."""
        return None

    def files(self, name: str) -> tuple[tuple[str, int, int], ...]:
        """Path, size and time of change of the snapshot's files: damage is looked for again when they change."""
        return ()

    def withheld(self, name: str, access: str) -> str:
        """Why callers in groups get no results from this snapshot with that digest of access; empty when they do."""
        return ""

    def open(self, name: str | None, embedder: Embedder | None) -> Backend:
        """By default the newest. `embedder`: None for the snapshot's own."""
