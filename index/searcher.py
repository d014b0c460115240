"""Answer queries from the newest snapshot, from any number of threads, and swap snapshots while queries run."""

import contextlib
import threading
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import MappingProxyType

import msgspec
import numpy as np

from index import lsa, search_engines, snapshot
from index.allowed import Allowed
from index.codes import with_codes
from index.coverage import TOPIC_SHARE, GramSet, cover, gram_set, hash_sets, word_set
from index.crossing import crossed
from index.document_text import Stretch, page_stretch, stretch
from index.duplicates import groups
from index.embedder import Embedder, EmbedderSpec, Vectors
from index.errors import IndexProblem
from index.filters import Filter
from index.fusion import Covers, mean_of_shares
from index.groups import Groups
from index.languages.detection import detect
from index.model import Entry, Hit, Passage, ScoreType, all_headings, indexed_text, own_headings
from index.opened import Opened, open_snapshot
from index.question_words import without_question_words
from index.reranker import Reranker
from index.roots import Root
from index.store import PassageStore
from index.surrogates import without_surrogates
from index.views import View

Found = list[tuple[int, float]]

#: A topic is a few words.
_TOPIC_CHARS = 200


class Searcher:
    """`open`, then `search` from any thread; each thread calls `detach` before it ends."""

    def __init__(
        self, directory: Path, opened: Opened, embedder: Embedder | None, reranker: Reranker | None, *, follows: bool
    ) -> None:
        self._directory = directory
        self._embedder = embedder
        self._reranker = reranker
        self._follows = follows
        self._lock = threading.Lock()
        self._reloading = threading.Lock()
        self._opened: Opened | None = opened
        #: Why callers in groups are told nothing: who may see what is not known here. Empty: it is known.
        self.withheld = ""

    @classmethod
    def open(
        cls,
        directory: Path,
        snapshot: str | None = None,
        *,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
    ) -> "Searcher":
        """Open the current snapshot, or a named one, which then stays open. Raises IndexProblem."""
        opened = open_snapshot(directory, snapshot, embedder)
        return cls(directory, opened, embedder, reranker, follows=snapshot is None)

    @property
    def snapshot(self) -> str:
        return self._current().handle.manifest.snapshot

    @property
    def access(self) -> str:
        """Which groups see which document, as a digest."""
        return self._current().handle.manifest.access

    def _view(self, opened: Opened, groups: Groups) -> View:
        """Raises IndexProblem."""
        if groups is not None and self.withheld:
            raise IndexProblem(self.withheld)
        return opened.views.of(groups)

    def _current(self) -> Opened:
        if self._opened is None:
            raise IndexProblem(f"the index {self._directory} has been closed")
        return self._opened

    def _enter(self) -> Opened:
        with self._lock:
            opened = self._current()
            opened.users += 1
            return opened

    def _leave(self, opened: Opened) -> None:
        with self._lock:
            opened.users -= 1
            last = opened.users == 0
        if last:
            opened.bm25.close()
            opened.handle.close()

    def search(
        self,
        query: str,
        *,
        topic: str = "",
        language: str | None = None,
        k: int = 5,
        bm25_k: int = 5,
        vector_k: int = 5,
        threshold: float | None = None,
        filter: Filter | None = None,
        rerank: bool = True,
        groups: Groups = None,
    ) -> list[Hit]:
        """The best `k` passages, best first; none for a query without a letter or digit.

        `bm25_k` and `vector_k` candidates are fused; `threshold` is the cosine below which a vector hit is dropped,
        by default the embedder's own. If one of the two is 0, the other search ranks alone, by its own score. Both look
        only at the documents that pass `filter` and that a caller in `groups` sees (None: every document), so neither costs
        hits. With a reranker all candidates are scored and the best `k` by that kept, unless `rerank` is false. `topic`: words
        of the conversation that the query belongs to, which count TOPIC_SHARE (coverage.py). Raises IndexProblem once closed.
        """
        query, topic = without_surrogates(query), without_surrogates(topic)[:_TOPIC_CHARS]
        if not any(map(str.isalnum, query)):
            return []
        if self._reranker is None or not rerank:
            return self._found(query, topic, language, k, bm25_k, vector_k, threshold, filter, groups)
        hits = self._found(query, topic, language, bm25_k + vector_k, bm25_k, vector_k, threshold, filter, groups)
        return _reranked(self._reranker, f"{query} {topic}".strip(), hits)[:k]

    def _found(
        self,
        query: str,
        topic: str,
        language: str | None,
        k: int,
        bm25_k: int,
        vector_k: int,
        threshold: float | None,
        filter: Filter | None,
        groups: Groups,
    ) -> list[Hit]:
        opened = self._enter()
        try:
            view = self._view(opened, groups)
            allowed = opened.views.allowed(view, filter)
            if not bm25_k:
                _, by_vector = _by_vector(opened, query, topic, vector_k, allowed)
                return _hits(opened, _above(by_vector, opened, threshold), (), by_vector, k, "vector")
            if not vector_k:
                by_bm25 = opened.bm25.search(query, language or detect(query), bm25_k, allowed, topic=topic)
                return _hits(opened, by_bm25, by_bm25, (), k, "bm25")
            # One after the other: each side spends much of its time inside the interpreter's lock, and handing one to a waiting
            # thread saved nothing at the median and cost at the tail (measured: p99 2.7 ms against 5.2 ms).
            # BM25 is asked for twice its candidates, so that a candidate of the vectors mostly has its score; cosines are exact.
            asked = without_question_words(query)
            by_bm25, variants = _by_words(opened, view, asked, topic, language or detect(query), 2 * bm25_k, allowed)
            # A neural embedder needs the whole question.
            vector, by_vector = _by_vector(opened, query, topic, vector_k, allowed)
            candidates = dict.fromkeys(number for number, _ in by_bm25[:bm25_k])
            candidates |= dict.fromkeys(number for number, _ in _above(by_vector, opened, threshold))
            cosines = dict(by_vector)
            fused, covered = _fuse(
                opened, view, [asked, *variants], topic, vector, list(candidates), dict(by_bm25), cosines
            )
            return _hits(opened, fused, by_bm25, by_vector, k, "fusion", covered, cosines)
        finally:
            self._leave(opened)

    def passing(self, filter: Filter, groups: Groups = None) -> int:
        """How many of the documents that a caller in `groups` sees pass. Raises IndexProblem once closed."""
        opened = self._enter()
        try:
            view = self._view(opened, groups)
            allowed = opened.views.allowed(view, filter)
            return len(view.entries) if allowed is None else allowed.documents
        finally:
            self._leave(opened)

    def rarity(self, words: Sequence[str], groups: Groups = None) -> list[float]:
        """How rare each word is in the documents that a caller in `groups` sees, by its rarest piece: 0 (in all passages, or no
        word at all) to 1 (in none).
        """
        opened = self._enter()
        try:
            weights = self._view(opened, groups).rarity
            rarest = float(weights.max())
            sets = [word_set(word) for word in words]
            return [float(weights[held].max()) / rarest if len(held) else 0.0 for held in sets]
        finally:
            self._leave(opened)

    def languages(self, groups: Groups = None) -> dict[str, int]:
        """How many passages a caller in `groups` sees in each language."""
        opened = self._enter()
        try:
            return dict(self._view(opened, groups).languages)
        finally:
            self._leave(opened)

    def entries(self, groups: Groups = None) -> tuple[Entry, ...]:
        """The documents that a caller in `groups` sees."""
        with self._entered(groups) as opened:
            return self._view(opened, groups).entries

    def beginnings(self, entries: Iterable[Entry], count: int) -> list[Passage]:
        """The first passages of these documents, at most `count` of each."""
        with self._entered(None) as opened:
            return [
                opened.passages.get(number)
                for entry in entries
                for number in range(entry.first, entry.first + min(count, entry.count))
            ]

    def variants(self, query: str, language: str, groups: Groups = None) -> dict[str, str]:
        """The query with its names as the other languages that a caller in `groups` sees write them; without those that write
        them alike.
        """
        return crossed(without_question_words(query), language, self.languages(groups))

    def source(self, source_id: str, groups: Groups = None) -> Entry | None:
        """A document by its id, or by one that it had before its file was moved; None where a caller in `groups` sees none.

        Raises IndexProblem.
        """
        with self._entered(groups) as opened:
            entry = opened.entry(source_id)
            return entry if entry is not None and opened.views.sees(entry.source_id, groups) else None

    def stretch(
        self, source_id: str, start: int, end: int, groups: Groups = None, *, page: int | None = None
    ) -> tuple[Entry, Stretch, str] | None:
        """A stretch of a document's text, or that of a page instead, and the snapshot that it is from; None as for `source`.

        Raises IndexProblem.
        """
        with self._entered(groups) as opened:
            entry = opened.entry(source_id)
            if entry is None or not opened.views.sees(entry.source_id, groups):
                return None
            if page is not None:
                begin, stop = page_stretch(opened.passages, entry, page)
                start, end = begin, min(stop, begin + end - start)
            return entry, stretch(opened.passages, entry, start, end), opened.handle.manifest.snapshot

    def sources(self, after: str, most: int, groups: Groups = None) -> tuple[list[Entry], int, str]:
        """The first documents with an id behind `after`, by id, that a caller in `groups` sees; how many they see in all, and the
        snapshot. Raises IndexProblem.
        """
        with self._entered(groups) as opened:
            seen = opened.views.of(groups).entries
            ids = opened.ids
            behind = (opened.catalogue[each] for each in ids[bisect_right(ids, after) :])
            found = islice((entry for entry in behind if opened.views.sees(entry.source_id, groups)), most)
            return list(found), len(seen), opened.handle.manifest.snapshot

    def embed(
        self, texts: Sequence[str], *, query: bool = False, groups: Groups = None
    ) -> tuple[EmbedderSpec, Vectors | None]:
        """A row of length 1 per text, as the index makes them, and with which embedder.

        None where it was fitted on documents that a caller in `groups` does not see: what it says of a text says something of them.
        Raises IndexProblem.
        """
        with self._entered(groups) as opened:
            spec = opened.embedder.spec
            if spec.name == lsa.NAME and self._view(opened, groups).allowed is not None:
                return spec, None
            return spec, opened.embedder.embed(texts, query=query)

    @property
    def roots(self) -> tuple[Root, ...]:
        """The folders that the snapshot was built from."""
        return self._current().handle.manifest.roots

    @contextlib.contextmanager
    def _entered(self, groups: Groups) -> Iterator[Opened]:
        """What is open now, and stays so. Raises IndexProblem where it is not known who sees what."""
        opened = self._enter()
        try:
            self._view(opened, groups)
            yield opened
        finally:
            self._leave(opened)

    def maybe_reload(self) -> bool:
        """Swap to the newest snapshot if there is one. Raises IndexProblem."""
        if not self._follows or snapshot.current(self._directory) == self.snapshot:
            return False
        self.swap_to(None)
        return True

    def swap_to(self, name: str | None) -> None:
        """Go on with that snapshot, or the current one; running queries finish in the old one. Raises IndexProblem."""
        with self._reloading:
            fresh = open_snapshot(self._directory, name, self._embedder)
            with self._lock:
                old, self._opened = self._current(), fresh
            self._leave(old)

    def detach(self) -> None:
        search_engines.TERMS.detach()

    def close(self) -> None:
        with self._lock:
            old, self._opened = self._opened, None
        if old is not None:
            self._leave(old)


def _reranked(reranker: Reranker, query: str, hits: list[Hit]) -> list[Hit]:
    """The hits by the reranker's scores, best first, equal ones as they came; all as they came where it has none."""
    scores = reranker.scores(query, [indexed_text(hit) for hit in hits]) if hits else None
    if scores is None:
        return hits
    scored = [msgspec.structs.replace(hit, rerank_score=score) for hit, score in zip(hits, scores, strict=True)]
    return [hit for _, hit in sorted(zip(scores, scored, strict=True), key=lambda pair: -pair[0])]


def _by_vector(opened: Opened, query: str, topic: str, k: int, allowed: Allowed | None) -> tuple[Vectors, Found]:
    """The question's vector and the nearest passages, best first."""
    vector = opened.embedder.embed([query], query=True)
    if topic:
        mixed = vector + TOPIC_SHARE * opened.embedder.embed([topic], query=True)
        vector = np.asarray(mixed / max(float(np.linalg.norm(mixed)), 1e-9), dtype=np.float32)
    return vector, list(opened.vectors.search(vector, k, allowed).items())


def _above(found: Found, opened: Opened, threshold: float | None) -> Found:
    least = opened.threshold if threshold is None else threshold
    return [(number, cosine) for number, cosine in found if cosine >= least]


def _fuse(
    opened: Opened,
    view: View,
    askings: list[str],
    topic: str,
    vector: Vectors,
    candidates: list[int],
    bm25: dict[int, float],
    cosines: dict[int, float],
) -> tuple[Found, dict[int, float]]:
    """The candidates with their scores, best first, and the share of the question that each covers; `cosines` gets theirs.

    `askings`: the question and the same with its names in other languages; that one counts which a passage covers best. The topic
    counts for the text alone: around it and in phrases it would draw the passage that answered the question before.
    """
    unknown = [number for number in candidates if number not in cosines]
    cosines.update(zip(unknown, opened.vectors.cosines(vector, unknown), strict=True))
    store = opened.passages
    rarity, phrase_rarity = view.rarity, view.phrase_rarity
    passages = [store.get(number) for number in candidates]
    around = (
        store.leads(candidates),
        [_heading_set(all_headings(passage)) for passage in passages],
        [_heading_set(own_headings(passage)) for passage in passages],
    )
    about = gram_set(with_codes(topic)) if topic else None
    covers: dict[int, Covers] = {}
    for asking in askings:
        grams, phrases = hash_sets(with_codes(asking))
        text = cover(grams, rarity, store.grams(candidates), about)
        lead, headings, own = (cover(grams, rarity, held) for held in around)
        together = cover(phrases, phrase_rarity, store.phrases(candidates))
        for number, *shares in zip(candidates, text, together, lead, headings, own, strict=True):
            found = Covers(*shares)
            if number not in covers or found.text > covers[number].text:
                covers[number] = found
    fused = mean_of_shares(bm25, cosines, covers, store.beginnings(candidates))
    return fused, {number: found.text for number, found in covers.items()}


@lru_cache(maxsize=16_384)
def _heading_set(headings: str) -> GramSet:
    """Remembered, since few headings stand above many passages, and hashing them would be half of a search."""
    return gram_set(with_codes(headings))


def _by_words(
    opened: Opened, view: View, asked: str, topic: str, language: str, k: int, allowed: Allowed | None
) -> tuple[Found, list[str]]:
    """The passages that BM25 finds, best first, and how the question was also asked: with its names in other languages."""
    variants = crossed(asked, language, view.languages)
    found = dict(opened.bm25.search(asked, language, k, allowed, topic=topic))
    for other, variant in variants.items():
        for number, score in opened.bm25.search(variant, other, k, allowed, topic=topic):
            found[number] = max(score, found.get(number, 0.0))
    ranked = sorted(found.items(), key=lambda hit: (-hit[1], hit[0]))
    return ranked[:k], list(variants.values())


def _hits(
    opened: Opened,
    ranked: Sequence[tuple[int, float]],
    by_bm25: Sequence[tuple[int, float]],
    by_vector: Sequence[tuple[int, float]],
    k: int,
    score_type: ScoreType,
    covered: Mapping[int, float] = MappingProxyType({}),
    cosines: Mapping[int, float] = MappingProxyType({}),
) -> list[Hit]:
    bm25 = {number: (rank, score) for rank, (number, score) in enumerate(by_bm25, 1)}
    vector = {number: (rank, score) for rank, (number, score) in enumerate(by_vector, 1)}
    sketches = opened.passages.sketches(number for number, _ in ranked)
    first_of = groups(sketches)
    hits: list[Hit] = []
    for place, (number, score) in enumerate(ranked):
        if first_of[place] != place:
            continue
        same = [ranked[other][0] for other in range(place + 1, len(ranked)) if first_of[other] == place]
        passage = opened.passages.get(number)
        rank_b, score_b = bm25.get(number, (None, None))
        rank_v, score_v = vector.get(number, (None, None))
        hits.append(
            Hit(
                source_id=passage.source_id,
                title=passage.title,
                url=passage.link,
                score=score,
                score_type=score_type,
                text=passage.text,
                char_start=passage.char_start,
                char_end=passage.char_end,
                language=passage.language,
                snapshot=opened.handle.manifest.snapshot,
                passage=number,
                page=passage.page,
                headings=passage.headings,
                blocks=passage.blocks,
                intros=passage.intros,
                metadata=opened.catalogue[passage.source_id].metadata,
                bm25_rank=rank_b,
                vector_rank=rank_v,
                bm25_score=score_b,
                vector_score=score_v,
                raw_score=score_b if score_b is not None else score_v or 0.0,
                coverage=covered.get(number),
                cosine=cosines.get(number, score_v),
                also_in=_other_sources(opened.passages, passage, same),
            )
        )
        if len(hits) == k:
            break
    return hits


def _other_sources(store: PassageStore, passage: Passage, same: Sequence[int]) -> tuple[str, ...]:
    found = dict.fromkeys(store.get(number).source_id for number in same)
    found.pop(passage.source_id, None)
    return tuple(found)
