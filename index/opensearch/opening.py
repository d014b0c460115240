"""An index over OpenSearch, to search and to build: the body of `Index` (../build/opening.py)."""

import contextlib
from collections.abc import Iterator

from index.build.opening import Credentials
from index.check import Stats, misfit, stats_of
from index.documents.report import Skipped
from index.errors import IndexProblem
from index.model import Entry
from index.opensearch import generations, states
from index.opensearch.backend import OpenSearchBackend
from index.opensearch.client import located
from index.opensearch.layout import alias, languages_of, packed, unpacked
from index.opensearch.lease import WRITER, Lease
from index.opensearch.sink import OpenSearchSink
from index.opensearch.states import OpenSearchSnapshots
from index.sink import USUAL, Sink, SinkOptions

_SKIPPED = "skipped"
#: A build waits longer than a search, in seconds: a cluster that takes in passages may be slow to answer.
_BUILD_S = 30.0


def open_index(address: str, credentials: Credentials) -> "OpenSearchIndex":
    """The index at a URL: the entry point of the plug-in. Raises IndexProblem."""
    return OpenSearchIndex(located(address, user=credentials.user, password=credentials.password, ca=credentials.ca))


class OpenSearchIndex(OpenSearchSnapshots):
    """As a string its address."""

    folder = None
    _lease: Lease | None = None

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

    def sink(self, options: SinkOptions = USUAL) -> Sink:
        if self._lease is None:
            raise IndexProblem(f"{self} is written without being held; build it with 'groundwire index build'")
        return OpenSearchSink(self.client, self._lease, options)

    def skipped(self) -> Skipped:
        reply = self.client.found(f"/{alias(self.client.address, WRITER)}/_doc/{_SKIPPED}")
        return Skipped() if reply is None else unpacked(reply["_source"]["held"], Skipped)

    def keep_skipped(self, skipped: Skipped) -> None:
        self.client.ask("PUT", f"/{alias(self.client.address, WRITER)}/_doc/{_SKIPPED}", {"held": packed(skipped)})

    def entries(self, name: str | None = None) -> list[Entry]:
        return list(self._opened(name).entries(None))

    def stats(self, name: str | None = None) -> Stats:
        """Sizes are those of all copies of a generation."""
        backend, sizes = self._opened(name), self.sizes()
        return stats_of(
            backend.manifest,
            backend.entries(None),
            snapshots=self.names(),
            size_bytes=sizes.get(backend.state.generation, 0),
            all_snapshots_bytes=sum(sizes.values()),
        )

    def verify(self, name: str | None = None) -> list[str]:
        """Reads every passage."""
        backend = self._opened(name)
        problems, counted = _problems(backend), languages_of(backend.state.classes)
        if not problems and counted != (told := backend.manifest.languages):
            problems = [f"the classes of documents count {counted} where the manifest says {told}"]
        return problems

    def _opened(self, name: str | None) -> OpenSearchBackend:
        """To look at what it holds, without what makes its vectors."""
        return OpenSearchBackend(self.client, states.read_state(self.client, name), None)


def _problems(backend: OpenSearchBackend) -> list[str]:
    problems: list[str] = []
    documents = passages = 0
    for entry in backend.entries(None):
        documents += 1
        try:
            result = backend.passages(entry)
        except IndexProblem as problem:
            problems.append(str(problem))
            continue
        passages += len(result)
        if [one.number for one in result] != list(range(entry.first, entry.first + entry.count)):
            problems.append(f"{entry.source_id} has {len(result)} passages, not the {entry.count} that it was cut into")
        problems += [line for one in result for line in misfit(one, entry)]
    manifest = backend.state.manifest
    if (documents, passages) != (manifest.documents, manifest.passages):
        problems.append(
            f"{documents} documents and {passages} passages where the manifest says"
            f" {manifest.documents} and {manifest.passages}"
        )
    return problems
