"""Write what a build changes into a generation: passages with terms and vectors, entries, counts and the model."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from index.embedders import lsa
from index.embedders.embedder import Embedder, EmbedderSpec
from index.errors import IndexProblem
from index.java import jvm
from index.model import Entry, Groups, indexed_text
from index.opensearch import analysis, counts, generations, states
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
        snapshot: str,
        tell: Callable[[str, int, int], None],
        embedder: Embedder | None,
    ) -> None:
        self._client = client
        self._spool = spool
        self._parent = parent
        self._build = build
        self._snapshot = snapshot
        self._tell = tell
        self._given = embedder
        self._bulk = Bulk(client)
        self._tallies: dict[Groups, _Tally] = {}
        self.spec = parent.manifest.embedder if parent is not None else EmbedderSpec(lsa.NAME, "", lsa.DIMENSION)
        self._coverage: list[float] = []
        self.model_chunks = parent.model_chunks if parent is not None else 0
        self.classes: tuple[Class, ...] = ()

    def run(self, plan: WritePlan, *, afresh: bool, refit: bool) -> None:
        """Write all of it, and see that it is there. Raises IndexProblem."""
        total = sum(change.entry.count for change in plan.changes if change.fresh or change.again)
        with ExitStack() as stack:
            embedder = self._embedder(plan, stack, refit=refit)
            names = self._names(afresh=afresh)
            if afresh and self.spec.name == lsa.NAME:
                self.model_chunks = self._keep_model(names, stack, refit=refit)
            if not afresh and self._parent is not None:
                for one in self._parent.classes:
                    self._tallies[one.groups] = _Tally(one, counts.read(self._client, names.documents, one.counts))
            self._take_away(plan, afresh=afresh)
            written = self._passages(plan, names, embedder, total, reuse=not refit)
            entered = self._entries(plan, names, afresh=afresh)
            self._counts(names)
            self._bulk.finish()
        self._check(names, {names.passages: written, names.documents: entered})

    def _names(self, *, afresh: bool) -> Names:
        if afresh or self._parent is None:
            return generations.create(self._client, self._build, self.spec.dimension)
        return Names(self._client.address, self._parent.generation)

    def _embedder(self, plan: WritePlan, stack: ExitStack, *, refit: bool) -> Embedder:
        """The embedder: the given embedder, the generation's model, or a model fitted now on an even sample."""
        if self._given is not None:
            self.spec = self._given.spec
            return self._given
        if not refit and self._parent is not None:
            if self._parent.manifest.embedder.name == lsa.NAME:
                return states.read_model(self._client, self._parent)
            return _NoEmbedder(self._parent.manifest.embedder)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="groundwire-fit-")))
        self._folder = folder
        entries = sorted((c.entry for c in plan.changes if c.entry.count), key=lambda entry: entry.first)
        numbers = [n for entry in entries for n in range(entry.first, entry.first + entry.count)]
        sample = numbers[:: max(1, -(-len(numbers) // lsa.FIT_ON))]
        texts = [indexed_text(stored.passage) for stored in self._sampled(entries, sample)]
        jvm.limit_blas()
        lsa.fit(texts, folder, lambda done: self._tell("fit", done, len(texts)))
        model = lsa.Lsa(folder, self._snapshot)
        self.spec = model.spec
        return model

    def _sampled(self, entries: Sequence[Entry], sample: Sequence[int]) -> Iterator[PassageRecord]:
        wanted = iter(sample)
        number = next(wanted, None)
        missing: list[int] = []
        results: dict[int, PassageRecord] = {}
        for entry in entries:
            stored = self._spool.get(entry.first) if entry.first in self._spool else None
            while number is not None and number < entry.first + entry.count:
                if stored is None:
                    missing.append(number)
                else:
                    results[number] = stored[number - entry.first]
                number = next(wanted, None)
        if self._parent is not None:
            results |= {one.passage.number: one for one in stored_among(self._client, self._parent, missing)}
        for each in sample:
            if each not in results:
                raise IndexProblem(f"{self._client.address}: passage {each} is missing; build the index again")
            yield results[each]

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

    def _keep_model(self, names: Names, stack: ExitStack, *, refit: bool) -> int:
        if refit or self._parent is None:
            return states.write_model(self._bulk, names.documents, self._folder)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="groundwire-model-")))
        states.lay_out_model(self._client, self._parent, folder)
        return states.write_model(self._bulk, names.documents, folder)

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

    def _passages(self, plan: WritePlan, names: Names, embedder: Embedder, total: int, *, reuse: bool) -> int:
        done = 0
        batch: list[tuple[Entry, PassageRecord]] = []
        for entry, stored in self._to_write(plan):
            batch.append((entry, stored))
            if len(batch) == _EMBEDDED_AT_ONCE:
                done += self._write(batch, names, embedder, reuse=reuse)
                self._tell("passages", done, total)
                batch = []
        done += self._write(batch, names, embedder, reuse=reuse)
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

    def _write(
        self, batch: Sequence[tuple[Entry, PassageRecord]], names: Names, embedder: Embedder, *, reuse: bool
    ) -> int:
        blank = [stored for _, stored in batch if not (reuse and stored.row)]
        texts = [indexed_text(stored.passage) for stored in blank]
        rows = iter(embedder.embed(texts, query=False)) if texts else iter(())
        if texts and isinstance(embedder, lsa.Lsa):
            self._coverage.append(embedder.coverage(texts[0]))
        for entry, stored in batch:
            row = stored.row if reuse and stored.row else np.asarray(next(rows), dtype="<f4").tobytes()
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

    @property
    def coverage(self) -> float:
        """How much of the passages written now the model knew, the mean over some of them."""
        return float(np.mean(self._coverage)) if self._coverage else 1.0


class _NoEmbedder:
    """Of an index that only loses documents: nothing is embedded."""

    def __init__(self, spec: EmbedderSpec) -> None:
        self.spec = spec

    def embed(self, texts: Sequence[str], *, query: bool) -> Any:
        raise IndexProblem(f"the index was built with embedder {self.spec.name}; configure it")
