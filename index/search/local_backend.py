"""The folder's body of the backend: a snapshot opened and searched, by Lucene for the terms, the graph for the vectors and mapped
files for the passages.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path

from index.backend import Candidate, CandidateQuery, Candidates, Rank, chosen, places
from index.embedders import pieces
from index.embedders.embedder import Embedder, check_match
from index.engines import vectors
from index.engines.bm25 import Bm25
from index.errors import IndexProblem
from index.filters import Filter
from index.model import Entry, Groups, Passage
from index.snapshot import snapshot
from index.snapshot.catalogue import FOLDER, Catalogue
from index.snapshot.store import PassageStore
from index.snapshot.views import Allowed, View, Views

type _Numbered = list[tuple[int, float]]


class LocalBackend:
    """A snapshot of a folder. Inside, a passage is its number."""

    def __init__(self, handle: snapshot.Handle, embedder: Embedder | None) -> None:
        """Raises IndexProblem."""
        self.handle = handle
        self.manifest = manifest = handle.manifest
        folder = handle.directory
        if embedder is None:
            if manifest.embedder.name != pieces.NAME:
                raise IndexProblem(
                    f"the index was built with embedder {manifest.embedder.name} {manifest.embedder.version}; configure it"
                )
            embedder = pieces.Pieces()
        check_match(manifest.embedder, embedder.spec)
        self.embedder = embedder
        self.store = PassageStore(folder / "passages")
        graph = folder / "vectors" / vectors.FILE
        self.vectors = vectors.open_index(graph, manifest.passages)
        self.bm25 = Bm25(folder / "lucene", manifest.languages, self.store)
        self.catalogue = Catalogue(folder / FOLDER)
        self.views = Views(self.catalogue.values(), self.store, manifest.languages, for_all=not manifest.access)

    def seen(self, groups: Groups) -> View:
        return self.views.of(groups)

    def candidates(self, asked: CandidateQuery) -> Candidates:
        allowed = self.views.allowed(self.seen(asked.groups), asked.filter)
        if asked.besides:
            allowed = self.views.besides(allowed, asked.besides)
        # One after the other: each side spends much of its time inside the interpreter's lock, and handing one to a waiting
        # thread saved nothing at the median and cost at the tail (measured: p99 2.7 ms against 5.2 ms).
        by_bm25 = self._by_bm25(asked, allowed)
        cosines: dict[int, float] = {}
        if asked.vector is not None:
            cosines = self.vectors.search(asked.vector, asked.vector_k, allowed)
        by_vector = list(cosines.items())
        numbers = chosen(asked, by_bm25, by_vector, self.store.sketch)
        if asked.vector is not None:
            unknown = [number for number in numbers if number not in cosines]
            cosines |= zip(unknown, self.vectors.cosines(asked.vector, unknown), strict=True)
        candidates = self._loaded(numbers, places(by_bm25), places(by_vector), cosines)
        return Candidates(candidates=candidates, best_cosine=by_vector[0][1] if by_vector else 0.0)

    def _by_bm25(self, asked: CandidateQuery, allowed: Allowed | None) -> _Numbered:
        depth = asked.bm25_depth
        results: dict[int, float] = {}
        for text, language in asked.terms:
            for number, score in self.bm25.search(text, language, depth, allowed, topic=asked.topic):
                results[number] = max(score, results.get(number, 0.0))
        return sorted(results.items(), key=lambda hit: (-hit[1], hit[0]))[:depth]

    def _loaded(
        self, numbers: Sequence[int], bm25: dict[int, Rank], vector: dict[int, Rank], cosines: dict[int, float]
    ) -> list[Candidate]:
        stored = [self.store.held(number) for number in numbers]
        entries = [self.catalogue[one.passage.source_id] for one in stored]
        return [
            Candidate(
                passage=one.passage,
                metadata=entry.metadata,
                bm25=bm25.get(number),
                vector=vector.get(number),
                cosine=cosines.get(number, 0.0),
                grams=one.grams,
                phrases=one.phrases,
                lead=one.lead,
                sketch=one.sketch,
                begins=one.begins,
            )
            for number, one, entry in zip(numbers, stored, entries, strict=True)
        ]

    def passing(self, wanted: Filter, groups: Groups) -> int:
        view = self.seen(groups)
        allowed = self.views.allowed(view, wanted)
        return view.documents if allowed is None else allowed.documents

    def entries(self, groups: Groups) -> tuple[Entry, ...]:
        return tuple(self.seen(groups).entries)

    @cached_property
    def _moved(self) -> dict[str, str]:
        return {old: entry.source_id for entry in self.catalogue.values() for old in entry.formerly}

    def source(self, source_id: str, groups: Groups) -> Entry | None:
        entry = self.catalogue.get(source_id) or self.catalogue.get(self._moved.get(source_id, ""))
        return entry if entry is not None and self.views.sees(entry.source_id, groups) else None

    def sources(self, after: str, most: int, groups: Groups) -> list[Entry]:
        behind = self.catalogue.after(after)
        return list(islice((entry for entry in behind if self.views.sees(entry.source_id, groups)), most))

    def passages(self, entry: Entry, start: int = 0, count: int | None = None) -> list[Passage]:
        end = entry.count if count is None else min(start + count, entry.count)
        return [self.store.get(entry.first + ordinal) for ordinal in range(start, end)]

    def close(self) -> None:
        self.bm25.close()
        self.handle.close()


class LocalSnapshots:
    """Those of a folder."""

    look_s, longest_open_s = 0.0, math.inf

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __str__(self) -> str:
        return str(self.folder)

    def newest(self) -> str:
        return snapshot.current(self.folder)

    def names(self) -> list[str]:
        return snapshot.names(self.folder)

    def damage(self, name: str) -> list[str] | None:
        try:
            with snapshot.hold(self.folder, name) as handle:
                return snapshot.verify_files(handle.directory, handle.manifest)
        except IndexProblem as problem:
            return [str(problem)]

    def files(self, name: str) -> tuple[tuple[str, int, int], ...]:
        try:
            paths = sorted((self.folder / "snapshots" / name).rglob("*"))
            stats = [(str(path), path.stat()) for path in paths if path.is_file()]
        except OSError:
            return ()
        return tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in stats)

    def withheld(self, name: str, access: str) -> str:
        """A newer snapshot that cannot be served may hide documents of this one."""
        newest = self.names()[-1:]
        if not newest or newest[0] == name or snapshot.newest_access(self.folder) == access:
            return ""
        return f"who may see what has changed since {name}, and {newest[0]} cannot be served; build the index again"

    def open(self, name: str | None, embedder: Embedder | None) -> LocalBackend:
        handle = snapshot.hold(self.folder, name)
        try:
            return LocalBackend(handle, embedder)
        except Exception as error:
            damage = [] if isinstance(error, IndexProblem) else snapshot.verify_files(handle.directory, handle.manifest)
            handle.close()
            if damage:
                raise IndexProblem(f"{handle.directory} is damaged ({damage[0]}); build the index again") from error
            raise
