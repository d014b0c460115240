"""What turns texts into vectors: the Protocol, and the spec that ties a snapshot to the embedder that built it.

`lsa` (lsa.py) is fitted on the corpus and travels with the snapshot; `openai_embedder` reaches the model of a server.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from index.errors import IndexProblem

Vectors = NDArray[np.float32]


class EmbedderSpec(msgspec.Struct, frozen=True):
    """Two embedders with equal specs give comparable vectors. `threshold`: the cosine below which a hit means nothing."""

    name: str
    version: str
    dimension: int
    threshold: float = 0.5


class Embedder(Protocol):
    """Safe to call from any thread."""

    @property
    def spec(self) -> EmbedderSpec: ...

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """One row of length 1 per text, in order; `query` selects the query side of an asymmetric model. May block."""
        ...


def unit(rows: Vectors) -> Vectors:
    """Rows normalised to length 1; a row of zeros is unchanged."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)


def check_match(wanted: EmbedderSpec, given: EmbedderSpec) -> None:
    """Raises IndexProblem when vectors from `given` cannot be compared with those from `wanted`, the snapshot's."""
    if (wanted.name, wanted.version, wanted.dimension) != (given.name, given.version, given.dimension):
        raise IndexProblem(
            f"the index was built with embedder {wanted.name} {wanted.version} ({wanted.dimension} dimensions), not with"
            f" {given.name} {given.version} ({given.dimension}); use that one or build the index again"
        )
