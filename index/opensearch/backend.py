"""A snapshot over OpenSearch, open for searching: the body of `Backend` (../backend.py)."""

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from index.backend import Candidate, CandidateQuery, Candidates, Rank, chosen, places
from index.embedders.embedder import Embedder
from index.engines import bm25
from index.errors import IndexProblem
from index.filters import Filter
from index.model import Entry, Groups, Passage, group_name
from index.opensearch import analysis, counts, queries
from index.opensearch.client import Client
from index.opensearch.layout import Names, PassageRecord, State, languages_of, row_of, sees, set_of, unpacked
from index.snapshot.snapshot import Manifest
from index.snapshot.views import REMEMBERED, Visible
from index.text.coverage import rarity
from index.text.near_duplicates import SKETCH_WIDTH

type Json = dict[str, Any]

#: How many documents of a listing come in one reply.
_PAGE = 1000
_HELD_PAGE = 100


@dataclass(frozen=True, eq=False, slots=True)
class _Hit:
    number: int
    score: float
    held: PassageRecord


class OpenSearchBackend:
    """`close` leaves the client, which is the snapshots', open."""

    def __init__(self, client: Client, state: State, embedder: Embedder | None) -> None:
        self._client = client
        self.state = state
        self._embedder = embedder
        self.names = Names(client.address, state.generation)
        self._named = frozenset[str]().union(*(one.groups or () for one in state.classes))
        self._counts = functools.lru_cache(REMEMBERED)(functools.partial(counts.read, client, self.names.documents))
        self._view = functools.lru_cache(REMEMBERED)(self._make_view)

    @property
    def manifest(self) -> Manifest:
        return self.state.manifest

    @property
    def embedder(self) -> Embedder:
        """Raises IndexProblem where it was opened only to be looked at."""
        if self._embedder is None:
            raise IndexProblem(f"{self.manifest.snapshot} was opened without what makes its vectors; open it again")
        return self._embedder

    def seen(self, groups: Groups) -> Visible:
        return self._view(None if groups is None else self._named & {*map(group_name, groups)})

    def _make_view(self, groups: frozenset[str] | None) -> Visible:
        """A sum over the classes of documents that callers in these groups see."""
        wanted = None if groups is None else tuple(groups)
        classes = [one for one in self.state.classes if sees(wanted, one.groups)]
        languages = languages_of(classes)
        grams, phrases = sum((self._counts(one.counts) for one in classes), counts.nothing())
        passages = sum(languages.values())
        return Visible(
            documents=sum(one.documents for one in classes),
            languages=languages,
            rarity=rarity(grams, passages),
            phrase_rarity=rarity(phrases, passages),
        )

    def candidates(self, asked: CandidateQuery) -> Candidates:
        among = queries.among_passages(self.state, asked.groups, asked.filter, besides=asked.besides)
        depth = asked.bm25_depth
        searches = [(self.names.passages, body, True) for body in self._term_searches(asked, depth, among)]
        terms = len(searches)
        if asked.vector is not None and asked.vector_k > 0 and asked.vector.any():
            searches.append((self.names.passages, queries.by_vector(asked.vector, asked.vector_k, among), False))
        replies = self._client.find_all(searches) if searches else []
        by_bm25 = _best(map(_read, itertools.chain(*replies[:terms])))[:depth]
        near = map(_read, itertools.chain(*replies[terms:]))
        by_vector = _best(_Hit(hit.number, _cosine(hit, asked), hit.held) for hit in near)[: asked.vector_k]
        hits = {hit.number: hit for hit in (*by_bm25, *by_vector)}
        bm25_ranking = [(hit.number, hit.score) for hit in by_bm25]
        vector_ranking = [(hit.number, hit.score) for hit in by_vector]
        bm25_places, vector_places = places(bm25_ranking), places(vector_ranking)
        return Candidates(
            candidates=[
                _candidate(hits[number], asked, bm25_places.get(number), vector_places.get(number))
                for number in chosen(asked, bm25_ranking, vector_ranking, lambda number: hits[number].held.sketch)
            ],
            best_cosine=vector_ranking[0][1] if vector_ranking else 0.0,
        )

    def _term_searches(self, asked: CandidateQuery, depth: int, among: list[Json]) -> Iterator[Json]:
        """As Bm25.search: the question goes to the field of each language, and those of others count for less."""
        about = bm25.query_text(asked.topic) if asked.topic else ""
        present = list(self.state.manifest.languages)
        for question, own in asked.terms if depth > 0 else ():
            texts, weights = bm25.query_texts(question, own, present)
            languages = {
                language: (
                    weight,
                    analysis.weights(text, language),
                    analysis.weights(about, language) if about else {},
                )
                for language, text, weight in zip(present, texts, weights, strict=True)
            }
            yield from queries.by_terms(languages, depth, among)

    def passing(self, wanted: Filter, groups: Groups) -> int:
        body = {"query": {"bool": {"filter": queries.among_entries(self.state, groups, wanted)}}}
        return self._client.count(self.names.documents, body)

    def entries(self, groups: Groups) -> Iterator[Entry]:
        after = ""
        while page := self.sources(after, _PAGE, groups):
            yield from page
            after = page[-1].source_id

    def source(self, source_id: str, groups: Groups) -> Entry | None:
        by_id = [{"term": {"source_id": source_id}}]
        formerly = [{"term": {"formerly": source_id}}]
        result = self._entries(groups, by_id, 1) or self._entries(groups, formerly, 1)
        return result[0] if result else None

    def sources(self, after: str, most: int, groups: Groups) -> list[Entry]:
        return self._entries(groups, [{"range": {"source_id": {"gt": after}}}] if after else [], most)

    def _entries(self, groups: Groups, among: list[Json], most: int) -> list[Entry]:
        body = {
            "size": most,
            "query": {"bool": {"filter": [*among, *queries.among_entries(self.state, groups)]}},
            "sort": [{"source_id": "asc"}],
        }
        return [unpacked(hit["_source"]["held"], Entry) for hit in self._client.find(self.names.documents, body)]

    def passages(self, entry: Entry, start: int = 0, count: int | None = None) -> list[Passage]:
        end = entry.count if count is None else min(start + count, entry.count)
        numbers = range(entry.first + start, entry.first + end)
        return [stored.passage for stored in stored_among(self._client, self.state, numbers)]

    def close(self) -> None:
        self._counts.cache_clear()


def stored_among(client: Client, state: State, numbers: Sequence[int]) -> Iterator[PassageRecord]:
    """The passages with these numbers, ascending, as far as the snapshot has them. Raises IndexProblem."""
    for start in range(0, len(numbers), _HELD_PAGE):
        among = [{"terms": {"number": list(numbers[start : start + _HELD_PAGE])}}]
        body = {
            "size": _HELD_PAGE,
            "_source": ["held"],
            "query": {"bool": {"filter": among + queries.among_passages(state, None, None)}},
            "sort": [{"number": "asc"}],
        }
        yield from map(_held, client.find(Names(client.address, state.generation).passages, body))


def _held(hit: Json) -> PassageRecord:
    return unpacked(hit["_source"]["held"], PassageRecord)


def _read(hit: Json) -> _Hit:
    """A hit, with its score and the passage's number as sort values."""
    score, number = hit["sort"]
    return _Hit(int(number), float(score), _held(hit))


def _best(hits: Iterable[_Hit]) -> list[_Hit]:
    """Each passage once with its best score, best first, equal ones by number."""
    best: dict[int, _Hit] = {}
    for hit in hits:
        if hit.number not in best or hit.score > best[hit.number].score:
            best[hit.number] = hit
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.number))


def _cosine(hit: _Hit, asked: CandidateQuery) -> float:
    return 0.0 if asked.vector is None else float(row_of(hit.held) @ asked.vector[0])


def _candidate(hit: _Hit, asked: CandidateQuery, bm25: Rank | None, vector: Rank | None) -> Candidate:
    stored = hit.held
    return Candidate(
        passage=stored.passage,
        metadata=stored.metadata,
        grams=set_of(stored.grams),
        phrases=set_of(stored.phrases),
        lead=set_of(stored.lead),
        sketch=np.frombuffer(stored.sketch, dtype=np.uint32).reshape(SKETCH_WIDTH),
        begins=stored.ordinal == 0,
        cosine=_cosine(hit, asked),
        bm25=bm25,
        vector=vector,
    )
