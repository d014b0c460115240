"""What turns texts into vectors: the Protocol, and the spec that ties a snapshot to the embedder that built it.

`lsa` (lsa.py) is fitted on the corpus and travels with the snapshot. Every other embedder is passed in by the program that
knows how to reach a model; here only `openai_embedder` reaches one.
"""

from collections.abc import Callable, Sequence
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


class CallableEmbedder:
    """Any function `embed(texts, query) -> rows` as an Embedder; normalises the rows to length 1."""

    def __init__(
        self, spec: EmbedderSpec, function: Callable[[Sequence[str], bool], Sequence[Sequence[float]]]
    ) -> None:
        self.spec = spec
        self._function = function

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Raises IndexProblem when the function's rows do not have the declared dimension."""
        rows = np.asarray(self._function(texts, query), dtype=np.float32)
        if rows.shape != (len(texts), self.spec.dimension):
            raise IndexProblem(
                f"embedder {self.spec.name} gave vectors of shape {rows.shape} where {(len(texts), self.spec.dimension)}"
                " was declared; correct its dimension"
            )
        return unit(rows)


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
