"""Where a build writes over OpenSearch: the body of `Sink` (../sink.py).

Documents wait on this machine's disk until `publish`. A first build and a change of very many documents are new generations, an
update is written into the one in service; layout.py explains why neither is visible before it is whole.
"""

import contextlib
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from index.errors import IndexProblem
from index.java import jvm
from index.model import Entry, Passage
from index.opensearch import changes, generations, queries, states
from index.opensearch.bulk import PATIENCE_S
from index.opensearch.changes import Spool
from index.opensearch.client import Client
from index.opensearch.layout import STATE, Names, State, languages_of, unpacked
from index.opensearch.lease import Lease
from index.opensearch.writing import Writing
from index.sink import SinkOptions, check_embedder, described
from index.snapshot.prepared import Hashes
from index.snapshot.roots import Root
from index.snapshot.snapshot import Manifest

type Json = dict[str, Any]

#: So long a snapshot stays whole after the next one took its place.
GRACE_S = 60.0
#: A query names no more editions that are gone.
MOST_GONE = 20_000
_PAGE = 5000


class OpenSearchSink:
    """`close` it in any case."""

    def __init__(self, client: Client, lease: Lease, options: SinkOptions) -> None:
        """Raises IndexProblem."""
        self._client = client
        self._embedder, self._progress = options.embedder, options.progress
        self._began = time.monotonic()
        self._warming: threading.Thread | None = None
        self._closed = False
        self._lease = lease
        self._spool = Spool()
        self._next = 0
        try:
            self._before = states.current(client)
            self._parent = None if self._before is None or options.afresh else self._before.state
            if self._parent is not None and not options.foreign_vectors:
                check_embedder(self._parent.manifest, options.embedder)
            self._known = list(self._read_catalogue()) if self._parent is not None else []
            self._purged = self._tidy()
        except BaseException:
            self.close()
            raise

    @property
    def parent(self) -> Manifest | None:
        return self._parent.manifest if self._parent is not None else None

    def catalogue(self) -> dict[str, Entry]:
        return {one.entry.source_id: one.entry for one in self._known}

    @property
    def scratch(self) -> Path:
        return self._spool.folder

    def warm_up(self) -> None:
        if self._warming is None:
            self._warming = threading.Thread(target=_start_java)
            self._warming.start()

    def put(self, entry: Entry, passages: Sequence[Passage], hashes: Sequence[Hashes]) -> None:
        self._lease.check()
        self._spool.put(entry, passages, hashes)
        self._next = max(self._next, entry.first + entry.count)

    def keep(self, entry: Entry, before: Entry) -> None:
        """`publish` sees it in the catalogue."""

    def remove(self, entry: Entry) -> None:
        """As `keep`."""

    def publish(self, catalogue: Mapping[str, Entry], roots: tuple[Root, ...]) -> Manifest:
        build, parent = self._lease.build, self._parent
        plan = changes.plan(self._known, catalogue.values(), self._spool, build, afresh=parent is None)
        gone = (*(parent.gone if parent is not None and not self._purged else ()), *(one.edition for one in plan.gone))
        afresh = parent is None or len(gone) > MOST_GONE
        if afresh and parent is not None:
            plan = changes.plan(self._known, catalogue.values(), self._spool, build, afresh=True)
        generation = build if afresh or parent is None else parent.generation
        snapshot = f"g{generation:06d}-u{build:06d}-{os.urandom(4).hex()}"
        writing = Writing(self._client, self._spool, parent, build, self._progress, self._embedder)
        writing.run(plan, afresh=afresh)
        state = State(
            manifest=self._described(writing, catalogue, roots, snapshot),
            generation=generation,
            build=build,
            given_up=() if afresh or parent is None else (*parent.given_up, *range(parent.build + 1, build)),
            gone=() if afresh else gone,
            since=time.time(),
            kept=self._kept(),
            classes=writing.classes,
        )
        self._show(state, afresh=afresh)
        return state.manifest

    def _described(
        self,
        writing: Writing,
        catalogue: Mapping[str, Entry],
        roots: tuple[Root, ...],
        snapshot: str,
    ) -> Manifest:
        parent = self.parent
        return described(
            catalogue,
            roots,
            parent,
            snapshot=snapshot,
            embedder=writing.spec,
            languages=languages_of(writing.classes),
            next_number=max(self._next, parent.next_number if parent is not None else 0),
            build_s=round(time.monotonic() - self._began, 3),
        )

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._warming is not None:
            self._warming.join()
        self._spool.close()

    def _kept(self) -> tuple[str, ...]:
        if self._before is None:
            return ()
        older = () if self._purged else self._before.state.kept
        return (*older, self._before.state.manifest.snapshot)

    def _show(self, state: State, *, afresh: bool) -> None:
        """Make it the newest, at once: one document, or one call that moves both aliases. Raises IndexProblem."""
        self._lease.check()
        names, document = Names(self._client.address, state.generation), states.state_document(state)
        self._client.ask("PUT", f"/{names.documents}/_doc/{state.manifest.snapshot}", document, timeout_s=PATIENCE_S)
        if not afresh:
            states.replace(self._client, names.documents, document, self._before)
            return
        self._client.ask("PUT", f"/{names.documents}/_doc/{STATE}", document, timeout_s=PATIENCE_S)
        generations.point_at(self._client, state.generation, self._before.state.generation if self._before else None)

    def _tidy(self) -> bool:
        """Delete what no reader can be reading any more; whether that holds passages of the generation in service."""
        state = self._before.state if self._before is not None else None
        ripe = state is None or time.time() - state.since > GRACE_S
        keep = {states.generation_of(name) for name in state.kept} if state is not None and not ripe else set[int]()
        generations.delete_but(self._client, {state.generation, *keep} if state is not None else keep)
        if state is None:
            return True
        index = Names(self._client.address, state.generation).passages
        given_up = range(state.build + 1, self._lease.build)
        if given_up:
            self._delete(index, {"range": {"born": {"gte": given_up.start, "lt": given_up.stop}}})
        if ripe and state.gone:
            self._delete(index, {"terms": {"edition": list(state.gone)}})
        return ripe

    def _delete(self, index: str, query: Json) -> None:
        self._client.refresh(index)
        self._client.ask(
            "POST",
            f"/{index}/_delete_by_query",
            {"query": query},
            timeout_s=PATIENCE_S,
            conflicts="proceed",
            refresh="true",
        )

    def _read_catalogue(self) -> Iterator[changes.KnownEntry]:
        if self._parent is None:
            return
        index = Names(self._client.address, self._parent.generation).documents
        body: Json = {
            "size": _PAGE,
            "query": {"bool": {"filter": queries.among_entries(self._parent, None)}},
            "sort": [{"source_id": "asc"}],
        }
        while page := self._client.find(index, body):
            for hit in page:
                source = hit["_source"]
                yield changes.KnownEntry(unpacked(source["held"], Entry), str(source["edition"]), str(hit["_id"]))
            body["search_after"] = page[-1]["sort"]


def _start_java() -> None:
    with contextlib.suppress(IndexProblem):  # `publish` says what is wrong
        jvm.start()
        jvm.detach()
