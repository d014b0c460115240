"""Scores from a cross-encoder on a server, which reads the question together with each passage.

`RerankServer` asks it; `Reranking` is what a search uses: without the server, the search goes on in its own order.
"""

import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import msgspec

from index.errors import IndexProblem

#: How a server is asked: `cohere` as Cohere, Jina, vLLM and llama.cpp are, `tei` as Text Embeddings Inference is.
RerankApi = Literal["cohere", "tei"]
#: How long a server that could not be reached is left alone, so that not every search waits for it.
PAUSE_S = 5.0
_MOST_BYTES = 4 * 2**20


class Reranker(Protocol):
    """Safe to call from any thread."""

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float] | None:
        """A score per text, in order; higher is better, the scale is the model's. None when there are none now. May block."""


class Away(IndexProblem):
    """The server does not answer."""


class _Ranked(msgspec.Struct, frozen=True):
    """The score of one document; servers name it in two ways."""

    index: int
    relevance_score: float | None = None
    score: float | None = None


class _Results(msgspec.Struct, frozen=True):
    results: list[_Ranked]


class RerankServer:
    """`url` ends before `/rerank`, as in `http://localhost:8080/v1`; an empty `model` leaves the choice to the server."""

    def __init__(
        self, url: str, model: str = "", *, api: RerankApi = "cohere", api_key: str = "", timeout_s: float = 2.0
    ) -> None:
        """Asks nothing yet. Raises IndexProblem when `url` is no address."""
        if not url.startswith(("http://", "https://")):
            raise IndexProblem(f"{url} is not an http address; set index.rerank_url to one")
        from index.embedders import model_server

        self._url = url
        self._key = api_key
        self._name = f"the reranker {model_server.place(url)}"
        self._model = model
        self._api = api
        self._client = model_server.openai_client(url, api_key, most_bytes=_MOST_BYTES, timeout_s=timeout_s)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Raises Away when the server does not answer, IndexProblem when it refuses or answers something else."""
        import openai

        from index.embedders import model_server

        try:
            reply = self._client.post("/rerank", body=self._body(query, texts), cast_to=object)
            ranked = msgspec.convert(reply, list[_Ranked] | _Results)
        except openai.APIStatusError as error:
            model_server.note(self._url, error.response.text, self._key)
            answered = model_server.phrase(error.status_code)
            raise IndexProblem(f"{self._name} answered {answered}; check its model, key and form") from error
        except openai.APIConnectionError as error:
            raise Away(f"no scores from {self._name} ({model_server.why(error)}); is it up?") from error
        except (openai.APIError, msgspec.ValidationError, ValueError) as error:
            model_server.note(self._url, error, self._key)
            raise IndexProblem(f"{self._name} gave no list of scores; is it a rerank server?") from error
        results = {
            one.index: one.score if one.relevance_score is None else one.relevance_score
            for one in (ranked.results if isinstance(ranked, _Results) else ranked)
        }
        scores = [s for position in range(len(texts)) if (s := results.get(position)) is not None and math.isfinite(s)]
        if len(scores) != len(texts):
            raise IndexProblem(f"{self._name} scored {len(scores)} of {len(texts)} passages; is its model a reranker?")
        return scores

    def _body(self, query: str, texts: Sequence[str]) -> dict[str, object]:
        if self._api == "tei":
            return {"query": query, "texts": list(texts), "truncate": True}
        named = {"model": self._model} if self._model else {}
        return {**named, "query": query, "documents": list(texts), "top_n": len(texts)}


class Reranking:
    """A Reranker that counts its failures, and reports the first of each series."""

    def __init__(
        self, server: RerankServer, tell: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._server = server
        self._tell = tell
        self._clock = clock
        self._lock = threading.Lock()
        self._until = 0.0
        self._problem = ""
        self.asked = 0  #: searches that were to be reranked
        self.without = 0  #: those that went on without

    def scores(self, query: str, texts: Sequence[str]) -> list[float] | None:
        """None while the server cannot be reached, and for PAUSE_S after."""
        with self._lock:
            self.asked += 1
            if self._clock() < self._until:
                self.without += 1
                return None
        try:
            result = self._server.scores(query, texts)
        except IndexProblem as problem:
            self._failed(problem)
            return None
        with self._lock:
            self._problem = ""
        return result

    def _failed(self, problem: IndexProblem) -> None:
        with self._lock:
            self.without += 1
            if isinstance(problem, Away):
                self._until = self._clock() + PAUSE_S
            first, self._problem = not self._problem, str(problem)
        if first:
            self._tell(f"searching without the reranker: {problem}")

    @property
    def state(self) -> str:
        """How many searches went without it, and the problem there is now; empty as long as all were reranked."""
        with self._lock:
            if not self.without:
                return ""
            why = f": {self._problem}" if self._problem else ""
            return f"{self.without} of {self.asked} searches without the reranker{why}"
