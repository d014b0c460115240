"""Vectors from any server that speaks OpenAI's `/v1/embeddings`, so from a neural model on this machine or another."""

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Sequence

import msgspec
import numpy as np

from index.embedder import EmbedderSpec, Vectors, unit
from index.errors import IndexProblem

#: What Qwen3-Embedding expects before a question; passages go as they are. Other models get nothing unless they are told to.
INSTRUCTION = "Instruct: Given a question, retrieve passages that answer it\nQuery: "
_TIMEOUT_S = 60.0


class _Item(msgspec.Struct):
    index: int
    embedding: list[float]


class _Reply(msgspec.Struct):
    data: list[_Item]


class OpenAIEmbedder:
    """An Embedder. `url` ends before `/embeddings`, as in `http://localhost:8080/v1`."""

    def __init__(
        self, url: str, model: str, *, api_key: str = "", instruction: str = "", threshold: float = 0.5
    ) -> None:
        """Asks the server once, to learn the dimension. Raises IndexProblem when it does not answer.

        `instruction` "" is the model's own where it is known.
        """
        self._url = f"{url.rstrip('/')}/embeddings"
        self._model = model
        self._key = api_key
        self._instruction = instruction or (INSTRUCTION if "qwen3-embedding" in model.lower() else "")
        dimension = self._ask(["dimension"]).shape[1]
        self.spec = EmbedderSpec("openai", model, dimension, threshold)

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Raises IndexProblem when the server does not answer, or with vectors of another dimension than at first."""
        rows = self._ask([self._instruction + text if query else text for text in texts])
        if rows.shape != (len(texts), self.spec.dimension):
            raise IndexProblem(
                f"{self._url} gave vectors of shape {rows.shape} where {(len(texts), self.spec.dimension)} was expected;"
                " its model has changed: build the index again"
            )
        return unit(rows)

    def _ask(self, texts: Sequence[str]) -> Vectors:
        if not self._url.startswith(("http://", "https://")):
            raise IndexProblem(f"{self._url} is not an http address")
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        body = json.dumps({"model": self._model, "input": list(texts)}).encode()
        request = urllib.request.Request(self._url, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as reply:
                items = msgspec.json.decode(reply.read(), type=_Reply).data
        except urllib.error.HTTPError as error:
            error.close()
            raise IndexProblem(f"{self._url} answered {error.code} {error.reason}; check its model and key") from error
        except (OSError, http.client.HTTPException, msgspec.DecodeError) as error:
            raise IndexProblem(f"no embeddings from {self._url} ({error}); is the server up?") from error
        items.sort(key=lambda item: item.index)
        return np.array([item.embedding for item in items], dtype=np.float32).reshape(len(items), -1)
