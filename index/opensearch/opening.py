"""An index over OpenSearch, to search and to build: the body of `Index` (../opening.py)."""

import contextlib
from collections.abc import Iterator

from index.build.opening import Credentials
from index.build_job import Tell, no_progress
from index.documents.report import Skipped
from index.embedders.embedder import Embedder
from index.errors import IndexProblem
from index.opensearch import generations, states
from index.opensearch.client import RequestRefused, located
from index.opensearch.layout import alias, packed, unpacked
from index.opensearch.lease import MISSING, WRITER, Lease
from index.opensearch.sink import OpenSearchSink
from index.opensearch.states import OpenSearchSnapshots
from index.sink import Sink

_SKIPPED = "skipped"
#: A build waits longer than a search, in seconds: a cluster that takes in passages may be slow to answer.
_BUILD_S = 30.0


def open_index(address: str, credentials: Credentials) -> "OpenSearchIndex":
    """The index at a URL: the entry point of the plug-in. Raises IndexProblem."""
    return OpenSearchIndex(located(address, user=credentials.user, password=credentials.password, ca=credentials.ca))


class OpenSearchIndex(OpenSearchSnapshots):
    """As a string its address."""

    _lease: Lease | None = None

    @property
    def folder(self) -> None:
        return None

    def exists(self) -> bool:
        return generations.serving(self.client) is not None

    def check(self) -> None:
        if states.current(self.client) is None:
            raise states.no_index(self.client)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        self.exists()  # an address without an answer is reported as soon as for a search
        self.client.patience_s = max(self.client.patience_s, _BUILD_S)
        try:
            lease = self._lease = Lease(self.client)
            try:
                yield
            finally:
                self._lease = None
                lease.release()
        finally:
            self.client.patience_s = self.client.address.timeout_s

    def sink(
        self,
        embedder: Embedder | None = None,
        progress: Tell = no_progress,
        *,
        foreign_vectors: bool = False,
        afresh: bool = False,
    ) -> Sink:
        if self._lease is None:
            raise IndexProblem(f"{self} is written without being held; build it with 'groundwire index build'")
        return OpenSearchSink(
            self.client, self._lease, embedder, progress, foreign_vectors=foreign_vectors, afresh=afresh
        )

    def skipped(self) -> Skipped:
        try:
            reply = self.client.ask("GET", f"/{alias(self.client.address, WRITER)}/_doc/{_SKIPPED}")
        except RequestRefused as refused:
            if refused.status != MISSING:
                raise
            return Skipped()
        return unpacked(reply["_source"]["held"], Skipped)

    def keep_skipped(self, skipped: Skipped) -> None:
        self.client.ask("PUT", f"/{alias(self.client.address, WRITER)}/_doc/{_SKIPPED}", {"held": packed(skipped)})
