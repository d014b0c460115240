"""Write what a build changes into a generation: passages with terms and vectors, entries and counts."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from index.embedders import pieces
from index.embedders.embedder import Embedder, EmbedderSpec
from index.errors import IndexProblem
from index.model import Entry, Groups, indexed_text
from index.opensearch import analysis, counts, generations
from index.opensearch.backend import stored_among
from index.opensearch.bulk import Bulk
from index.opensearch.changes import Spool, WritePlan
from index.opensearch.client import Client
from index.opensearch.layout import (
    Class,
    Names,
    PassageRecord,
    State,
    class_of,
    entry_document,
    passage_document,
)
from index.text.codes import joined

_EMBEDDED_AT_ONCE = 1000


class _Tally:
    """The figures of the documents that the same groups may see."""

    def __init__(self, known: Class | None, read: counts.Counts) -> None:
        self.documents = known.documents if known is not None else 0
        self.languages = dict(known.languages) if known is not None else {}
        self.counts = read
        self.changed = known is None

    def add(self, held: PassageRecord, by: int) -> None:
        language = held.passage.language
        self.languages[language] = self.languages.get(language, 0) + by
        counts.count(self.counts, held, by)
        self.changed = True


class Writing:
    """`run`, then its manifest's figures."""

    def __init__(
        self,
        client: Client,
        spool: Spool,
        parent: State | None,
        build: int,
        tell: Callable[[str, int, int], None],
        embedder: Embedder | None,
    ) -> None:
        self._client = client
        self._spool = spool
        self._parent = parent
        self._build = build
        self._tell = tell
        self.spec, self._embedder = _embedder(embedder, parent)
        self._bulk = Bulk(client)
        self._tallies: dict[Groups, _Tally] = {}
        self.classes: tuple[Class, ...] = ()

    def run(self, plan: WritePlan, *, afresh: bool) -> None:
        """Write all of it, and see that it is there. Raises IndexProblem."""
        total = sum(change.entry.count for change in plan.changes if change.fresh or change.again)
        names = self._names(afresh=afresh)
        if not afresh and self._parent is not None:
            for one in self._parent.classes:
                self._tallies[one.groups] = _Tally(one, counts.read(self._client, names.documents, one.counts))
        self._take_away(plan, afresh=afresh)
        written = self._passages(plan, names, total)
        entered = self._entries(plan, names, afresh=afresh)
        self._counts(names)
        self._bulk.finish()
        self._check(names, {names.passages: written, names.documents: entered})

    def _names(self, *, afresh: bool) -> Names:
        if afresh or self._parent is None:
            return generations.create(self._client, self._build, self.spec.dimension)
        return Names(self._client.address, self._parent.generation)

    def _stored_of(self, entry: Entry) -> Iterator[PassageRecord]:
        """The passages of a document of the parent. Raises IndexProblem when one is missing."""
        assert self._parent is not None
        count = 0
        for stored in stored_among(self._client, self._parent, range(entry.first, entry.first + entry.count)):
            count += 1
            yield stored
        if count != entry.count:
            raise IndexProblem(
                f"{self._client.address}: passages of {entry.source_id} are missing; build the index again"
            )

    def _take_away(self, plan: WritePlan, *, afresh: bool) -> None:
        """What goes is counted no more."""
        if afresh:
            return
        for one in plan.dead:
            self._tally(one.entry).documents -= 1
            self._tally(one.entry).changed = True
        for one in plan.gone:
            tally = self._tally(one.entry)
            for stored in self._stored_of(one.entry):
                tally.add(stored, -1)

    def _tally(self, entry: Entry) -> _Tally:
        named = class_of(entry.groups)
        if named not in self._tallies:
            self._tallies[named] = _Tally(None, counts.nothing())
        return self._tallies[named]

    def _passages(self, plan: WritePlan, names: Names, total: int) -> int:
        done = 0
        for batch in itertools.batched(self._to_write(plan), _EMBEDDED_AT_ONCE):
            done += self._write(batch, names)
            self._tell("passages", done, total)
        self._tell("passages", done, total)
        return done

    def _to_write(self, plan: WritePlan) -> Iterator[tuple[Entry, PassageRecord]]:
        for change in plan.changes:
            if change.fresh:
                yield from ((change.entry, stored) for stored in self._spool.get(change.entry.first))
            elif change.again and change.before is not None:
                entry = change.entry
                for stored in self._stored_of(change.before.entry):
                    passage = msgspec.structs.replace(stored.passage, source_id=entry.source_id, url=entry.url)
                    yield entry, msgspec.structs.replace(stored, passage=passage, metadata=entry.metadata)

    def _write(self, batch: Sequence[tuple[Entry, PassageRecord]], names: Names) -> int:
        texts = [indexed_text(stored.passage) for _, stored in batch if not stored.row]
        rows = iter(self._embedder.embed(texts, query=False)) if texts else iter(())
        for entry, stored in batch:
            row = stored.row or np.asarray(next(rows), dtype="<f4").tobytes()
            full = msgspec.structs.replace(stored, row=row)
            text = joined(indexed_text(stored.passage), stored.codes)
            name, document = passage_document(entry, full, analysis.terms(text, stored.passage.language), self._build)
            self._bulk.put(names.passages, name, document)
            self._tally(entry).add(stored, 1)
        return len(batch)

    def _entries(self, plan: WritePlan, names: Names, *, afresh: bool) -> int:
        entered = 0
        for change in plan.changes:
            if not change.entered:
                continue
            name, document = entry_document(change.entry, change.edition, self._build)
            self._bulk.put(names.documents, name, document)
            tally = self._tally(change.entry)
            tally.documents += 1
            tally.changed = True
            entered += 1
        for one in () if afresh else plan.dead:
            self._bulk.amend(names.documents, one.name, {"died": self._build})
        return entered

    def _counts(self, names: Names) -> None:
        known = {one.groups: one.counts for one in self._parent.classes} if self._parent is not None else {}
        results: list[Class] = []
        for groups, tally in self._tallies.items():
            if not tally.documents and groups is not None:
                continue
            name = known.get(groups, "")
            if tally.changed:
                name, document = counts.document(groups, self._build, tally.counts)
                self._bulk.put(names.documents, name, document)
            languages = {language: passages for language, passages in sorted(tally.languages.items()) if passages}
            results.append(Class(groups=groups, documents=tally.documents, languages=languages, counts=name))
        self.classes = tuple(sorted(results, key=lambda one: (one.groups is not None, one.groups or ())))

    def _check(self, names: Names, expected: Mapping[str, int]) -> None:
        """All of it can be found, once. Raises IndexProblem."""
        for index in (names.passages, names.documents):
            generations.wait_for_copies(self._client, index)
            self._client.refresh(index)
            result = self._client.count(index, {"query": {"term": {"born": self._build}}})
            if result != expected[index]:
                raise IndexProblem(
                    f"{self._client.address} holds {result} of {expected[index]} in {index}; build again"
                )


def _embedder(given: Embedder | None, parent: State | None) -> tuple[EmbedderSpec, Embedder]:
    """None: the built-in one, or where the vectors are of another, none at all."""
    if given is None:
        known = parent.manifest.embedder if parent is not None else pieces.SPEC
        given = pieces.Pieces() if known == pieces.SPEC else _NoEmbedder(known)
    return given.spec, given


class _NoEmbedder:
    """Of an index that only loses documents: nothing is embedded."""

    def __init__(self, spec: EmbedderSpec) -> None:
        self.spec = spec

    def embed(self, texts: Sequence[str], *, query: bool) -> Any:
        raise IndexProblem(f"the index was built with embedder {self.spec.name}; configure it")
