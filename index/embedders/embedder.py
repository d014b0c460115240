"""What turns texts into vectors: the Protocol, the spec that ties a snapshot to the embedder that built it, and a server's models.

The default (pieces.py) is built in. `OpenAIEmbedder` reaches any server with OpenAI's
`/v1/embeddings`, such as a neural model on this machine or another.
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


#: The prefix Qwen3-Embedding expects before a question, not before passages. Other models get none unless configured.
INSTRUCTION = "Instruct: Given a question, retrieve passages that answer it\nQuery: "
_TIMEOUT_S = 60.0
#: A hundred passages of 4,096 numbers take some 8 MB.
_MOST_BYTES = 64 * 2**20


class OpenAIEmbedder:
    """An Embedder. `url` ends before `/embeddings`, as in `http://localhost:8080/v1`."""

    def __init__(
        self, url: str, model: str, *, api_key: str = "", instruction: str = "", threshold: float = 0.5
    ) -> None:
        """Asks the server once, to learn the dimension. Raises IndexProblem when it does not answer.

        `instruction` "" means the model's own, where it is known.
        """
        if not url.startswith(("http://", "https://")):
            raise IndexProblem(f"{url} is not an http address")
        from index.embedders import model_server

        self._url = url
        self._key = api_key
        self._name = f"the embedding server {model_server.place(url)}"
        self._model = model
        self._client = model_server.openai_client(url, api_key, most_bytes=_MOST_BYTES, timeout_s=_TIMEOUT_S)
        self._instruction = instruction or (INSTRUCTION if "qwen3-embedding" in model.lower() else "")
        dimension = self._ask(["dimension"]).shape[1]
        self.spec = EmbedderSpec("openai", model, dimension, threshold)

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Raises IndexProblem when the server does not answer, or returns vectors of another dimension than at first."""
        rows = self._ask([self._instruction + text if query else text for text in texts])
        if rows.shape != (len(texts), self.spec.dimension):
            raise IndexProblem(
                f"{self._name} gave vectors of shape {rows.shape} where {(len(texts), self.spec.dimension)} was expected;"
                " its model has changed: build the index again"
            )
        return unit(rows)

    def _ask(self, texts: Sequence[str]) -> Vectors:
        import openai

        from index.embedders import model_server

        try:
            reply = self._client.embeddings.create(model=self._model, input=list(texts), encoding_format="float")
            items = sorted(reply.data, key=lambda item: item.index)
            return np.array([item.embedding for item in items], dtype=np.float32).reshape(len(items), -1)
        except openai.APIStatusError as error:
            model_server.note(self._url, error.response.text, self._key)
            answered = model_server.phrase(error.status_code)
            raise IndexProblem(f"{self._name} answered {answered}; check its model and key") from error
        except (openai.APIError, ValueError, TypeError, AttributeError) as error:
            raise IndexProblem(f"no embeddings from {self._name} ({model_server.why(error)}); is it up?") from error
